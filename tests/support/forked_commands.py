"""Runs nsadmin in a process that need not load it: a copy of a process that has loaded all commands.

Tests run thousands of commands. A copy takes a sixth of the processor time of `python -m nsadmin`, which
other tests start. Output, exit code and what a command leaves behind are the same.
"""

import array
import atexit
import gc
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NoReturn

_FD_COUNT = 3


def run(
    words: Sequence[str], environment: Mapping[str, str], *, typed: str | None = None, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run a command with this environment, and `typed` as its standard input; return its output."""
    with (
        tempfile.TemporaryFile() as stdin,
        tempfile.TemporaryFile() as stdout,
        tempfile.TemporaryFile() as stderr,
        socket.socket(socket.AF_UNIX) as connection,
    ):
        stdin.write((typed or "").encode())
        stdin.seek(0)
        connection.settimeout(timeout)
        connection.connect(_start_server())
        request = json.dumps([*words]), json.dumps(dict(environment)), os.getcwd()
        fds = array.array("i", [stdin.fileno(), stdout.fileno(), stderr.fileno()])
        connection.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        connection.sendall("\0".join(request).encode())
        connection.shutdown(socket.SHUT_WR)
        try:
            answer = connection.recv(16)
        except TimeoutError:
            raise subprocess.TimeoutExpired(words, timeout) from None
        texts = []
        for file in (stdout, stderr):
            file.seek(0)
            texts.append(file.read().decode())
        # Without an answer, it was killed.
        return subprocess.CompletedProcess(words, int(answer or -9), *texts)


@cache
def _start_server() -> str:
    """Start the process to copy, once for each process of tests; return the path of its socket."""
    folder = tempfile.TemporaryDirectory(prefix="nsadmin-commands-")
    path = os.path.join(folder.name, "socket")
    server = subprocess.Popen(
        [sys.executable, "-m", __name__, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_ROOT
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


def serve(path: str) -> None:
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
                    _run_copy(connection)
                connection.close()
                running.add(pid)


def _run_copy(connection: socket.socket) -> NoReturn:
    code = 1
    try:
        _, ancillary, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(_FD_COUNT * array.array("i").itemsize))
        fds = array.array("i")
        fds.frombytes(ancillary[0][2])
        for number, fd in enumerate(fds):
            os.dup2(fd, number)
            os.close(fd)
        received = bytearray()
        while part := connection.recv(1 << 16):
            received += part
        words, environment, folder = received.decode().split("\0")
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(json.loads(environment))
        for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
        from nsadmin.app import main

        code = main(json.loads(words))
        sys.stdout.flush()
        sys.stderr.flush()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        connection.sendall(str(int(code)).encode())
        os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
