"""Tap: stands between a broker and a name server, passes all bytes on, and keeps the frames of the broker."""

import socket
from contextlib import suppress
from threading import Thread
from types import TracebackType
from typing import NamedTuple, Self

from tests.interop import wire

REGISTER = 103


class Caught(NamedTuple):
    """A frame as it came over the wire: its size with the length word, and what was in it."""

    size: int
    header_size: int
    command: wire.Answer


class Tap:
    """Listens at `address` for as long as it is entered."""

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self._target = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.frames: list[Caught] = []
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> Self:
        Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for end in (self._listener, *self._sockets):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def registrations(self) -> list[Caught]:
        """All registrations so far, in the order they came."""
        return [caught for caught in self.frames if caught.command.code == REGISTER]

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._target)
                self._sockets += [near, far]
                Thread(target=self._pass, args=(near, far, True), daemon=True).start()
                Thread(target=self._pass, args=(far, near, False), daemon=True).start()

    def _pass(self, near: socket.socket, far: socket.socket, keeps: bool) -> None:
        kept = bytearray()
        with suppress(OSError):
            while data := near.recv(1 << 16):
                far.sendall(data)
                if keeps:
                    kept += data
                    self._keep(kept)
        for end in (near, far):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        # The other thread closes the other end: it alone reads from it.
        near.close()
        self._sockets.remove(near)

    def _keep(self, data: bytearray) -> None:
        """Take whole frames off the front."""
        while len(data) >= 4 and len(data) >= (size := 4 + int.from_bytes(data[:4], "big")):
            header_size = int.from_bytes(data[4:8], "big") & 0xFFFFFF
            self.frames.append(Caught(size, header_size, wire.read_frame(bytes(data[4:size]))))
            del data[:size]
