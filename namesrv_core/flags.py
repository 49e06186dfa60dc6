"""The parser for the command-line flags of the programs in this package.

A wrong flag prints one line to stderr and ends the program with exit code 2.
"""

import argparse
from functools import partial
from typing import NoReturn

_of_any_width = partial(argparse.HelpFormatter, width=80)


class Flags(argparse.ArgumentParser):
    """An ArgumentParser that reports an error in one line and accepts no abbreviations."""

    def __init__(self, prog: str | None = None, description: str | None = None) -> None:
        super().__init__(prog, description=description, allow_abbrev=False, formatter_class=_of_any_width)

    def format_help(self) -> str:
        """The help of this parser, followed by the help of each of its commands."""
        if self.formatter_class is _of_any_width:
            # Only the help needs the terminal's width. The module for it takes more memory than all flags.
            self.formatter_class = argparse.HelpFormatter
        found = (action for action in self._actions if isinstance(action, argparse._SubParsersAction))
        commands = (command.format_help() for action in found for command in action.choices.values())
        return "\n".join([super().format_help(), *commands])

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; {self.prog} --help lists the flags\n")
