"""The cost of name servers: CPU time per request, memory, and waits of other clients, in one run.

The server has the first processor for itself, the load the second. Java's server is measured after a warm-up.
"""

import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from namesrv_core.protocol import codec
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import build_request
from tests.bench import client_waits
from tests.bench.load import Cost, cpu_seconds, run
from tests.bench.requests import lookup, lookups, register
from tests.bench.scale import memory
from tests.interop.java_parts import JavaNameServer
from tests.interop.our_server import OurNameServer
from tests.interop.rust_part import RustNameServer

Server = OurNameServer | JavaNameServer | RustNameServer
SERVERS: dict[str, Callable[[Path], Server]] = {
    "nsadmin": OurNameServer,
    "Java 5.5.0": lambda home: JavaNameServer(home, jvm_flags=("-Xmx1g",)),
}


ROUNDS = 3
# Has no divisor in common with any number of peers, so that all have their turn, brokers among clients.
_SCATTERED = 7919


class Work(NamedTuple):
    """A load: the registrations before it, and the batches that each connection sends in turn."""

    name: str
    brokers: int
    topics: int
    batches: list[list[bytes]]
    depth: int
    warm_up: int
    requests: int


def works(scale: float) -> Iterator[Work]:
    for brokers in (4, 64):
        for connections, depth in ((64, 1), (16, 32)):
            name = f"route lookup, {brokers} brokers a topic, {connections} x {depth}"
            requests = int((200_000 if brokers == 4 else 80_000) * scale)
            yield Work(name, brokers, 1000, lookups(connections, depth), depth, 3 * requests, requests)
    for number in (1_000, 10_000, 80_000):
        times = max(int(200_000 / number * scale), 12)
        for kind, counters in (("unchanged", (1,)), ("changed", (1, 2))):
            sent = [[register(0, number, counter) for counter in counters]]
            yield Work(f"registration, {number} topics, {kind}", 1, number, sent, 1, times, times)
    packed = [[register(0, 100_000, compressed=True)]]
    yield Work("registration, 100000 topics, compressed, unchanged", 1, 1, packed, 1, 10, 50)


@contextmanager
def running(begin: Callable[[Path], Server], home: Path) -> Iterator[Server]:
    """A server that has the first processor for itself; what runs in here has the second."""
    with together({"it": begin}, home) as servers:
        yield servers["it"]


@contextmanager
def together(begins: Mapping[str, Callable[[Path], Server]], home: Path) -> Iterator[dict[str, Server]]:
    """Servers by name that share the first processor, to be asked one after the other."""
    before = os.sched_getaffinity(0)
    first, second = (sorted(before) * 2)[:2]
    os.sched_setaffinity(0, {first})
    servers: dict[str, Server] = {}
    try:
        for name, begin in begins.items():
            servers[name] = begin(home / name.replace(" ", "-"))
            servers[name].home.mkdir(parents=True, exist_ok=True)
            servers[name].start()
        os.sched_setaffinity(0, {second})
        yield servers
    finally:
        os.sched_setaffinity(0, before)
        for server in servers.values():
            server.kill()


@contextmanager
def registered(port: int, brokers: int, topics: int) -> Iterator[None]:
    """Brokers over connections that stay open: one that hangs up is forgotten."""
    with ExitStack() as stack:
        for broker in range(brokers):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            connection.sendall(register(broker, topics))
            client_waits.answer(connection)
        yield


def cost(server: Server, work: Work) -> Cost:
    with registered(server.port, work.brokers, work.topics):
        return run(server.port, server.child.pid, work.batches, work.depth, work.warm_up, work.requests)


def least(servers: Mapping[str, Server], work: Work, rounds: int = ROUNDS) -> dict[str, float]:
    """CPU microseconds of a request by server: the least of some rounds, in which they take turns.

    Whatever else the machine does makes a round dearer and never cheaper, and hits both.
    """
    timings: dict[str, list[float]] = {name: [] for name in servers}
    with ExitStack() as stack:
        for server in servers.values():
            stack.enter_context(registered(server.port, work.brokers, work.topics))
        for number in range(rounds):
            for name, server in servers.items():
                warm_up = work.requests // 10 if number else work.warm_up
                load = (work.batches, work.depth, warm_up, work.requests)
                timings[name].append(run(server.port, server.child.pid, *load).cpu)
    return {name: min(values) for name, values in timings.items()}


def share_of_pollers(server: Server, connections: int, brokers: int, period: float, seconds: float) -> float:
    """Percent of a processor for clients that ask for a route, brokers that register, each every `period` s.

    Four brokers have ten topics together.
    """
    with ExitStack() as stack:
        peers: list[tuple[socket.socket, bytes]] = []
        for number in range(connections + brokers):
            # From several addresses: one may not take most of the places there are.
            here = (f"127.0.0.{2 + number % 4}", 0)
            one = stack.enter_context(
                socket.create_connection(("127.0.0.1", server.port), source_address=here)
            )
            if number < brokers:
                asked = register(number, 10, first=number // 4 * 10)
            else:
                asked = lookup(number % (brokers * 10 // 4))
            one.sendall(asked)
            client_waits.answer(one)
            peers.append((one, asked))
        # Spread over the period, as those are who started at different times.
        step = period / len(peers)
        order = cycle(range(len(peers)))
        begun, cpu = time.perf_counter(), cpu_seconds(server.child.pid)
        for number in range(int(seconds / step)):
            time.sleep(max(begun + number * step - time.perf_counter(), 0))
            one, asked = peers[next(order) * _SCATTERED % len(peers)]
            one.sendall(asked)
            client_waits.answer(one)
        # By the time it should take: whoever asks late does not make a server look idle.
        return (cpu_seconds(server.child.pid) - cpu) / seconds * 100


class Memory(NamedTuple):
    """MiB, and KiB of a connection that says nothing."""

    idle: float
    queues: float
    connection: float


def memory_of(server: Server, connections: int = 2000) -> Memory:
    """Idle; what 64 brokers with 10,000 topics each add (640,000 queue datas); what a connection adds."""
    pid = server.child.pid
    idle = memory(pid)
    with ExitStack() as stack:
        for _ in range(connections):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            connection.sendall(codec.encode_command(build_request(RequestCode.GET_BROKER_CLUSTER_INFO)))
            client_waits.answer(connection)
        crowded = memory(pid)
        with registered(server.port, 64, 10_000):
            return Memory(idle, memory(pid) - crowded, (crowded - idle) * 1024 / connections)


def beside_lookups(server: Server, connections: int = 1000) -> client_waits.Waits:
    """How long so many new connections wait for their first answer while 64 others keep the server busy."""
    with registered(server.port, 4, 1000):
        batches = lookups(64, 8)
        _run(server, batches, 40_000)
        with client_waits.busy(lambda: _run(server, batches, 4_000)):
            return client_waits.waits(client_waits.storm(server.port, lookup(0), connections))


def beside_registrations(server: Server, topics: int, times: int = 10) -> client_waits.Waits:
    """How long a lookup a millisecond waits while a broker registers another version again and again."""
    frames = cycle([register(9, topics, counter) for counter in (1, 2)])
    with (
        registered(server.port, 4, 1000),
        socket.create_connection(("127.0.0.1", server.port)) as broker,
    ):
        done = 0

        def register_again() -> None:
            nonlocal done
            broker.sendall(next(frames))
            client_waits.answer(broker)
            done += 1

        register_again()
        with client_waits.busy(register_again):
            return client_waits.waits(client_waits.asked(server.port, lookup(0), lambda: done > times))


def _run(server: Server, batches: Sequence[Sequence[bytes]], requests: int) -> None:
    run(server.port, server.child.pid, batches, 8, 0, requests)
