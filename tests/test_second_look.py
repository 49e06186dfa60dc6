"""What is run a second time, and what is not."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.second_look import MOST

ROOT = Path(__file__).parents[1]
PASSES_THE_SECOND_TIME = """
from pathlib import Path
def test_waits():
    seen = Path(__file__).with_suffix(".seen")
    was = seen.exists()
    seen.touch()
    assert was
"""


def test_what_failed_is_run_again_alone_and_named_at_the_end(tmp_path: Path) -> None:
    write(tmp_path, "test_it.py", PASSES_THE_SECOND_TIME)
    write(tmp_path, "test_other.py", "def test_other():\n    pass\n")
    result = run(tmp_path)
    assert result.returncode == 0, result.stdout
    assert "once more, alone: tests/test_it.py\n" in result.stdout
    assert result.stdout.endswith("failed at first:\n  tests/test_it.py::test_waits\n")


def test_what_fails_in_many_files_has_a_common_cause(tmp_path: Path) -> None:
    for number in range(MOST + 1):
        write(tmp_path, f"test_{number}.py", PASSES_THE_SECOND_TIME)
    result = run(tmp_path)
    assert result.returncode == 1
    assert "once more" not in result.stdout


def test_what_fails_twice_fails(tmp_path: Path) -> None:
    write(tmp_path, "test_it.py", "def test_it():\n    assert False\n")
    assert run(tmp_path).returncode == 1


def write(folder: Path, name: str, text: str) -> None:
    file = folder / "tests" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


def run(folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tests.support.second_look", "-q", "-n", "1"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
