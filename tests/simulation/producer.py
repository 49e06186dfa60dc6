"""A producer of the simulation, which follows the rules of RocketMQ's clients.

It reads the route of its topic every 30 s from one name server, and from the next one if that is down. It
keeps the last route that it got, also if the name server no longer has the topic. It sends to the writable
queues of brokers with a master, in turns. A slow one reads its route less often, and writes all the time.
One that is cut reaches no name server.
"""

from collections.abc import Hashable
from typing import TYPE_CHECKING, NamedTuple

from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import MASTER_BROKER_ID, Perm, RequestCode
from namesrv_core.protocol.command import build_request
from tests.simulation.world import World

if TYPE_CHECKING:
    from tests.simulation.broker import SimulatedBroker
    from tests.simulation.name_server import SimulatedNameServer

POLL_MS = 30_000


class CachedRoute(NamedTuple):
    """The route that a producer has: the writable brokers, and from where and when."""

    broker_names: tuple[str, ...]
    namesrv_addr: str
    read_ms: int


class Producer:
    def __init__(
        self,
        world: World,
        topic: str,
        name_servers: "list[SimulatedNameServer]",
        masters: "dict[str, SimulatedBroker]",
        send_ms: int,
        poll_ms: int = POLL_MS,
    ) -> None:
        self.world = world
        self.topic = topic
        self.send_ms, self.poll_ms = send_ms, poll_ms
        self.route: CachedRoute | None = None
        self.failed_sends: list[tuple[int, str]] = []
        self.is_cut = False
        self._last_facts: Hashable = None
        self._last_answer: tuple[str, ...] | None = None
        self._name_servers, self._masters = name_servers, masters
        self._server_index = world.random.randrange(len(name_servers))
        self._turn = world.random.randrange(8)

    def start(self) -> None:
        self._poll()
        self.world.call_after(self.world.random.randint(1, self.poll_ms), self._poll_again)
        self.world.call_after(self.world.random.randint(1, self.send_ms), self._send_again)

    def _poll_again(self) -> None:
        self._poll()
        self.world.call_after(self.poll_ms, self._poll_again)

    def _poll(self) -> None:
        for _ in () if self.is_cut else self._name_servers:
            server = self._name_servers[self._server_index]
            if server.is_up and not server.is_frozen:
                facts = server.facts
                if facts != self._last_facts:
                    self._last_facts = facts
                    request = build_request(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": self.topic})
                    reply = server.handle(request, 0)
                    self._last_answer = _writable_brokers(reply.body) if reply.code == 0 else None
                if self._last_answer is not None:
                    self.route = CachedRoute(self._last_answer, server.addr, self.world.true_ms)
                return
            self._server_index = (self._server_index + 1) % len(self._name_servers)

    def _send_again(self) -> None:
        self.world.call_after(self.send_ms, self._send_again)
        if self.route is None or not self.route.broker_names:
            return
        self._turn += 1
        name = self.route.broker_names[self._turn % len(self.route.broker_names)]
        broker = self._masters[name]
        if broker.is_up and not broker.is_frozen:
            broker.put_message(self.topic)
        else:
            self.failed_sends.append((self.world.true_ms, name))

    def may_write_to(self, broker_name: str) -> bool:
        return self.route is not None and broker_name in self.route.broker_names


_parsed_routes: dict[bytes, tuple[str, ...]] = {}


def _writable_brokers(route_body: bytes) -> tuple[str, ...]:
    names = _parsed_routes.get(route_body)
    if names is None:
        if len(_parsed_routes) > 5_000:
            _parsed_routes.clear()
        route = fastjson.decode_json(route_body)
        masters = {b["brokerName"] for b in route["brokerDatas"] if str(MASTER_BROKER_ID) in b["brokerAddrs"]}
        names = _parsed_routes[route_body] = tuple(
            q["brokerName"]
            for q in route["queueDatas"]
            if q["perm"] & Perm.WRITE and q["writeQueueNums"] and q["brokerName"] in masters
        )
    return names
