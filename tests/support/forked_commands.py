"""Runs nsadmin in a process that need not load it: a copy of a process that has loaded all commands.

Tests run thousands of commands. A copy takes a sixth of the processor time of `python -m nsadmin`, which
other tests start. Output, exit code and what a command leaves behind are the same.
"""

import array
import atexit
import contextlib
import fcntl
import gc
import marshal
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NoReturn

from tests.support import forked_command
from tests.support.forked_command import NUMBER_SIZE


def run(
    words: Sequence[str], environment: Mapping[str, str], *, typed: str | None = None, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run a command with this environment, and `typed` as its standard input; return its output."""
    with (
        tempfile.TemporaryFile() as stdin,
        tempfile.TemporaryFile() as stdout,
        tempfile.TemporaryFile() as stderr,
    ):
        stdin.write((typed or "").encode())
        stdin.seek(0)
        fds = [stdin.fileno(), stdout.fileno(), stderr.fileno()]
        with contextlib.closing(
            forked_command.ask_for_copy(start_server(), words, environment, fds)
        ) as connection:
            connection.settimeout(timeout)
            connection.recv(NUMBER_SIZE)
            try:
                answer = connection.recv(NUMBER_SIZE)
            except TimeoutError:
                raise subprocess.TimeoutExpired(words, timeout) from None
        texts = []
        for file in (stdout, stderr):
            file.seek(0)
            texts.append(file.read().decode())
        return subprocess.CompletedProcess(words, forked_command.read_number(answer), *texts)


@cache
def start_server(module: str = __name__) -> str:
    """Start the process to copy, once for each process of tests; return the path of its socket."""
    folder = tempfile.TemporaryDirectory(prefix="nsadmin-commands-")
    path = os.path.join(folder.name, "socket")
    server = subprocess.Popen(
        [sys.executable, "-m", module, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_ROOT
    )
    assert server.stdin is not None
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"

    def end() -> None:
        # It ends with the end of its standard input, also if this process is killed.
        server.stdin.close()  # type: ignore[union-attr]
        server.wait()
        folder.cleanup()

    atexit.register(end)
    return path


_ROOT = Path(__file__).resolve().parents[2]


def serve(path: str, prepare: Callable[[], None] = lambda: None) -> None:
    """Run commands in copies of this process; each calls `prepare` first."""
    from nsadmin import app  # noqa: F401 - it is loaded for the copies
    from nsadmin.command_line.application import build_application
    from nsadmin.command_line.registry import COMMANDS

    for entry in COMMANDS:
        entry.load_function()
    build_application()
    build_application(is_completing=True)
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        # A program whose place a command takes ends with the code of its command.
        ended, wakes = os.pipe()
        os.set_blocking(wakes, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakes)
        print("ready", flush=True)
        running: dict[int, socket.socket] = {}
        while True:
            readable, _, _ = select.select([listener, sys.stdin, ended], [], [])
            if sys.stdin in readable:
                return
            if ended in readable:
                os.read(ended, 1 << 10)
                for pid in [*running]:
                    done, status = os.waitpid(pid, os.WNOHANG)
                    if done:
                        with running.pop(pid) as connection, contextlib.suppress(OSError):
                            forked_command.send_number(connection, os.waitstatus_to_exitcode(status))
            if listener in readable:
                connection, _ = listener.accept()
                pid = os.fork()
                if not pid:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    listener.close()
                    _run_copy(connection, prepare)
                running[pid] = connection


def _run_copy(connection: socket.socket, prepare: Callable[[], None]) -> NoReturn:
    code = 1
    try:
        _, ancillary, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(3 * array.array("i").itemsize))
        fds = array.array("i")
        fds.frombytes(ancillary[0][2])
        for number, fd in enumerate(fds):
            os.dup2(fd, number)
            os.close(fd)
        with connection.makefile("rb") as request:
            words, environment, folder, has_terminal = marshal.loads(request.read())
        if has_terminal:
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        forked_command.send_number(connection, os.getpid())
        connection.close()
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        time.tzset()
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
        prepare()
        from nsadmin.app import main

        code = main(words)
        sys.stdout.flush()
        sys.stderr.flush()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1])
