"""Command-line parsing: declarations of arguments and options, both parsers, and argument values."""
