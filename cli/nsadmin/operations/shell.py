"""Shell commands of the operator that a procedure runs, with fields such as {brokerName} filled in."""

import re
import shlex
import subprocess
import sys
from collections.abc import Mapping

_FIELD = re.compile(r"\{(\w+)\}")


def unknown_fields(command: str, known: Mapping[str, str]) -> list[str]:
    """The fields in braces that are not known, such as {brokerNam}. ${NAME} belongs to the shell."""
    return [match[1] for match in _fields(command) if match[1] not in known]


def filled(command: str, fields: Mapping[str, str]) -> str:
    """The command with its fields replaced by values, each quoted for a shell."""
    for match in reversed(_fields(command)):
        value = shlex.quote(fields[match[1]])
        command = command[: match.start()] + value + command[match.end() :]
    return command


def _fields(command: str) -> list[re.Match[str]]:
    return [match for match in _FIELD.finditer(command) if command[match.start() - 1 : match.start()] != "$"]


def run(command: str) -> int:
    """Run the command in a shell, wait for its end and return its exit code. Its output goes to stderr."""
    return subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, stdout=_stderr()).returncode


def _stderr() -> int:
    try:
        return sys.stderr.fileno()
    except (OSError, ValueError):
        return subprocess.DEVNULL
