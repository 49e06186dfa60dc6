"""Our command line as a process, its rows read from JSON."""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.interop.our_server import ROOT
from tests.support import forked_commands

ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'cli'}"}

PROGRAM = (sys.executable, "-m", "nsadmin", "--timeout", "10")
"""The command line's beginning. By default nsadmin waits 3 s for an answer, too short on a busy machine.

A later `--timeout` replaces this one.
"""


class CommandResult(NamedTuple):
    """The exit code of a command, its rows (None if stdout is empty), and its stderr."""

    code: int
    rows: Any
    err: str


def nsadmin(
    namesrv: str, *args: str, env: Mapping[str, str] | None = None, typed: str | None = None
) -> CommandResult:
    """Run a command; `env` adds to the environment, `typed` is its standard input."""
    words = ["--timeout", "10", "-n", namesrv, "--json", *args]
    result = forked_commands.run(words, {**ENVIRONMENT, **(env or {})}, typed=typed)
    rows = json.loads(result.stdout) if result.stdout else None
    return CommandResult(result.returncode, rows, result.stderr)


def mqadmin_text(namesrv: str, *args: str) -> str:
    """What a command prints with --output mqadmin."""
    words = ["--timeout", "10", "-n", namesrv, "--output", "mqadmin", *args]
    result = forked_commands.run(words, ENVIRONMENT)
    assert result.returncode == 0, result.stderr
    return result.stdout
