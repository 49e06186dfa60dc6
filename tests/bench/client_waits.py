"""Waits of clients: one of a thousand that connect at once, and one beside a busy broker."""

import os
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import cycle
from statistics import quantiles
from threading import Event, Thread
from typing import NamedTuple


class Waits(NamedTuple):
    """The waits of clients in milliseconds."""

    median: float
    p99: float
    longest: float


def waits(seconds: Sequence[float]) -> Waits:
    cut = quantiles(seconds, n=100)
    return Waits(cut[49] * 1000, cut[98] * 1000, max(seconds) * 1000)


@contextmanager
def busy(work: Callable[[], None]) -> Iterator[None]:
    """`work` is run again and again in a thread meanwhile."""
    ended = Event()

    def go_on() -> None:
        while not ended.is_set():
            work()

    thread = Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def going_first() -> Iterator[None]:
    """This thread before others, if it may."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def answer(connection: socket.socket) -> bytes:
    """One whole frame."""
    data = b""
    while len(data) < 4 or len(data) < 4 + int.from_bytes(data[:4], "big"):
        piece = connection.recv(1 << 20)
        if not piece:
            raise ConnectionError("the server closed a connection")
        data += piece
    return data


def asked(
    port: int, request: bytes, until: Callable[[], bool], every: float = 0.001, connections: int = 16
) -> list[float]:
    """Seconds from when a request was due to its answer: one `every` so many seconds, of others in turn.

    Nobody waits for the answer of another one, so that one stall is not counted as many. Where that is
    allowed, this thread goes before all others of its processor, whose turns are none of the server's.
    """
    latencies: list[float] = []
    with ExitStack() as stack:
        stack.enter_context(going_first())
        selector = stack.enter_context(selectors.DefaultSelector())
        peers = [_Asking(port) for _ in range(connections)]
        for peer in peers:
            stack.enter_context(peer.socket)
            selector.register(peer.socket, selectors.EVENT_READ, peer)
        due, turns = time.perf_counter(), cycle(peers)
        # What was asked is waited for, so that the last stall counts, too.
        while not (is_over := until()) or any(peer.due for peer in peers):
            if not is_over and time.perf_counter() >= due:
                next(turns).ask(request, due)
                due += every
            for key, _ in selector.select(max(due - time.perf_counter(), 0)):
                latencies += key.data.hear()
    return latencies


class _Asking:
    """A connection with the times at which what is not answered yet was due."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.due: deque[float] = deque()
        self._rest = b""

    def ask(self, request: bytes, due: float) -> None:
        self.socket.sendall(request)
        self.due.append(due)

    def hear(self) -> Iterator[float]:
        piece = self.socket.recv(1 << 20)
        if not piece:
            raise ConnectionError("the server closed a connection")
        now = time.perf_counter()
        self._rest += piece
        while len(self._rest) >= 4 and len(self._rest) >= (end := 4 + int.from_bytes(self._rest[:4], "big")):
            self._rest = self._rest[end:]
            yield now - self.due.popleft()


def storm(port: int, request: bytes, number: int = 1000) -> list[float]:
    """Seconds until each of so many new connections has its first answer."""
    ready_keys: list[float] = []
    selector = selectors.DefaultSelector()
    with ExitStack() as stack:
        began = time.perf_counter()
        for _ in range(number):
            one = stack.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
            selector.register(one, selectors.EVENT_WRITE)
        while len(ready_keys) < number:
            for key, _ in selector.select():
                one = key.fileobj  # type: ignore[assignment]
                if key.events == selectors.EVENT_WRITE:
                    one.send(request)
                    selector.modify(one, selectors.EVENT_READ)
                elif one.recv(1 << 16):
                    ready_keys.append(time.perf_counter() - began)
                    selector.unregister(one)
                else:
                    raise ConnectionError("the server closed a new connection")
    return ready_keys
