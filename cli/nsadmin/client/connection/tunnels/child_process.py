"""ChildProcess, a program that ends with nsadmin in every case, also if nsadmin is killed (SIGKILL)."""

import os
import subprocess
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Condition, Thread
from time import monotonic
from typing import NamedTuple

from nsadmin.client.redaction import hide_secrets

_MAX_LINES = 50
_MAX_LINE_LENGTH = 2000
_MAX_MESSAGE_LENGTH = 300
_END_SECONDS = 3.0

# A shell between nsadmin and the program. Its standard input is a pipe whose other end only nsadmin has: the
# end of that pipe is the end of nsadmin, however it came. PR_SET_PDEATHSIG would exist on Linux only, and
# fires when the thread ends that started the program. A program with a session of its own can be a script
# that starts the real program, so the whole process group ends. The second `kill` is for programs that hang.
_SHELL_SCRIPT = """
folder=$1 has_session=$2
shift 2
trap '' INT
trap 'kill "$child" 2>/dev/null' HUP TERM
exec 3<&0 </dev/null
"$@" 3<&- &
child=$!
ended=$child
if [ -n "$has_session" ]; then ended=-$$; fi
(
    trap '' TERM
    exec >/dev/null 2>&1
    read -r _ <&3
    kill -s TERM -- "$ended"
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        sleep 0.1
        kill -0 "$child" || exit
    done
    if [ -n "$folder" ]; then rm -rf -- "$folder"; fi
    kill -s KILL -- "$ended"
) &
watcher=$!
exec 3<&- 2>/dev/null
wait "$child"
status=$?
while kill -0 "$child" 2>/dev/null; do
    wait "$child"
    status=$?
done
kill -s KILL "$watcher"
if [ -n "$folder" ]; then rm -rf -- "$folder"; fi
exit "$status"
"""


class ChildProcess:
    """A program whose lines of output are read by a thread."""

    def __init__(
        self,
        command: Sequence[str],
        take_line: Callable[[str], None] = lambda line: None,
        *,
        has_terminal: bool = False,
        folder: str = "",
    ) -> None:
        self._take_line = take_line
        self._lines: deque[str] = deque(maxlen=_MAX_LINES)
        self._has_ended = False
        self._changed = Condition()
        self._process = start_guarded(command, subprocess.STDOUT, has_terminal=has_terminal, folder=folder)
        self._reader = Thread(target=self._read_lines, name=command[0], daemon=True)
        self._reader.start()

    @property
    def is_running(self) -> bool:
        """Whether the program has not ended, as far as is known."""
        return not self._has_ended

    @property
    def lines(self) -> list[str]:
        """The last lines of its output."""
        with self._changed:
            return list(self._lines)

    def wait_until(self, is_ready: Callable[[], bool], timeout_seconds: float) -> bool:
        """Wait until a condition holds; return False if the program ends or the time is over."""
        deadline = monotonic() + timeout_seconds
        with self._changed:
            while not is_ready():
                if self._has_ended or monotonic() >= deadline:
                    return False
                self._changed.wait(0.02)
        return True

    def close(self) -> None:
        """End the program and wait for its end. Programs that do not end are killed after 2 s."""
        end_guarded(self._process)
        self._reader.join(_END_SECONDS)

    def _read_lines(self) -> None:
        assert self._process.stdout is not None
        with suppress(OSError, ValueError), self._process.stdout as output_stream:
            for raw_line in iter(lambda: output_stream.readline(64 * 1024), b""):
                line = raw_line.decode("utf-8", "replace").rstrip()[:_MAX_LINE_LENGTH]
                self._take_line(line)
                with self._changed:
                    self._lines.append(line)
                    self._changed.notify_all()
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()


def start_guarded(
    command: Sequence[str], stderr_target: int, *, has_terminal: bool = False, folder: str = ""
) -> "subprocess.Popen[bytes]":
    """Start a program that ends with nsadmin. Its standard input is empty."""
    return subprocess.Popen(
        ["/bin/sh", "-c", _SHELL_SCRIPT, "nsadmin-child", folder, "" if has_terminal else "yes", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr_target,
        start_new_session=not has_terminal,
        # nsadmin reads the texts of these programs, and ssh and kubectl translate none of them.
        env=os.environ | {"LC_ALL": "C"},
    )


def end_guarded(process: "subprocess.Popen[bytes]") -> None:
    """End a program of `start_guarded`, and wait for it."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class FinishedProgram(NamedTuple):
    """A program that has ended.

    Attributes:
        exit_code: Its exit code; None if it was ended at the time limit.
        output: Its standard output.
        last_line: The last line of its stderr that is not empty; "" if all are empty.
    """

    exit_code: int | None
    output: bytes
    last_line: str


def run_guarded(command: Sequence[str], timeout_seconds: float) -> FinishedProgram:
    """Run a program to its end."""
    process = start_guarded(command, subprocess.PIPE)
    assert process.stdin is not None
    stdin_pipe, process.stdin = process.stdin, None
    try:
        # communicate() would close the standard input, which would end the program.
        output, error_output = process.communicate(timeout=timeout_seconds)
        exit_code: int | None = process.returncode
    except subprocess.TimeoutExpired:
        stdin_pipe.close()
        output, error_output = process.communicate()
        exit_code = None
    finally:
        stdin_pipe.close()
    return FinishedProgram(
        exit_code, output, last_line_of(error_output.decode("utf-8", "replace").splitlines())
    )


def last_line_of(output_lines: Sequence[str]) -> str:
    """Return the last line that is not empty, without secrets; "" if all are empty."""
    filled_lines = (line.strip() for line in reversed(output_lines) if line.strip())
    return hide_secrets(next(filled_lines, "")[:_MAX_MESSAGE_LENGTH])
