"""Programs that end with nsadmin."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nsadmin.client.connection.tunnels.child_process import ChildProcess, FinishedProgram, run_guarded
from tests.interop.processes import wait_for

KILLED = """
import os, sys
from nsadmin.client.connection.tunnels.child_process import ChildProcess
child = ChildProcess(["sh", "-c", sys.argv[1]], folder=sys.argv[2])
assert child.wait_until(lambda: "ready" in child.lines, 10)
os.kill(os.getpid(), getattr(__import__("signal"), sys.argv[3]))
"""


def is_running(pid_file: Path) -> bool:
    process = Path("/proc", pid_file.read_text().strip(), "stat")
    try:
        return process.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


RUNS = "echo $$ >{pid}; echo ready; exec sleep 60"
# A script that starts the real program, as wrappers of kubectl do.
WRAPS = "sleep 60 & echo $! >{pid}; echo ready; wait"
IGNORES_SIGTERM = "trap '' TERM; echo $$ >{pid}; echo ready; while :; do sleep 0.2; done"


@pytest.mark.parametrize(
    ("shell_text", "signal_name"),
    [
        (RUNS, "SIGKILL"),
        (RUNS, "SIGTERM"),
        (RUNS, "SIGINT"),
        (WRAPS, "SIGKILL"),
        (IGNORES_SIGTERM, "SIGKILL"),
    ],
)
def test_a_program_ends_when_its_starter_is_killed(shell_text: str, signal_name: str, tmp_path: Path) -> None:
    folder, pid_file = tmp_path / "folder", tmp_path / "pid"
    folder.mkdir()
    arguments = [shell_text.format(pid=pid_file), str(folder), signal_name]
    ended = subprocess.run([sys.executable, "-c", KILLED, *arguments], capture_output=True)
    assert ended.returncode in (-getattr(signal, signal_name), 1), ended.stderr
    wait_for("the end of the program", lambda: not is_running(pid_file))
    wait_for("the end of the folder", lambda: not folder.exists())


def test_a_program_ends_when_it_is_closed_and_its_lines_stay_known(tmp_path: Path) -> None:
    lines: list[str] = []
    pid_file = tmp_path / "pid"
    child = ChildProcess(
        ["sh", "-c", f"echo $$ >{pid_file}; echo out; echo err >&2; exec sleep 60"], lines.append
    )
    assert child.wait_until(lambda: len(child.lines) == 2, 10)
    assert child.is_running
    child.close()
    assert (is_running(pid_file), child.is_running) == (False, False)
    assert sorted(lines) == sorted(child.lines) == ["err", "out"]


def test_the_end_of_a_program_is_noticed() -> None:
    child = ChildProcess(["sh", "-c", "echo gone"])
    assert not child.wait_until(lambda: False, 10)
    assert (child.is_running, child.lines) == (False, ["gone"])
    child.close()


def test_a_program_has_no_standard_input_and_a_session_of_its_own(tmp_path: Path) -> None:
    script = "import os, sys; print(sys.stdin.read() == '' and os.getsid(0))"
    finished = run_guarded([sys.executable, "-c", script], 20)
    assert finished.exit_code == 0
    assert int(finished.output) not in (os.getsid(0), 0)


def test_a_program_is_run_to_its_end() -> None:
    assert run_guarded(
        ["sh", "-c", "echo out; echo first >&2; echo last >&2; exit 3"], 20
    ) == FinishedProgram(3, b"out\n", "last")


def test_a_program_that_takes_too_long_is_ended() -> None:
    assert run_guarded(["sleep", "60"], 0.2).exit_code is None


def test_secrets_of_a_programs_last_line_are_hidden() -> None:
    finished = run_guarded(["sh", "-c", "echo 'no login: token=abc.def' >&2; exit 1"], 20)
    assert finished.last_line == "no login: token=***"
