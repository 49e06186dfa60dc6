"""Parts of the main screen, each of which draws one thing."""
