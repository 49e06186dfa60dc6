"""The commands and the text output of mqadmin."""
