"""The connections of nsadmin in the simulation: a Pool whose requests reach simulated servers.

The real Caller signs, retries and judges above it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from namesrv_core.errors import ResponseCode
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.transport.exchange import Exchange
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.connection.connection_pool import CallScope, Pool
from tests.simulation.broker import SimulatedBroker
from tests.simulation.name_server import INFORMED_CHANNEL, NSADMIN_CHANNEL, SimulatedNameServer
from tests.simulation.virtual_disk import ProcessKilled
from tests.simulation.world import World

_LATENCY_MS = 2
_BUSY_REMARK = "[OVERLOAD]system busy, start flow control for a while"


class Network:
    """Carries the requests of nsadmin. `next_trouble` is what happens to the next request, if anything.

    `observed_ms` is when a drain began to read the name servers last. `sent_changes` counts the changes that
    the living process sent by server and name, and `last_changes` are those that it sent together last.
    """

    def __init__(
        self,
        world: World,
        name_servers: Mapping[str, SimulatedNameServer],
        brokers: Mapping[str, SimulatedBroker],
    ) -> None:
        self.world = world
        self.next_trouble: tuple[str, float] | None = None
        self.applied_changes: list[tuple[str, int]] = []
        self.sent_changes: Counter[tuple[str, str]] = Counter()
        self.last_changes: list[tuple[str, str]] = []
        self.last_look_ms = self.observed_ms = 0
        self.before_first_change: Callable[[], None] = lambda: None
        self.before_change: Callable[[str, int], None] = lambda addr, code: None
        self.after_change: Callable[[str, int], None] = lambda addr, code: None
        self.pool = SimulatedPool(self)
        self._name_servers, self._brokers = name_servers, brokers
        self._asked_addr = ""
        self._found_routes: dict[str | None, RemotingCommand] = {}

    def exchange(self, addr: str, request: RemotingCommand, timeout: float) -> RemotingCommand | CallError:
        """Send a request, and return its answer or why there is none."""
        world = self.world
        world.take_step(RequestCode.name_of(request.code))
        if request.code == RequestCode.GET_BROKER_CLUSTER_INFO:
            self.last_look_ms = world.true_ms
        server = self._name_servers.get(addr) or self._brokers[addr]
        channel_id = self._choose_channel(addr, request)
        trouble, self.next_trouble = self.next_trouble, None
        if trouble is None and server.is_up and not server.is_frozen and not server.is_cut:
            return self._deliver(addr, request, channel_id)
        kind, amount = trouble or ("", 0.0)
        if not server.is_up:
            return CallError(addr, "unconnected", "connection refused, no server listens on this port")
        if server.is_cut or kind == "lose request":
            world.pass_time(round(timeout * 1000))
            return CallError(addr, "timeout", f"no answer within {timeout:g} s")
        if server.is_frozen:
            if isinstance(server, SimulatedNameServer):
                server.waiting.append((request, channel_id))
            world.pass_time(round(timeout * 1000))
            return CallError(addr, "timeout", f"no answer within {timeout:g} s")
        if kind == "refuse request":
            # As a Java server does while its queue of requests is full.
            return build_reply(request, ResponseCode.SYSTEM_BUSY, remark=_BUSY_REMARK)
        if kind == "delay request":
            world.pass_time(round(amount * timeout * 1000))
            return self.exchange(addr, request, timeout)
        if kind == "deliver late":
            late_ms, run_number = round(timeout * 1000 * (1 + amount)), server.run_number
            world.call_after(late_ms, lambda: self._deliver_late(addr, request, channel_id, run_number))
            world.pass_time(round(timeout * 1000))
            return CallError(addr, "timeout", f"no answer within {timeout:g} s")
        answer = self._deliver(addr, request, channel_id)
        if kind == "delay answer":
            world.pass_time(round(amount * timeout * 1000))
        elif kind == "lose answer":
            world.pass_time(round(timeout * 1000))
            return CallError(addr, "timeout", f"no answer within {timeout:g} s")
        elif kind == "cut connection":
            return CallError(addr, "closed", "the connection was closed")
        return answer

    def _choose_channel(self, addr: str, request: RemotingCommand) -> int:
        """INFORMED_CHANNEL if nsadmin registers queues that its last requests, all to this server, found."""
        is_registration = request.code == RequestCode.REGISTER_TOPIC_IN_NAMESRV
        if addr != self._asked_addr or not (
            is_registration or request.code == RequestCode.GET_ROUTEINFO_BY_TOPIC
        ):
            self._found_routes.clear()
        self._asked_addr = addr
        route = self._found_routes.get((request.ext or {}).get("topic")) if is_registration else None
        is_informed = route is not None and _list_broker_names(request) <= _list_broker_names(route)
        return INFORMED_CHANNEL if is_informed else NSADMIN_CHANNEL

    def note_route(self, request: RemotingCommand, answer: RemotingCommand | CallError) -> None:
        """Note a route that nsadmin has read."""
        if request.code == RequestCode.GET_ROUTEINFO_BY_TOPIC and isinstance(answer, RemotingCommand):
            self._found_routes[(request.ext or {}).get("topic")] = answer

    def _deliver(self, addr: str, request: RemotingCommand, channel_id: int) -> RemotingCommand:
        name_server = self._name_servers.get(addr)
        if not self.applied_changes and RequestCode.is_change(request.code):
            self.before_first_change()
        if RequestCode.is_change(request.code):
            self.before_change(addr, request.code)
        reply = (
            self._brokers[addr].handle(request)
            if name_server is None
            else name_server.handle(request, channel_id)
        )
        if RequestCode.is_change(request.code):
            self.applied_changes.append((addr, request.code))
            self.after_change(addr, request.code)
            self.world.tell(f"nsadmin: {RequestCode.name_of(request.code)} to {addr}: code {reply.code}")
        return reply

    def _deliver_late(self, addr: str, request: RemotingCommand, channel_id: int, run_number: int) -> None:
        server = self._name_servers.get(addr) or self._brokers[addr]
        # A process that has ended takes the requests on its connections with it.
        if server.is_up and not server.is_frozen and server.run_number == run_number:
            if RequestCode.is_change(request.code):
                self.world.tell(f"a late {RequestCode.name_of(request.code)} arrives at {addr}")
            self._deliver(addr, request, channel_id)


def _list_broker_names(route: RemotingCommand) -> set[str]:
    """The brokers with queues in the body of a route."""
    return {q["brokerName"] for q in fastjson.decode_json(route.body)["queueDatas"]} if route.body else set()


class SimulatedPool(Pool):
    """The pool of a client of the simulation."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self._network = network

    def get_connections(self, access: Any) -> Any:
        return _SimulatedConnections(self._network)


class _SimulatedConnections:
    def __init__(self, network: Network) -> None:
        self._network = network

    def open_scope(self) -> CallScope:
        return CallScope()

    def send_requests(
        self,
        calls: Iterable[tuple[str, RemotingCommand]],
        timeout_seconds: float,
        observer: Any,
        scope: CallScope,
    ) -> list[RemotingCommand | CallError]:
        network, calls = self._network, list(calls)
        if not network.world.is_process_alive:
            raise ProcessKilled
        changes = [(a, RequestCode.name_of(r.code)) for a, r in calls if RequestCode.is_change(r.code)]
        if changes:
            network.last_changes = changes
            network.sent_changes.update(changes)
        answers = []
        for addr, request in calls:
            answer = network.exchange(addr, request, timeout_seconds)
            network.note_route(request, answer)
            answers.append(answer)
            if observer is not None:
                outcome = answer if isinstance(answer, CallError) else answer.code
                observer(Exchange(addr, request.code, network.world.true_ms / 1000, 0, outcome, 0, 0, 1, 1))
        network.world.pass_time(_LATENCY_MS)
        return answers

    def pause(self, pause_seconds: float, scope: CallScope) -> None:
        self._network.world.pause_seconds(pause_seconds)

    def lease_tunnel(self) -> None:
        return None

    def end_scope(self, scope: CallScope, end_reason: str) -> None:
        scope.end_reason = end_reason
