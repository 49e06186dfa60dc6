"""Shell commands of the operator that a procedure runs, with fields such as {brokerName} filled in."""

import re
import shlex
import subprocess
import sys
from collections.abc import Mapping

_FIELD_PATTERN = re.compile(r"\{(\w+)\}")


def find_unknown_fields(shell_text: str, known_fields: Mapping[str, str]) -> list[str]:
    """The fields in braces that are not known, such as {brokerNam}. ${NAME} belongs to the shell."""
    return [field_match[1] for field_match in _find_fields(shell_text) if field_match[1] not in known_fields]


def fill_fields(shell_text: str, field_values: Mapping[str, str]) -> str:
    """The command with its fields replaced by values, each quoted for a shell."""
    for field_match in reversed(_find_fields(shell_text)):
        quoted_value = shlex.quote(field_values[field_match[1]])
        shell_text = shell_text[: field_match.start()] + quoted_value + shell_text[field_match.end() :]
    return shell_text


def _find_fields(shell_text: str) -> list[re.Match[str]]:
    return [
        field_match
        for field_match in _FIELD_PATTERN.finditer(shell_text)
        if shell_text[field_match.start() - 1 : field_match.start()] != "$"
    ]


def run_in_shell(shell_text: str) -> int:
    """Run the command in a shell, wait for its end and return its exit code. Its output goes to stderr."""
    return subprocess.run(
        shell_text, shell=True, stdin=subprocess.DEVNULL, stdout=_stderr_descriptor()
    ).returncode


def _stderr_descriptor() -> int:
    try:
        return sys.stderr.fileno()
    except (OSError, ValueError):
        return subprocess.DEVNULL
