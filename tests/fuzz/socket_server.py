"""A name server behind sockets that receives the same frames as nsadmin's, and its reactions.

The reaction of nsadmin's server gives the expected number of answers. Silence is checked with a timeout.
"""

import contextlib
import selectors
import socket
import struct
import time
from collections.abc import Iterator

from namesrv_core.protocol.connection import ProtocolConnection
from tests.fuzz.conversations import Heard, Said, Talk, agree
from tests.fuzz.direct_server import said

_RESET = struct.pack("ii", 1, 0)


class _Line:
    """A conversation in progress."""

    def __init__(self, talk: Talk, port: int) -> None:
        self.talk = talk
        self.heard: list[Heard] = []
        self.socket = socket.socket()
        # With a reset at its end, so that no port is kept back for a minute.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # There are not enough ports of one address for so many connections.
        self.socket.bind((f"127.0.0.{talk.number % 200 + 2}", 0))
        self.socket.connect(("127.0.0.1", port))
        self.socket.setblocking(False)
        self._connection = ProtocolConnection()
        self._answers: list[Said] = []
        self._why = ""
        self.since = 0.0

    @property
    def expected(self) -> Heard:
        return self.talk.heard[len(self.heard)]

    def say(self) -> None:
        """The next frame."""
        self.since = time.monotonic()
        with contextlib.suppress(OSError):
            self.socket.setblocking(True)
            self.socket.sendall(self.talk.frames[len(self.heard)])
            self.socket.setblocking(False)

    def receive(self) -> None:
        try:
            data = self.socket.recv(1 << 18)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        for answer in self._connection.feed_bytes(data):
            self._answers.append(said(answer))
            self._why = answer.remark or ""
        if not data:
            self.note(is_closed=True)

    def note(self, is_closed: bool = False) -> None:
        """That is what became of this frame."""
        self.heard.append(Heard(tuple(self._answers), is_closed, why=self._why))
        self._answers = []

    @property
    def is_heard(self) -> bool:
        """Whether as much has come as from ours; or more, where ours closed or waits for more."""
        due = len(self.expected.answers)
        if self.expected.is_closed or self.expected.is_unfinished:
            due += 1
        return len(self._answers) >= due

    def go_on(self) -> bool:
        """Note what has come, and say more; whether there is more to come."""
        while not self._is_over:
            if not self.is_heard:
                return True
            self.note()
            if not self._is_over:
                self.say()
        return False

    @property
    def _is_over(self) -> bool:
        """All is said, or it makes no sense to say more."""
        count = len(self.heard)
        return count == len(self.talk.heard) or (
            count > 0 and not agree(self.talk.heard[count - 1], self.heard[-1])
        )


class Far:
    """`patience` is for what is due and does not come, `silence` for what is not due; seconds."""

    def __init__(self, port: int, at_once: int = 200, patience: float = 3.0, silence: float = 0.3) -> None:
        self._port, self._at_once, self._patience, self._silence = port, at_once, patience, silence

    def hear(self, talks: Iterator[Talk]) -> Iterator[tuple[Talk, list[Heard]]]:
        """All talks, many at once; each as it ends, with what was heard of it."""
        lines: set[_Line] = set()
        with selectors.DefaultSelector() as selector:

            def ended(line: _Line) -> tuple[Talk, list[Heard]]:
                selector.unregister(line.socket)
                line.socket.close()
                lines.discard(line)
                return line.talk, line.heard

            while True:
                while len(lines) < self._at_once and (talk := next(talks, None)) is not None:
                    line = _Line(talk, self._port)
                    selector.register(line.socket, selectors.EVENT_READ, line)
                    lines.add(line)
                    line.say()
                if not lines:
                    return
                for key, _ in selector.select(0.05):
                    key.data.receive()
                    if not key.data.go_on():
                        yield ended(key.data)
                now = time.monotonic()
                for line in [line for line in lines if now - line.since > self._limit(line)]:
                    line.note()
                    if not line.go_on():
                        yield ended(line)

    def _limit(self, line: _Line) -> float:
        return self._silence if line.expected.is_unfinished else self._patience
