"""Command-line flags of the programs in here; a wrong one is one line on stderr and exit code 2."""

import argparse
from functools import partial
from typing import NoReturn

_of_any_width = partial(argparse.HelpFormatter, width=80)


class Flags(argparse.ArgumentParser):
    """An ArgumentParser that says what is wrong in one line, and takes no abbreviations."""

    def __init__(self, prog: str | None = None, description: str | None = None) -> None:
        super().__init__(prog, description=description, allow_abbrev=False, formatter_class=_of_any_width)

    def format_help(self) -> str:
        """Its own, and that of each of its commands."""
        if self.formatter_class is _of_any_width:
            # Asks how wide the terminal is, with a module that needs more memory than all flags.
            self.formatter_class = argparse.HelpFormatter
        found = (action for action in self._actions if isinstance(action, argparse._SubParsersAction))
        commands = (command.format_help() for action in found for command in action.choices.values())
        return "\n".join([super().format_help(), *commands])

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; {self.prog} --help lists the flags\n")
