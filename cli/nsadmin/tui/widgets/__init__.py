"""The Textual widgets of the main screen."""
