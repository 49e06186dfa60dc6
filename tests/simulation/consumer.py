"""Clients of brokers whose queues count: a consumer group that shares queues, and a producer that fills them.

A consumer reads routes every 30 s from one name server, and shares out the queues of its routes every 20 s
with the others of its group. It starts at the committed offset, and without one at the end.
"""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import MASTER_BROKER_ID, Perm, RequestCode
from namesrv_core.protocol.command import build_request
from tests.simulation.name_server import SimulatedNameServer
from tests.simulation.producer import POLL_MS, CachedRoute, Producer
from tests.simulation.queue_broker import QueueBroker
from tests.simulation.world import World

_SHARE_MS = 20_000


class RoutedQueues(NamedTuple):
    """The queues of a broker in a route."""

    broker_name: str
    reads: int
    writes: int


class RouteReader:
    """Reads routes from one name server, and from the next one if that does not answer."""

    def __init__(self, world: World, name_servers: Sequence[SimulatedNameServer], random: Random) -> None:
        self.world = world
        self._servers, self._index = name_servers, random.randrange(len(name_servers))

    def read(self, topic: str) -> tuple[tuple[RoutedQueues, ...], str] | None:
        """Return the queues of a topic and the name server; None if nobody has a route."""
        found = self.read_body(topic)
        return None if found is None else (_parse_route(found[0]), found[1])

    def read_body(self, topic: str) -> tuple[bytes, str] | None:
        """Return the route of a topic and the name server; None if nobody has one."""
        request = build_request(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic})
        for _ in self._servers:
            server = self._servers[self._index]
            if server.is_up and not server.is_frozen:
                reply = server.handle(request, 0)
                return (reply.body, server.addr) if reply.code == 0 else None
            self._index = (self._index + 1) % len(self._servers)
        return None


_parsed: dict[bytes, tuple[RoutedQueues, ...]] = {}


def _parse_route(body: bytes) -> tuple[RoutedQueues, ...]:
    queues = _parsed.get(body)
    if queues is None:
        if len(_parsed) > 5_000:
            _parsed.clear()
        route = fastjson.decode_json(body)
        masters = {b["brokerName"] for b in route["brokerDatas"] if str(MASTER_BROKER_ID) in b["brokerAddrs"]}
        queues = _parsed[body] = tuple(
            RoutedQueues(
                q["brokerName"],
                q["readQueueNums"] if q["perm"] & Perm.READ else 0,
                q["writeQueueNums"] if q["perm"] & Perm.WRITE else 0,
            )
            for q in sorted(route["queueDatas"], key=lambda q: q["brokerName"])
            if q["brokerName"] in masters
        )
    return queues


class QueueProducer(Producer):
    """A producer that sends to the queues of its route in turns."""

    def __init__(
        self, topic: str, reader: RouteReader, masters: dict[str, QueueBroker], send_ms: int
    ) -> None:
        super().__init__(reader.world, topic, list(reader._servers), {**masters}, send_ms)
        self.reader, self.queue_masters = reader, masters
        self.queues: list[tuple[str, int]] = []

    def _poll(self) -> None:
        found = self.reader.read(self.topic)
        if found is not None:
            queues, addr = found
            self.use_queues([(q.broker_name, i) for q in queues for i in range(q.writes)], addr)

    def use_queues(self, queues: list[tuple[str, int]], namesrv_addr: str) -> None:
        self.queues = queues
        self.route = CachedRoute(tuple({name: None for name, _ in queues}), namesrv_addr, self.world.true_ms)

    def _send_again(self) -> None:
        self.world.call_after(self.send_ms, self._send_again)
        if self.queues:
            self._turn += 1
            name, queue_id = self.queues[self._turn % len(self.queues)]
            broker = self.queue_masters[name]
            if broker.is_up and not broker.is_frozen:
                broker.store(self.topic, queue_id)


class ConsumerGroup:
    """A group with its clients. nsadmin need not wait for an ignored one."""

    def __init__(self, name: str, topics: tuple[str, ...], *, is_ignored: bool = False) -> None:
        self.name, self.topics, self.is_ignored = name, topics, is_ignored
        self.clients: list[Consumer] = []

    def reads(self, broker: QueueBroker, topic: str) -> bool:
        return topic in self.topics and any(c.is_connected_to(broker) for c in self.clients)


class Consumer:
    """A client of a group. `held` has the next offset of each of its queues."""

    def __init__(
        self, group: ConsumerGroup, reader: RouteReader, masters: dict[str, QueueBroker], read_ms: int
    ) -> None:
        self.group, self.world, self.read_ms = group, reader.world, read_ms
        self.client_id = f"10.0.2.{len(group.clients) + 1}@{group.name}"
        self.held: dict[tuple[str, str, int], int] = {}
        self._reader, self._masters = reader, masters
        self._routes: dict[str, tuple[RoutedQueues, ...]] = {}
        group.clients.append(self)

    def is_connected_to(self, broker: QueueBroker) -> bool:
        return any(q.broker_name == broker.spec.broker_name for route in self._routes.values() for q in route)

    def start(self) -> None:
        self._read_routes()
        self._share()
        random = self.world.random
        self.world.call_after(random.randint(1, POLL_MS), self._read_routes_again)
        self.world.call_after(random.randint(1, _SHARE_MS), self._share_again)
        self.world.call_after(random.randint(1, self.read_ms), self._consume_again)

    def _read_routes_again(self) -> None:
        self._read_routes()
        self.world.call_after(POLL_MS, self._read_routes_again)

    def _read_routes(self) -> None:
        for topic in self.group.topics:
            if (found := self._reader.read(topic)) is not None:
                self._routes[topic] = found[0]

    def _share_again(self) -> None:
        self._share()
        self.world.call_after(_SHARE_MS, self._share_again)

    def _share(self) -> None:
        clients = self.group.clients
        index, count = clients.index(self), len(clients)
        mine = set()
        for topic, route in self._routes.items():
            queues = [(q.broker_name, topic, i) for q in route for i in range(q.reads)]
            base, extra = divmod(len(queues), count)
            begin = index * base + min(index, extra)
            mine.update(queues[begin : begin + base + (index < extra)])
        self.held = {queue: offset for queue, offset in self.held.items() if queue in mine}
        for queue in sorted(mine - self.held.keys()):
            name, topic, queue_id = queue
            broker = self._masters[name]
            if broker.is_readable(self.group.name, topic, queue_id):
                committed = broker.queues.committed.get((self.group.name, topic, queue_id))
                self.held[queue] = broker.queues.end_of(topic, queue_id) if committed is None else committed

    def _consume_again(self) -> None:
        self.world.call_after(self.read_ms, self._consume_again)
        for (name, topic, queue_id), offset in list(self.held.items()):
            broker = self._masters[name]
            if broker.is_readable(self.group.name, topic, queue_id):
                next_offset = broker.read_queue(self.group.name, topic, queue_id, offset, 30)
                self.held[name, topic, queue_id] = next_offset
                broker.queues.committed[self.group.name, topic, queue_id] = next_offset
