"""A command of a shell that a copy of another process runs: see `forked_commands`.

Each command of a page or a shell starts it. It imports only what Python has loaded or built in: `socket` and
`signal` would take as long as all the rest.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import marshal
import os
import sys
from _collections_abc import Mapping, Sequence

NUMBER_SIZE = 4


def send_number(connection: _socket.socket, number: int) -> None:
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
) -> _socket.socket:
    """Have a command run with these streams. The answer is the copy's process ID, and then its exit code.

    `has_terminal` if the first stream becomes its controlling terminal.
    """
    connection = _socket.socket(_socket.AF_UNIX)
    connection.connect(path)
    numbers = b"".join([fd.to_bytes(4, sys.byteorder) for fd in fds])
    connection.sendmsg([b"\0"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, numbers)])
    connection.sendall(marshal.dumps(([*words], dict(environment), folder or os.getcwd(), has_terminal)))
    connection.shutdown(_socket.SHUT_WR)
    return connection


def main(path: str, *words: str) -> int:
    connection = ask_for_copy(path, words, os.environ, (0, 1, 2))
    pid = read_number(connection.recv(NUMBER_SIZE, _socket.MSG_WAITALL))
    for number in (_signal.SIGHUP, _signal.SIGINT, _signal.SIGTERM):
        _signal.signal(number, lambda received, _: os.kill(pid, received))
    code = read_number(connection.recv(NUMBER_SIZE, _socket.MSG_WAITALL))
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
