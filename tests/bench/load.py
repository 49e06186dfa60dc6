"""A closed loop of requests over many connections, driven by one thread, and its cost on the server."""

import os
import selectors
import socket
import struct
import time
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """The server's CPU microseconds per request, and the requests per second."""

    cpu: float
    rate: float


def cpu_seconds(pid: int) -> float:
    """User and system time of all threads of a process, dead ones too."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


class _Client:
    """One connection: sends a batch, waits for as many replies, sends the next."""

    def __init__(self, port: int, batches: Sequence[bytes], depth: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._batches = cycle(batches)
        self._depth = depth
        self._due = 0
        self._rest = b""

    def send(self) -> None:
        self._due = self._depth
        self.socket.sendall(next(self._batches))

    def receive(self) -> int:
        """Replies read; the next batch is sent once all of the last one's are here."""
        data = self.socket.recv(1 << 20)
        if not data:
            raise ConnectionError("the server closed a connection")
        data = self._rest + data
        position, frame_count = 0, 0
        while len(data) - position >= 4:
            (length,) = struct.unpack_from(">i", data, position)
            if position + 4 + length > len(data):
                break
            if b'"code":0,' not in data[position + 8 : position + 24]:
                raise AssertionError(f"failed answer: {data[position : position + 300]!r}")
            position += 4 + length
            frame_count += 1
        self._rest = data[position:]
        self._due -= frame_count
        if self._due == 0:
            self.send()
        return frame_count


def run(
    port: int, pid: int, batches: Sequence[Sequence[bytes]], depth: int, warm_up: int, requests: int
) -> Cost:
    """Drive the server with one connection for each of `batches`; the first `warm_up` are not counted."""
    selector = selectors.DefaultSelector()
    clients = [_Client(port, own, depth) for own in batches]
    try:
        for client in clients:
            selector.register(client.socket, selectors.EVENT_READ, client)
            client.send()
        _loop(selector, warm_up)
        cpu, started = cpu_seconds(pid), time.perf_counter()
        done = _loop(selector, requests)
        return Cost(
            (cpu_seconds(pid) - cpu) / done * 1e6,
            done / (time.perf_counter() - started),
        )
    finally:
        selector.close()
        for client in clients:
            client.socket.close()


def _loop(selector: selectors.BaseSelector, wanted: int) -> int:
    done = 0
    while done < wanted:
        for key, _ in selector.select():
            done += key.data.receive()
    return done
