"""Runs nsadmin in a process that need not load it: a copy of a process that has loaded all commands.

Tests run thousands of commands. A copy takes a sixth of the processor time of `python -m nsadmin`, which
other tests start. Output, exit code and what a command leaves behind are the same.
"""

import array
import atexit
import gc
import marshal
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NoReturn

from tests.support.forked_command import NUMBER_SIZE, ask_for_copy


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
        with ask_for_copy(start_server(), words, environment, fds) as connection:
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
        # Without an answer, it was killed.
        return subprocess.CompletedProcess(words, int.from_bytes(answer, "little") if answer else -9, *texts)


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
    from nsadmin.command_line.registry import COMMANDS

    for entry in COMMANDS:
        entry.load_function()
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        print("ready", flush=True)
        running: set[int] = set()
        while True:
            readable, _, _ = select.select([listener, sys.stdin], [], [], 1)
            if sys.stdin in readable:
                return
            # Waiting for them counts their processor time as that of the tests.
            running -= {pid for pid in running if os.waitpid(pid, os.WNOHANG)[0]}
            if listener in readable:
                connection, _ = listener.accept()
                pid = os.fork()
                if not pid:
                    listener.close()
                    _run_copy(connection, prepare)
                connection.close()
                running.add(pid)


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
            words, environment, folder = marshal.loads(request.read())
        connection.sendall(os.getpid().to_bytes(NUMBER_SIZE, "little"))
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
        connection.sendall(int(code).to_bytes(NUMBER_SIZE, "little"))
        os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
