"""What lies over the main screen: help, questions, output of commands."""
