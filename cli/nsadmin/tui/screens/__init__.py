"""The Textual screens: the main screen, and modal screens for help, dialogs and command output."""
