"""What is run a second time, and what is not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PASSES_THE_SECOND_TIME = """
from pathlib import Path
def test_waits():
    seen = Path(__file__).with_suffix(".seen")
    was = seen.exists()
    seen.touch()
    assert was
"""


@pytest.mark.parametrize(("folder", "code"), [("tests/interop", 0), ("tests/unit", 1)])
def test_only_what_talks_to_java_is_run_again(tmp_path: Path, folder: str, code: int) -> None:
    file = tmp_path / folder / "test_it.py"
    file.parent.mkdir(parents=True)
    file.write_text(PASSES_THE_SECOND_TIME)
    done = run(tmp_path)
    assert done.returncode == code, done.stdout
    assert (f"failed at first:\n  {folder}/test_it.py::test_waits" in done.stdout) == (code == 0)


def test_what_fails_twice_fails(tmp_path: Path) -> None:
    file = tmp_path / "tests" / "interop" / "test_it.py"
    file.parent.mkdir(parents=True)
    file.write_text("def test_it():\n    assert False\n")
    assert run(tmp_path).returncode == 1


def run(folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tests.support.second_look", "-q"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
