"""Our command line as a process, its rows read from JSON."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.interop.our_server import ROOT

ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'cli'}"}


class Done(NamedTuple):
    """What a command left behind; `rows` is None where it printed nothing."""

    code: int
    rows: Any
    said: str


def nsadmin(namesrv: str, *args: str, env: Mapping[str, str] | None = None, typed: str | None = None) -> Done:
    """Run a command; `env` adds to the environment, `typed` is its standard input."""
    command = [sys.executable, "-m", "nsadmin", "-n", namesrv, "--json", *args]
    environment = {**ENVIRONMENT, **(env or {})}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, input=typed)
    return Done(done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr)


def mqadmin_text(namesrv: str, *args: str) -> str:
    """What a command prints with --output mqadmin."""
    command = [sys.executable, "-m", "nsadmin", "-n", namesrv, "--output", "mqadmin", *args]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
