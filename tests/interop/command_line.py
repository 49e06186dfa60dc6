"""Our command line as a process, its rows read from JSON."""

import json
import os
import subprocess
import sys
from typing import Any, NamedTuple

from tests.interop.our_server import ROOT

ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'cli'}"}


class Done(NamedTuple):
    """What a command left behind; `rows` is None where it printed nothing."""

    code: int
    rows: Any
    said: str


def nsadmin(namesrv: str, *args: str) -> Done:
    command = [sys.executable, "-m", "nsadmin", "-n", namesrv, "--json", *args]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=60)
    return Done(done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr)
