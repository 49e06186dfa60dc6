"""Command-line flags of the programs in here; a wrong one is one line on stderr and exit code 2."""

import argparse
from typing import NoReturn


class Flags(argparse.ArgumentParser):
    """An ArgumentParser that says what is wrong in one line, and takes no abbreviations."""

    def __init__(self, prog: str | None = None, description: str | None = None) -> None:
        super().__init__(prog=prog, description=description, allow_abbrev=False)

    def format_help(self) -> str:
        """Its own, and that of each of its commands."""
        found = (action for action in self._actions if isinstance(action, argparse._SubParsersAction))
        commands = (command.format_help() for action in found for command in action.choices.values())
        return "\n".join([super().format_help(), *commands])

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; {self.prog} --help lists the flags\n")
