"""`python -m tests.bench.attacks`: what good clients notice of bad peers: latency while each attack runs.

The server is a process of its own; good clients ask for a route one after the other and note how long each
answer takes. All are on this machine, so a part of what is noted is the attackers' own use of it. With
`--write` the table goes into docs/reliability.md.
"""

import argparse
import contextlib
import os
import random
import resource
import socket
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path

from namesrv_core.protocol import codec
from namesrv_core.protocol.command import build_request
from tests.bench import figures
from tests.interop.our_server import OurNameServer
from tests.support.wire import broker_ext, registration_body

Attack = Callable[[int, Event], None]

_ASK = codec.encode_command(build_request(105, {"topic": "topic-1"}))


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 10)


def _each(port: int, stop: Event, sent: bytes, pause: float = 0.0) -> None:
    """Connect, send, read what comes, again and again."""
    while not stop.is_set():
        with contextlib.suppress(OSError), connected(port) as peer:
            peer.settimeout(2)
            while not stop.is_set():
                peer.sendall(sent)
                if not peer.recv(1 << 20):
                    break
                time.sleep(pause)


def nobody(port: int, stop: Event) -> None:
    stop.wait()


def flood(port: int, stop: Event) -> None:
    """As many questions as one connection takes, and all answers read."""
    _each(port, stop, _ASK * 2000)


def not_reading(port: int, stop: Event) -> None:
    """Asks for much and reads nothing."""
    asked = codec.encode_command(build_request(206)) * 200
    open_ones = []
    for _ in range(50):
        peer = connected(port)
        peer.setblocking(False)
        with contextlib.suppress(OSError):
            peer.send(asked)
        open_ones.append(peer)
    stop.wait()


def all_topics(port: int, stop: Event) -> None:
    """The answer with all topics, over and over."""
    _each(port, stop, codec.encode_command(build_request(206)) * 20)


def slow_loris(port: int, stop: Event) -> None:
    """A thousand frames that come byte by byte."""
    peers = [connected(port) for _ in range(1000)]
    for byte in _ASK[:-1]:
        for peer in peers:
            if stop.is_set():
                return
            with contextlib.suppress(OSError):
                peer.send(bytes([byte]))


def storm(port: int, stop: Event) -> None:
    """Connects, says a word, is gone by a reset."""
    while not stop.is_set():
        with contextlib.suppress(OSError), connected(port) as peer:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            peer.send(_ASK[:20])


def garbage(port: int, stop: Event) -> None:
    rng = random.Random(1)
    while not stop.is_set():
        with contextlib.suppress(OSError), connected(port) as peer:
            peer.send(rng.randbytes(200))


def bombs(port: int, stop: Event) -> None:
    """Compressed registrations of 200 MB each."""
    body = zlib.compress(bytes(200 << 20), 9)
    _each(port, stop, codec.encode_command(build_request(103, broker_ext("bomb"), body)))


def deep(port: int, stop: Event) -> None:
    """Registrations nested a hundred thousand levels deep."""
    _each(port, stop, codec.encode_command(build_request(103, broker_ext("deep"), b'{"a":' * 100_000)))


def large(port: int, stop: Event) -> None:
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
    _each(port, stop, b"".join(bodies))


def puts(port: int, stop: Event) -> None:
    """KV config written as fast as the disk is."""
    _each(
        port,
        stop,
        b"".join(
            codec.encode_command(build_request(100, {"namespace": "n", "key": f"k{n}", "value": "v" * 900}))
            for n in range(100)
        ),
    )


def _crowd(port: int, number: int) -> list[socket.socket]:
    """As many connections as this process may have, of so many."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    peers: list[socket.socket] = []
    with contextlib.suppress(OSError):
        for _ in range(number):
            peers.append(connected(port))
    return peers


def idle(port: int, stop: Event) -> None:
    """Connections on which nothing is said."""
    peers = _crowd(port, 9_000)
    stop.wait()
    for peer in peers:
        peer.close()


def reconnecting(port: int, stop: Event) -> None:
    """Thousands that connect, ask, and are all gone at once; again and again."""
    while not stop.is_set():
        peers = _crowd(port, 2_000)
        for peer in peers:
            with contextlib.suppress(OSError):
                peer.sendall(_ASK)
        for peer in peers:
            with contextlib.suppress(OSError):
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                peer.recv(1 << 16)
            peer.close()


ATTACKS: dict[str, tuple[Attack, int]] = {
    "none": (nobody, 1),
    "one flood of questions": (flood, 1),
    "eight floods of questions": (flood, 8),
    "lists of all topics, 4 peers": (all_topics, 4),
    "50 readers that do not read": (not_reading, 1),
    "1,000 slow senders": (slow_loris, 1),
    "connects and resets, 4 peers": (storm, 4),
    "9,000 idle connections": (idle, 1),
    "2,000 reconnect at once, again and again": (reconnecting, 1),
    "garbage, 4 peers": (garbage, 4),
    "zip bombs of 200 MB": (bombs, 1),
    "JSON nested 100,000 levels deep": (deep, 1),
    "10,000 topics that change each time": (large, 1),
    "KV writes": (puts, 1),
}


def good(port: int, until: float) -> list[float]:
    """A client that asks, waits for the answer, and rests a moment: seconds of each. ConnectionError."""
    taken = []
    with connected(port) as peer:
        while time.monotonic() < until:
            begun = time.perf_counter()
            peer.sendall(_ASK)
            answer = peer.recv(1 << 16)
            if b'"code":0,' not in answer:
                raise ConnectionError(f"a good client was answered {answer[:100]!r}")
            taken.append(time.perf_counter() - begun)
            time.sleep(0.002)
    return taken


def latencies(port: int, seconds: float, clients: int = 4) -> list[float]:
    """Seconds that each answer took, sorted. ConnectionError where one client did not get its answer."""
    until = time.monotonic() + seconds
    with ThreadPoolExecutor(clients) as pool:
        taken = list(pool.map(good, [port] * clients, [until] * clients))
    return sorted(chain.from_iterable(taken))


@contextlib.contextmanager
def attacked(port: int, attack: Attack, peers: int) -> Iterator[None]:
    """While it runs, in processes of its own."""
    context = get_context("spawn")
    stop = context.Event()
    processes = [context.Process(target=attack, args=(port, stop), daemon=True) for _ in range(peers)]
    for process in processes:
        process.start()
    time.sleep(1)
    try:
        yield
    finally:
        stop.set()
        for process in processes:
            process.join(3)
            process.kill()
            process.join()


@contextlib.contextmanager
def victim(
    config: Mapping[str, str] | None = None, files: Mapping[str, str] | None = None
) -> Iterator[OurNameServer]:
    """A name server with two brokers of 1,000 topics; it runs beside `files`, which are there before it."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (files or {}).items():
            (Path(folder) / name).write_text(text)
        with OurNameServer(Path(folder), config) as server, connected(server.port) as peer:
            fill(peer)
            yield server


def fill(peer: socket.socket) -> None:
    """Two brokers register; they are forgotten when this connection ends, or after two minutes."""
    body = registration_body([f"topic-{number}" for number in range(1000)])
    for name in "ab":
        peer.sendall(
            codec.encode_command(build_request(103, broker_ext(name, addr=f"10.0.0.{ord(name)}:1"), body))
        )
        peer.recv(1 << 16)


def memory(pid: int) -> float:
    """MiB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def main() -> int:
    flags = argparse.ArgumentParser(prog="python -m tests.bench.attacks", description=__doc__)
    flags.add_argument("--seconds", type=float, default=5.0, help="how long each attack runs (5)")
    flags.add_argument("--only", default="", metavar="TEXT", help="only attacks with TEXT in their names")
    flags.add_argument("--write", action="store_true", help="write the table into docs/reliability.md")
    asked = flags.parse_args()
    lines = [
        f"| attack | answers in {asked.seconds:g} s | p50 ms | p99 ms | longest ms | server MiB |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    print(*lines, sep="\n", flush=True)
    for name in (name for name in ATTACKS if asked.only in name):
        lines.append(row(name, asked.seconds))
        print(lines[-1], flush=True)
    lines += ["", figures.machine()]
    if asked.write:
        figures.write(figures.RELIABILITY, "attacks", lines)
    return 0


def row(name: str, seconds: float) -> str:
    """What good clients notice of an attack, as a row of the table."""
    attack, peers = ATTACKS[name]
    with victim() as server, attacked(server.port, attack, peers):
        found = [1000 * value for value in latencies(server.port, seconds)]
        size = memory(server.child.pid)
    p50, p99 = found[len(found) // 2], found[len(found) * 99 // 100]
    cells = (name, f"{len(found):,}", f"{p50:.2f}", f"{p99:.1f}", f"{found[-1]:.1f}", f"{size:.0f}")
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
