"""Shell commands of the operator that a procedure runs for a broker, with its name, address and id.

The values come from servers, and a command may hand them to a second shell, as `ssh HOST "stop {brokerName}"`
does. No quoting holds in both shells, so a command runs only with values that no shell interprets.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping

from namesrv_core.errors import RocketMQError

VARIABLES_BY_FIELD = {
    "brokerName": "NSADMIN_BROKER_NAME",
    "brokerAddr": "NSADMIN_BROKER_ADDR",
    "brokerId": "NSADMIN_BROKER_ID",
}
"""The environment variable that has the value of each field, for scripts."""

_FIELD_PATTERN = re.compile(r"\{(\w+)\}")
# A first "-" would be an option, and a first "." a parent folder.
_SAFE_VALUE_PATTERN = re.compile(r"[A-Za-z0-9_%\[][A-Za-z0-9._%:\[\]-]*")


class UnsafeFieldError(RocketMQError):
    """A value that a server reported could become a part of a shell command. Nothing was run."""


def find_unknown_fields(shell_text: str, known_fields: Mapping[str, str]) -> list[str]:
    """The fields in braces that are not known, such as {brokerNam}. ${NAME} belongs to the shell."""
    return [match[1] for match in _find_fields(shell_text) if match[1] not in known_fields]


def require_safe_fields(values: Mapping[str, str]) -> None:
    """Raises UnsafeFieldError if a shell could interpret one of the values."""
    for name, field_value in values.items():
        if not _SAFE_VALUE_PATTERN.fullmatch(field_value):
            raise UnsafeFieldError(
                f'unsafe {name} "{field_value}", so nothing was run: use only letters, digits and '
                "._%:[]-, and do not begin with . : ] or -"
            )


def fill_fields(shell_text: str, values: Mapping[str, str]) -> str:
    """The command with its fields replaced. A missing value counts as empty. Raises UnsafeFieldError."""
    for field_match in reversed(_find_fields(shell_text)):
        field_value = values.get(field_match[1], "")
        require_safe_fields({field_match[1]: field_value})
        shell_text = shell_text[: field_match.start()] + field_value + shell_text[field_match.end() :]
    return shell_text


def _find_fields(shell_text: str) -> list[re.Match[str]]:
    return [
        match
        for match in _FIELD_PATTERN.finditer(shell_text)
        if shell_text[match.start() - 1 : match.start()] != "$"
    ]


def run_in_shell(shell_text: str, values: Mapping[str, str]) -> int:
    """Run the command in a shell, with the values as variables, and return its exit code.

    Its output goes to stderr. A command that names no field can expand a variable for a second shell, so
    the values must be safe, too. Raises UnsafeFieldError.
    """
    require_safe_fields(values)
    field_variables = {VARIABLES_BY_FIELD[name]: value for name, value in values.items()}
    return subprocess.run(
        shell_text,
        shell=True,
        stdin=subprocess.DEVNULL,
        stdout=_stderr_descriptor(),
        env=os.environ | field_variables,
    ).returncode


def _stderr_descriptor() -> int:
    try:
        return sys.stderr.fileno()
    except (OSError, ValueError):
        return subprocess.DEVNULL
