"""A command of a shell that a copy of another process runs: see `forked_commands`. It imports little."""

import array
import marshal
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence

NUMBER_SIZE = 4


def send_number(connection: socket.socket, number: int) -> None:
    connection.sendall(number.to_bytes(NUMBER_SIZE, "little", signed=True))


def read_number(answer: bytes) -> int:
    return int.from_bytes(answer, "little", signed=True)


def ask_for_copy(
    path: str,
    words: Sequence[str],
    environment: Mapping[str, str],
    fds: Sequence[int],
    folder: str | None = None,
    *,
    has_terminal: bool = False,
) -> socket.socket:
    """Have a command run with these streams. The answer is the copy's process ID, and then its exit code.

    `has_terminal` if the first stream becomes its controlling terminal.
    """
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    connection.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
    connection.sendall(marshal.dumps(([*words], dict(environment), folder or os.getcwd(), has_terminal)))
    connection.shutdown(socket.SHUT_WR)
    return connection


def main(path: str, *words: str) -> int:
    with ask_for_copy(path, words, os.environ, (0, 1, 2)) as connection:
        pid = read_number(connection.recv(NUMBER_SIZE, socket.MSG_WAITALL))
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda received, _: os.kill(pid, received))
        code = read_number(connection.recv(NUMBER_SIZE, socket.MSG_WAITALL))
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
