"""The parser for the command-line flags of the programs in this package.

A wrong flag prints one line to stderr and ends the program with exit code 2.
"""

import argparse
import re
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
        program_name = "nsadmin" if self.prog.startswith("nsadmin ") else self.prog
        self.exit(2, f"{program_name}: {_reword_error(message)}: {self.prog} --help lists the options\n")


_REWORDINGS = (
    (r"unrecognized arguments: (-[^\s=]*).*", r'unknown option "\1"'),
    (r"unrecognized arguments: (\S+).*", r'unexpected argument "\1"'),
    (r"the following arguments are required: (-[^,]+).*", r"missing option \1"),
    (r"the following arguments are required: ([^,]+).*", r"missing argument \1"),
    (r"one of the arguments (.+) is required", r"missing option \1"),
    (r"argument (\S+): expected (?:one|at least one) argument", r"missing value for \1"),
    (r"argument (\S+): ignored explicit argument .*", r"\1 takes no value"),
    (
        r"argument (\S+): invalid choice: '(.*?)' \(choose from (.*)\)",
        r'invalid value "\2" for \1: expected \3',
    ),
    (r"argument (\S+): invalid int value: '(.*)'", r'invalid value "\2" for \1: expected a whole number'),
    (r"argument (\S+): invalid float value: '(.*)'", r'invalid value "\2" for \1: expected a number'),
    (r"argument (\S+): (.*)", r"\1: \2"),
)
"""Messages of argparse, and the words that nsadmin's commands have for the same mistake."""


def _reword_error(message: str) -> str:
    for argparse_pattern, rewording in _REWORDINGS:
        if re.fullmatch(argparse_pattern, message, re.DOTALL):
            reworded = re.sub(argparse_pattern, rewording, message, count=1, flags=re.DOTALL)
            # argparse quotes each choice.
            return reworded.replace("'", "") if ": invalid choice: " in message else reworded
    return message
