"""A name server of the simulation: the state and the handlers of the real one, without sockets."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, cast

from namesrv_core.errors import ResponseCode
from namesrv_core.events import Event, QueueData, TopicsChanged
from namesrv_core.handlers.decoded_bodies import PreparedRequest
from namesrv_core.handlers.dispatch import handle_request
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.server.broker_departures import BrokerDepartures
from namesrv_core.state import liveness
from namesrv_core.state.broker_tables import LiveKey
from namesrv_core.state.kv_config import KvConfig
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.settings import NameServerSettings
from tests.simulation.world import World

V4_9_7 = 407
NSADMIN_CHANNEL, OTHER_CHANNEL, INFORMED_CHANNEL = 1, 2, 3
"""Whose request it is. `INFORMED_CHANNEL`: nsadmin registers queues that its last requests found there."""
_REGISTER = RequestCode.REGISTER_BROKER
_SCAN_MS, _SHORTEST_SILENCE_MS = 5_000, 80_000


class _ImmediateScheduler:
    """Does all steps at once: work takes no time."""

    def add_steps(self, steps: Iterator[None]) -> None:
        for _ in steps:
            pass


_numbers_by_contents: dict[Hashable, int] = {}


class SimulatedNameServer:
    """A name server. `is_old` has it answer as 4.9.7: it does not register single topics.

    `is_cut` is whether nsadmin cannot reach it; `cut_brokers` are the addresses that cannot. `shadow` is its
    state as it would be without the changes that nsadmin sent. `kv_tables` are on its disk.
    """

    def __init__(self, world: World, addr: str, *, is_old: bool) -> None:
        self.world = world
        self.addr = addr
        self.is_old = is_old
        self.run_number = self.registered_ms = 0
        self.is_up = self.is_frozen = self.is_cut = self.adds_order_confs = False
        self.cut_brokers: set[str] = set()
        self.waiting: list[tuple[RemotingCommand, int]] = []
        self.state: NameServerState
        self.shadow: NameServerState
        self.kv_tables: dict[str, dict[str, str | None]] = {}
        self._next_scan_ms = 0
        self._last_registrations: dict[LiveKey, tuple[object, ...]] = {}
        self._contents: tuple[tuple[int, int], int] | None = None
        self._departures: list[BrokerDepartures]

    def start(self) -> None:
        self.is_up, self.run_number = True, self.run_number + 1
        self.state, self.shadow = (
            NameServerState(
                NameServerSettings(orderMessageEnable=self.adds_order_confs),
                KvConfig(self.kv_tables),
                self.world.true_ms,
            )
            for _ in range(2)
        )
        self._next_scan_ms = self.world.true_ms
        self._last_registrations.clear()
        self._departures = [
            BrokerDepartures(
                state.tables, (), cast(Any, _ImmediateScheduler()), lambda events, cause, addr: None
            )
            for state in (self.state, self.shadow)
        ]

    def stop(self) -> None:
        self.is_up = self.is_frozen = False
        self.waiting = []
        self.kv_tables = {n: dict(t) for n, t in self.state.kv_config.tables_by_namespace.items()}

    def thaw(self) -> None:
        """Continue: what arrived meanwhile is handled now."""
        self.is_frozen = False
        waiting, self.waiting = self.waiting, []
        for request, channel_id in waiting:
            self.handle(request, channel_id)

    def handle(self, request: RemotingCommand, channel_id: int) -> RemotingCommand:
        self.scan_brokers()
        events: Sequence[Event] = ()
        if self.is_old and request.code == RequestCode.REGISTER_TOPIC_IN_NAMESRV:
            reply = build_reply(request, ResponseCode.REQUEST_CODE_NOT_SUPPORTED)
        else:
            reply, events = handle_request(self.state, request, channel_id, self.world.true_ms)
            if events and request.code == _REGISTER:
                self.registered_ms = self.world.true_ms
        if channel_id == INFORMED_CHANNEL and not _creates_queues(events):
            channel_id = NSADMIN_CHANNEL
        # Queues that are deleted after nsadmin has found them come back: it cannot know of that.
        if channel_id != NSADMIN_CHANNEL and (
            request.code == _REGISTER or RequestCode.is_change(request.code)
        ):
            handle_request(self.shadow, request, channel_id, self.world.true_ms)
        if self.is_old:
            reply.version = V4_9_7
        return reply

    def register(self, request: PreparedRequest, channel_id: int, broker: LiveKey) -> None:
        """Handle a registration. One that repeats the last one is a sign of life."""
        self.scan_brokers()
        now_ms, states = self.world.true_ms, (self.state, self.shadow)
        last_request, *last = self._last_registrations.get(broker, (None,))
        if last_request is request and last == [channel_id, *(s.tables.generation for s in states)]:
            for state in states:
                liveness.end_silence(state.tables, broker, now_ms)
                liveness.record_heartbeat(state.tables, broker, now_ms)
            return
        self.handle(request, channel_id)
        generations = (state.tables.generation for state in states)
        self._last_registrations[broker] = (request, channel_id, *generations)

    def end_channel(self, channel_id: int) -> None:
        if self.is_up:
            for departures in self._departures:
                departures.end_channel(channel_id, "channel closed", "")

    def scan_brokers(self) -> None:
        """Remove silent brokers. Done late, but before anybody could notice."""
        now_ms = self.world.true_ms
        if now_ms >= self._next_scan_ms:
            scanned_ms = now_ms - now_ms % _SCAN_MS
            heard = [scanned_ms]
            for state, departures in zip((self.state, self.shadow), self._departures, strict=True):
                departures.expire_silent_brokers(scanned_ms)
                heard += [live.heard_at_ms for live in state.tables.live_brokers.values()]
            # Nobody can be silent or expire before.
            self._next_scan_ms = max(scanned_ms + _SCAN_MS, min(heard) + _SHORTEST_SILENCE_MS)

    @property
    def facts(self) -> Hashable:
        """Equal for name servers that answer the same about brokers and routes."""
        if not self.is_up:
            return self.addr
        self.scan_brokers()
        generation = self.run_number, self.state.route_generation
        if self._contents is None or self._contents[0] != generation:
            tables = self.state.tables
            contents = (
                frozenset(
                    (t, frozenset(p.broker_queues.values())) for t, p in tables.placements_by_topic.items()
                ),
                frozenset(
                    (group.cluster_name, name, frozenset(group.broker_addrs.items()))
                    for name, group in tables.broker_groups.items()
                ),
                frozenset((n, *t.items()) for n, t in self.state.kv_config.tables_by_namespace.items()),
            )
            self._contents = generation, _numbers_by_contents.setdefault(contents, len(_numbers_by_contents))
        return self.addr, self.is_old, self.is_frozen, self.is_cut, self._contents[1]

    def queues_of(self, broker_name: str, *, in_shadow: bool = False) -> dict[str, QueueData]:
        """The queues of a broker's topics in its routes."""
        self.scan_brokers()
        tables = (self.shadow if in_shadow else self.state).tables
        return {t: tables.queues_of_topic(t)[broker_name] for t in tables.topics_of_broker(broker_name)}


def _creates_queues(events: Sequence[Event]) -> bool:
    return any(c.before is None for e in events if isinstance(e, TopicsChanged) for c in e.changes)
