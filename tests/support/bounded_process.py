"""A program in a process of its own, with a limit on its memory and a time limit of minutes.

Hostile input that takes quadratic time or inflates without a bound then fails one test, and not the machine.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MINUTES = 3
_PRELUDE = """
import resource, sys
sys.path[:0] = [{root!r}, {root!r} + "/cli", {root!r} + "/pipeline"]
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
"""


def run_bounded(program: str, *args: str, megabytes: int = 400) -> str:
    """What a Python program prints. AssertionError if it fails, needs more memory, or is not done in time."""
    prelude = _PRELUDE.format(root=str(ROOT), limit=megabytes << 20)
    command = [sys.executable, "-c", prelude + program, *args]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60 * MINUTES, check=False)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"not done within {MINUTES} minutes") from None
    assert ended.returncode == 0, ended.stderr[-2000:] or f"ended with {ended.returncode}"
    return ended.stdout
