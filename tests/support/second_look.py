"""All tests; then the files in which some failed, once more and one after another.

Eight JVMs on two cores sometimes keep a test waiting for longer than it waits. What failed first is named at
the end, whatever came of it, so that nobody overlooks it; what fails twice, or in many files, fails.
"""

import json
import subprocess
import sys
from pathlib import Path

FAILED = Path(".pytest_cache/v/cache/lastfailed")
PYTEST = (sys.executable, "-m", "pytest")
MOST = 5
"""Files that are looked at again: more have a common cause."""


def main(args: list[str]) -> int:
    FAILED.unlink(missing_ok=True)
    first = subprocess.run(
        [*PYTEST, "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", *args], check=False
    ).returncode
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
