"""A command in a process of its own: its output, its bounds, and its end."""

import gc
import os
import time
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from nsadmin.commands.mcp import command_process
from nsadmin.commands.mcp.command_process import CommandOutcome, run_command_line
from nsadmin.console import python_process


def run(*words: str, seconds: float = 30, may_change: bool = False) -> CommandOutcome:
    async def run_it() -> CommandOutcome:
        return await run_command_line(words, seconds, may_change=may_change)

    return anyio.run(run_it)


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A file whose Python code runs instead of nsadmin."""
    program_file = tmp_path / "program.py"
    monkeypatch.setattr(
        python_process, "build_command", lambda module_name, *words: ["python3", str(program_file), *words]
    )
    return program_file


def test_the_output_and_the_exit_code_of_a_command() -> None:
    done = run("topicRoute")
    assert (done.stdout_text, done.exit_code) == ("", 2)
    assert done.stderr_text.startswith("nsadmin: missing argument TOPIC")


def test_a_command_has_no_standard_input_and_its_own_variables(program: Path) -> None:
    program.write_text("import os, sys\nprint(sys.stdin.read(), os.environ['A'])")

    async def run_it() -> CommandOutcome:
        return await run_command_line([], 30, more_variables={"A": "b"})

    assert anyio.run(run_it) == CommandOutcome(" b\n", "", 0)


def test_a_command_is_killed_after_its_time_with_its_children(program: Path, tmp_path: Path) -> None:
    program.write_text(
        "import subprocess, sys, time\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
        "sys.stderr.write('started')\nsys.stderr.flush()\ntime.sleep(60)"
    )
    done = run(seconds=4)
    assert done == CommandOutcome("", "started\nthe server stopped the command after 4 s", 1)
    assert_ended(int((tmp_path / "pid").read_text()))


def test_a_change_is_interrupted_before_it_is_killed(program: Path, tmp_path: Path) -> None:
    program.write_text(
        f"import time\nopen({str(tmp_path / 'pid')!r}, 'w').write('started')\n"
        "try:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n"
        f"    open({str(tmp_path / 'audit')!r}, 'w').write('interrupted')"
    )
    anyio.run(cancel_when_started, tmp_path / "pid", True)
    assert (tmp_path / "audit").read_text() == "interrupted"


def test_too_much_output_ends_the_command(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_process, "MAX_OUTPUT_BYTES", 1 << 20)
    program.write_text("while True:\n    print('x' * 1000)")
    done = run()
    assert (done.stdout_text, done.exit_code) == ("", 1)
    assert "its output has more than 1 MiB. Pass filter, columns" in done.stderr_text


def test_a_cancelled_call_ends_the_command(program: Path, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    program.write_text(
        f"import os, time\nopen({str(pid_file)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)"
    )

    anyio.run(cancel_when_started, pid_file, False)
    assert_ended(int(pid_file.read_text()))


def test_a_call_that_is_cancelled_while_its_command_starts_leaves_no_process(program: Path) -> None:
    program.write_text("import time\ntime.sleep(60)")

    async def cancel_after(checkpoints: int) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_command_line, [], 30)
            for _ in range(checkpoints):
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()

    for checkpoints in range(12):
        anyio.run(cancel_after, checkpoints)
    # A process that is left is a ResourceWarning, which fails the test.
    gc.collect()


async def cancel_when_started(started_file: Path, may_change: bool) -> None:
    """Run the program, and cancel the call as soon as the program has written the file."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(run_command_line, [], 30, may_change=may_change))
        while not started_file.exists() or not started_file.read_text():  # noqa: ASYNC110, ASYNC240
            await anyio.sleep(0.02)
        tasks.cancel_scope.cancel()


def assert_ended(pid: int) -> None:
    """Killed, and at most a zombie that init has not collected yet."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return
        except (ProcessLookupError, FileNotFoundError):
            return
        time.sleep(0.05)
    raise AssertionError(f"process {pid} still runs")
