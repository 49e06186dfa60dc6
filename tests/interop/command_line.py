"""Our command line as a process, its rows read from JSON."""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.interop.our_server import ROOT
from tests.support import forked_commands

ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'cli'}"}

PATIENT = ("--timeout", "10")
"""nsadmin waits 3 s for an answer, too short on a busy machine. A later `--timeout` replaces this one."""
PROGRAM = (sys.executable, "-m", "nsadmin", *PATIENT)


class CommandResult(NamedTuple):
    """The exit code of a command, its rows (None if stdout is empty), and its stderr."""

    code: int
    rows: Any
    err: str


def nsadmin(
    namesrv: str, *args: str, env: Mapping[str, str] | None = None, typed: str | None = None
) -> CommandResult:
    """Run a command; `env` adds to the environment, `typed` is its standard input."""
    words = [*PATIENT, "-n", namesrv, "--json", *args]
    result = forked_commands.run(words, {**ENVIRONMENT, **(env or {})}, typed=typed)
    rows = json.loads(result.stdout) if result.stdout else None
    return CommandResult(result.returncode, rows, result.stderr)


def mqadmin_text(namesrv: str, *args: str) -> str:
    """What a command prints with --output mqadmin."""
    words = [*PATIENT, "-n", namesrv, "--output", "mqadmin", *args]
    result = forked_commands.run(words, ENVIRONMENT)
    assert result.returncode == 0, result.stderr
    return result.stdout
