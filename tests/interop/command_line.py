"""Our command line as a process, its rows read from JSON."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.interop.our_server import ROOT

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
    command = [*PROGRAM, "-n", namesrv, "--json", *args]
    environment = {**ENVIRONMENT, **(env or {})}
    result = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, input=typed)
    return CommandResult(
        result.returncode, json.loads(result.stdout) if result.stdout else None, result.stderr
    )


def mqadmin_text(namesrv: str, *args: str) -> str:
    """What a command prints with --output mqadmin."""
    command = [*PROGRAM, "-n", namesrv, "--output", "mqadmin", *args]
    result = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout
