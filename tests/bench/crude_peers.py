"""Peers that send too much, too little or garbage, for `tests.bench.attacks`."""

import contextlib
import random
import resource
import socket
import time
import zlib
from multiprocessing.synchronize import Event

from namesrv_core.protocol import codec
from namesrv_core.protocol.command import build_request
from tests.support.wire import broker_ext, registration_body

ROUTE_REQUEST = codec.encode_command(build_request(105, {"topic": "topic-1"}))


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 10)


def send_repeatedly(port: int, stop: Event, sent: bytes, pause: float = 0.0) -> None:
    """Connect, send, read what comes, again and again."""
    while not stop.is_set():
        with contextlib.suppress(OSError), connect(port) as peer:
            peer.settimeout(2)
            while not stop.is_set():
                peer.sendall(sent)
                if not peer.recv(1 << 20):
                    break
                time.sleep(pause)


def stay_away(port: int, stop: Event) -> None:
    stop.wait()


def flood_with_lookups(port: int, stop: Event) -> None:
    """As many questions as one connection takes, and all answers read."""
    send_repeatedly(port, stop, ROUTE_REQUEST * 2000)


def leave_lists_unread(port: int, stop: Event) -> None:
    """Asks for much and reads nothing."""
    asked = codec.encode_command(build_request(206)) * 200
    open_ones = []
    for _ in range(50):
        peer = connect(port)
        peer.setblocking(False)
        with contextlib.suppress(OSError):
            peer.send(asked)
        open_ones.append(peer)
    stop.wait()


def ask_for_all_topics(port: int, stop: Event) -> None:
    """The answer with all topics, over and over."""
    send_repeatedly(port, stop, codec.encode_command(build_request(206)) * 20)


def send_bytewise(port: int, stop: Event) -> None:
    """A thousand frames that come byte by byte."""
    peers = [connect(port) for _ in range(1000)]
    for byte in ROUTE_REQUEST[:-1]:
        for peer in peers:
            if stop.is_set():
                return
            with contextlib.suppress(OSError):
                peer.send(bytes([byte]))


def connect_and_reset(port: int, stop: Event) -> None:
    """Connects, says a word, is gone by a reset."""
    while not stop.is_set():
        with contextlib.suppress(OSError), connect(port) as peer:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            peer.send(ROUTE_REQUEST[:20])


def send_garbage(port: int, stop: Event) -> None:
    rng = random.Random(1)
    while not stop.is_set():
        with contextlib.suppress(OSError), connect(port) as peer:
            peer.send(rng.randbytes(200))


def send_zip_bombs(port: int, stop: Event) -> None:
    """Compressed registrations of 200 MB each."""
    body = zlib.compress(bytes(200 << 20), 9)
    send_repeatedly(port, stop, codec.encode_command(build_request(103, broker_ext("bomb"), body)))


def nest_deeply(port: int, stop: Event) -> None:
    """Registrations nested a hundred thousand levels deep."""
    send_repeatedly(
        port, stop, codec.encode_command(build_request(103, broker_ext("deep"), b'{"a":' * 100_000))
    )


def change_all_topics(port: int, stop: Event) -> None:
    """Ten thousand topics that change with each registration."""
    bodies = [
        codec.encode_command(
            build_request(
                103,
                broker_ext("big", addr="10.9.9.9:1"),
                registration_body([f"{a}-{n}" for n in range(10_000)]),
            )
        )
        for a in "ab"
    ]
    send_repeatedly(port, stop, b"".join(bodies))


def write_kv_values(port: int, stop: Event) -> None:
    """KV config written as fast as the disk is."""
    send_repeatedly(
        port,
        stop,
        b"".join(
            codec.encode_command(build_request(100, {"namespace": "n", "key": f"k{n}", "value": "v" * 900}))
            for n in range(100)
        ),
    )


def connect_many(port: int, number: int) -> list[socket.socket]:
    """As many connections as this process may have, of so many."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    peers: list[socket.socket] = []
    with contextlib.suppress(OSError):
        for _ in range(number):
            peers.append(connect(port))
    return peers


def stay_idle(port: int, stop: Event) -> None:
    """Connections on which nothing is said."""
    peers = connect_many(port, 9_000)
    stop.wait()
    for peer in peers:
        peer.close()


def reconnect_together(port: int, stop: Event) -> None:
    """Thousands that connect, ask, and are all gone at once; again and again."""
    while not stop.is_set():
        peers = connect_many(port, 2_000)
        for peer in peers:
            with contextlib.suppress(OSError):
                peer.sendall(ROUTE_REQUEST)
        for peer in peers:
            with contextlib.suppress(OSError):
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                peer.recv(1 << 16)
            peer.close()
