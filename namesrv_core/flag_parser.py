"""The parser for the command-line flags of the programs in this package.

A wrong flag prints one line to stderr and ends the program with exit code 2.
"""

import argparse
from functools import partial
from typing import NoReturn

_fixed_width_formatter = partial(argparse.HelpFormatter, width=80)


class FlagParser(argparse.ArgumentParser):
    """An ArgumentParser that reports an error in one line and accepts no abbreviations."""

    def __init__(self, prog: str | None = None, description: str | None = None) -> None:
        super().__init__(
            prog, description=description, allow_abbrev=False, formatter_class=_fixed_width_formatter
        )

    def format_help(self) -> str:
        """The help of this parser, followed by the help of each of its commands."""
        if self.formatter_class is _fixed_width_formatter:
            # Only the help needs the terminal's width. The module for it takes more memory than all flags.
            self.formatter_class = argparse.HelpFormatter
        subparser_actions = (
            subparser_action
            for subparser_action in self._actions
            if isinstance(subparser_action, argparse._SubParsersAction)
        )
        command_helps = (
            command_parser.format_help()
            for subparser_action in subparser_actions
            for command_parser in subparser_action.choices.values()
        )
        return "\n".join([super().format_help(), *command_helps])

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; {self.prog} --help lists the flags\n")
