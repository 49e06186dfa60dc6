"""Child processes of the tests: each is waited for, logged to a file, and ended whatever happens."""

import atexit
import ctypes
import os
import random
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TypeVar

T = TypeVar("T")
_running: set["Child"] = set()

java_timer_slack_ns: int | None = None
"""By how much Java servers may oversleep. An idle broker sleeps for 1 ms, a thousand times per second.

With 20 ms it takes 3 % of a processor instead of 4 %, with 50 ms 2.5 %, but then it finds messages too late
for tests. A measurement leaves it at None.
"""
_SET_TIMER_SLACK, _GET_TIMER_SLACK = 29, 30
"""PR_SET_TIMERSLACK and PR_GET_TIMERSLACK of prctl(2)."""


PATIENCE_SECONDS = 90.0
"""On a busy machine, everything takes long. A silent broker expires later than this, after 120 s."""


def wait_for(
    what: str, probe: Callable[[], T | None], timeout: float = PATIENCE_SECONDS, *, interval: float = 0.05
) -> T:
    """Poll until the probe returns something true; connection errors count as "not yet".

    Probes that start a process take processor time from what the test waits for. So the pause between two
    probes is at least `interval`, and twice as long as the probe took, up to two seconds.
    """
    deadline = time.monotonic() + timeout
    while True:
        begun = time.monotonic()
        try:
            result = probe()
        except OSError:
            result = None
        if result:
            return result
        now = time.monotonic()
        if now > deadline:
            raise TimeoutError(f"waited {timeout:g} s for {what}")
        time.sleep(max(interval, min(2 * (now - begun), 2)))


_last_ports: deque[int] = deque(maxlen=100)


def free_port(neighbours: Sequence[int] = (0,)) -> int:
    """A port whose neighbours (offsets) are free too, below the range that outgoing connections take.

    A server binds its port some seconds later. So workers of pytest-xdist have different ports, and a port is
    not returned again soon.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 7
    for _ in range(500):
        port = random.SystemRandom().randrange(18_000 + 10 * worker, 32_000, 70)
        if port not in _last_ports and all(_is_free(port + offset) for offset in neighbours):
            _last_ports.append(port)
            return port
    raise RuntimeError("no free port found")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


@contextmanager
def _set_timer_slack(slack_ns: int) -> Iterator[None]:
    """Let the processes that this thread starts oversleep. Linux hands the setting down to them."""
    control = ctypes.CDLL(None).prctl
    before = control(_GET_TIMER_SLACK, 0, 0, 0, 0)
    control(_SET_TIMER_SLACK, ctypes.c_ulong(slack_ns), 0, 0, 0)
    try:
        yield
    finally:
        control(_SET_TIMER_SLACK, ctypes.c_ulong(before), 0, 0, 0)


_WATCH = """
import os, signal, sys
running = set()
for line in sys.stdin:
    (running.add if line[0] == "+" else running.discard)(int(line[1:]))
for pid in running:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
"""


@cache
def _start_watcher() -> "subprocess.Popen[str]":
    """The process that ends our children when this process was killed, as Ctrl-C kills workers of xdist."""
    command = [sys.executable, "-S", "-I", "-c", _WATCH]
    return subprocess.Popen(command, stdin=subprocess.PIPE, text=True, bufsize=1, start_new_session=True)


_watcher_lock = Lock()


def _tell_watcher(line: str) -> None:
    with _watcher_lock:
        stdin = _start_watcher().stdin
        assert stdin is not None
        stdin.write(f"{line}\n")


class Child:
    """One running process; `output` grows in a file, so that no pipe can fill and block it."""

    def __init__(
        self, command: Sequence[str], log: Path, env: Mapping[str, str] | None = None, talks: bool = False
    ) -> None:
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        slack: AbstractContextManager[None] = nullcontext()
        if java_timer_slack_ns and command[0] == "java" and sys.platform == "linux":
            slack = _set_timer_slack(java_timer_slack_ns)
        with log.open("wb") as sink, slack:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE if talks else subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                cwd=log.parent,
                env={**os.environ, **(env or {})},
            )
        _running.add(self)
        _tell_watcher(f"+{self.pid}")

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def write(self, text: str) -> None:
        """Give the process a text to read; only for one that was started to be talked to."""
        assert self._process.stdin is not None
        self._process.stdin.write(text.encode())
        self._process.stdin.flush()

    def wait_for_line(self, text: str, timeout: float) -> str:
        """The first output line that contains the text; an early end of the process is an error at once."""

        def line() -> str | None:
            matching_line = next((line for line in self.output.splitlines() if text in line), None)
            if matching_line is None and self._process.poll() is not None:
                raise RuntimeError(
                    f"ended with {self._process.returncode} before it said {text!r}:\n{self.output}"
                )
            return matching_line

        try:
            return wait_for(repr(text), line, timeout)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; output so far:\n{self.output}") from None

    def obey(self, order: str, timeout: float) -> tuple[str, str]:
        """Write an order, and wait for the line that answers it with "done ".

        Returns the output before this line, and the rest of the line.
        """
        answer_count = self.output.count("done ")
        self.write(f"{order}\n")

        def answer() -> tuple[str, str] | None:
            output = self.output
            before, _, rest = output.rpartition("done ")
            line, line_end, _ = rest.partition("\n")
            return (before, line) if line_end and output.count("done ") > answer_count else None

        return wait_for(order, answer, timeout)

    def wait(self, timeout: float) -> int:
        return self._process.wait(timeout)

    def kill(self) -> None:
        """SIGKILL, and wait until the process is gone."""
        self._process.kill()
        self._process.wait(10)
        self._ended()

    def stop(self, patience: float = 3) -> None:
        """SIGTERM, then SIGKILL for a process that takes longer than the patience."""
        self._process.terminate()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self.kill()
        self._ended()

    def _ended(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        _running.discard(self)
        _tell_watcher(f"-{self.pid}")


def start_child(
    command: Sequence[str],
    log: Path,
    ready_line: str,
    timeout: float,
    env: Mapping[str, str] | None = None,
    talks: bool = False,
) -> Child:
    """A process that has said a line. It is killed if it does not say the line in time."""
    child = Child(command, log, env, talks)
    try:
        child.wait_for_line(ready_line, timeout)
    except BaseException:
        child.kill()
        raise
    return child


@atexit.register
def _end_all() -> None:
    for child in list(_running):
        child.kill()
    if _start_watcher.cache_info().currsize:
        _start_watcher().communicate()
