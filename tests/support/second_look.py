"""Runs all tests. If some fail, it runs their files again, one after another.

On two processors, eight JVMs sometimes keep a test waiting for longer than it waits. The end of the output
lists all tests that failed the first time. Tests that fail twice, or in many files, fail the run.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

FAILED = Path(".pytest_cache/v/cache/lastfailed")
PYTEST = (sys.executable, "-m", "pytest")
MOST = 8
"""Files that run again. More failures have a common cause."""
FIRST = ("-n", "5", "--dist", "loadfile", "--no-loadscope-reorder", "--assert=plain")
"""For two processors: four workers mostly wait for Java servers, and one computes. Each worker reads all
tests, in half the time if their asserts tell no values. The second run tells them."""


def main(args: list[str]) -> int:
    FAILED.unlink(missing_ok=True)
    # The tests start thousands of Python processes. Without bytecode files, each compiles its modules.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    first = subprocess.run([*PYTEST, *FIRST, *args], check=False).returncode
    if first != 1 or not FAILED.exists():
        return first
    failed = sorted(json.loads(FAILED.read_text()))
    files = sorted({name.partition("::")[0] for name in failed})
    if len(files) > MOST:
        return first
    print("\nonce more, alone:", *files, flush=True)
    second = subprocess.run([*PYTEST, *files], check=False).returncode
    print("failed at first:", *failed, sep="\n  ", flush=True)
    return second


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
