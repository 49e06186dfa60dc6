"""A command of a shell that a copy of another process runs: see `forked_commands`. It imports little."""

import array
import marshal
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence

NUMBER_SIZE = 4
"""Bytes of the process ID of the copy, and of its exit code."""


def ask_for_copy(
    path: str, words: Sequence[str], environment: Mapping[str, str], fds: Sequence[int]
) -> socket.socket:
    """Have a command run with these streams. The answer is the copy's process ID, and then its exit code."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    connection.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
    connection.sendall(marshal.dumps(([*words], dict(environment), os.getcwd())))
    connection.shutdown(socket.SHUT_WR)
    return connection


def main(path: str, *words: str) -> int:
    with ask_for_copy(path, words, os.environ, (0, 1, 2)) as connection:
        pid = int.from_bytes(connection.recv(NUMBER_SIZE, socket.MSG_WAITALL), "little")
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda received, _: os.kill(pid, received))
        answer = connection.recv(NUMBER_SIZE, socket.MSG_WAITALL)
    # Without an answer, it was killed.
    return int.from_bytes(answer, "little") if answer else 128 + signal.SIGKILL


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
