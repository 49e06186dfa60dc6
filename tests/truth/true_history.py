"""TrueHistory, which watches all name servers of a simulation and notes what really happened to them."""

from collections.abc import Callable
from typing import Any, NamedTuple

from namesrv_core.events import QueueData
from tests.truth.true_facts import BrokerSilence, BrokerStay, KvChange, ServerRun, TopicQueues, TrueDrain
from tests.truth.virtual_name_server import VirtualNameServer

SILENCE_MS = 90_000
"""A name server reports a longer silence of a broker: three quarters of the 120 s after which it expires."""

_WIPE, _ADD = "WIPE_WRITE_PERM_OF_BROKER", "ADD_WRITE_PERM_OF_BROKER"
_BY_PERMISSION = "brokerPermission"
_WRITE = 2
_END_BY_CAUSE = {"UNREGISTER_BROKER": "unregistered"}

BrokerKey = tuple[str, str, int]
"""The name server, the name and the id of a broker."""


class _OpenDrain(NamedTuple):
    method: str
    since: int
    closed_topics: frozenset[str]


class TrueHistory:
    """The facts so far, and what lasts. Facts about tables come from the tables themselves."""

    def __init__(self, clock_ms: Callable[[], int]) -> None:
        self.facts: list[Any] = []
        self._clock_ms = clock_ms
        self._generations: dict[str, int] = {}
        self._run_starts: dict[str, int] = {}
        self._members: dict[str, dict[tuple[str, int], tuple[str, int]]] = {}
        self._queues: dict[str, dict[tuple[str, str], tuple[QueueData, int]]] = {}
        self._kv_values: dict[str, dict[tuple[str, str], str | None]] = {}
        self._drains: dict[tuple[str, str], _OpenDrain] = {}
        self._heard_at: dict[BrokerKey, int] = {}
        self._reported_silence: dict[BrokerKey, int] = {}
        self._missed_causes: dict[BrokerKey, set[str]] = {}

    def observe_tables(self, server: VirtualNameServer, cause: str) -> None:
        """Note what changed in the tables of a name server, and why."""
        if cause == "start":
            self._begin_run(server)
        elif server.state.route_generation == self._generations[server.server_name]:
            return
        self._generations[server.server_name] = server.state.route_generation
        arrived_names = self._observe_members(server, cause)
        self._observe_queues(server, cause, arrived_names)
        self._observe_kv_values(server, cause)

    def _begin_run(self, server: VirtualNameServer) -> None:
        name, now_ms = server.server_name, self._clock_ms()
        self._run_starts[name] = now_ms
        self._members[name], self._queues[name] = {}, {}
        for drained_server, broker_name in list(self._drains):
            if drained_server == name:
                self._end_drain(name, broker_name, now_ms, "forgotten")

    def end_run(self, server_name: str, run_end: str, frozen_since_ms: int | None = None) -> None:
        """Note that the process of a name server ended, perhaps while it was frozen."""
        now_ms = self._clock_ms()
        active_until = now_ms if frozen_since_ms is None else frozen_since_ms
        since = self._run_starts.pop(server_name)
        self.facts.append(ServerRun(server_name, since, now_ms, run_end, active_until))
        stay_end = "" if run_end == "running" else "server ended"
        for member in list(self._members[server_name]):
            self._end_stay(server_name, member, now_ms, stay_end)
        for queue_key in list(self._queues[server_name]):
            self._end_queues(server_name, queue_key, now_ms)

    def end_history(self) -> None:
        """Note what lasts until the end of the simulation."""
        now_ms = self._clock_ms()
        for name, broker_name in list(self._drains):
            self._end_drain(name, broker_name, now_ms, "holds")
        for name in list(self._run_starts):
            self.end_run(name, "running")
        for broker_key, since in self._reported_silence.items():
            self._add_silence(broker_key, since, "open")

    def hear_broker(self, server_name: str, broker_name: str, broker_id: int) -> None:
        """Note that a registration reached a name server."""
        broker_key, now_ms = (server_name, broker_name, broker_id), self._clock_ms()
        since = self._reported_silence.pop(broker_key, self._heard_at.get(broker_key, now_ms))
        if now_ms - since > SILENCE_MS:
            self._add_silence(broker_key, since, "resumed")
        self._heard_at[broker_key] = now_ms
        self._missed_causes.pop(broker_key, None)

    def miss_broker(self, server_name: str, broker_name: str, broker_id: int, cause: str) -> None:
        """Note why a registration did not reach a name server in time."""
        self._missed_causes.setdefault((server_name, broker_name, broker_id), set()).add(cause)

    def _observe_members(self, server: VirtualNameServer, cause: str) -> set[str]:
        now_ms, known_members = self._clock_ms(), self._members[server.server_name]
        members = {
            (group.broker_name, broker_id): addr
            for group in server.state.tables.broker_groups.values()
            for broker_id, addr in group.broker_addrs.items()
        }
        for member in known_members.keys() - members.keys():
            self._end_stay(server.server_name, member, now_ms, _END_BY_CAUSE.get(cause, cause))
        arrived_members = members.keys() - known_members.keys()
        known_members.update({member: (members[member], now_ms) for member in arrived_members})
        return {name for name, broker_id in arrived_members if broker_id == 0}

    def _end_stay(self, server_name: str, member: tuple[str, int], now_ms: int, stay_end: str) -> None:
        broker_addr, since = self._members[server_name].pop(member)
        self.facts.append(BrokerStay(server_name, *member, broker_addr, since, now_ms, stay_end))
        broker_key = (server_name, *member)
        heard_at = self._heard_at.pop(broker_key)
        silent_ms = now_ms - heard_at
        if stay_end in ("", "server ended"):
            # A name server that ended cannot tell the end of a silence. Its next run hears the broker.
            if silent_ms > SILENCE_MS:
                self._reported_silence[broker_key] = heard_at
        elif silent_ms > SILENCE_MS:
            self._add_silence(broker_key, heard_at, "lost")

    def _add_silence(self, broker_key: BrokerKey, since: int, silence_end: str) -> None:
        causes = tuple(sorted(self._missed_causes.get(broker_key, ())))
        self.facts.append(BrokerSilence(*broker_key, since, self._clock_ms(), silence_end, causes))

    def _observe_queues(self, server: VirtualNameServer, cause: str, arrived_names: set[str]) -> None:
        name, now_ms, tables = server.server_name, self._clock_ms(), server.state.tables
        known = self._queues[name]
        queues = {(t, n): q for t in tables.placements_by_topic for n, q in tables.queues_of_topic(t).items()}
        closed_topics: dict[str, set[str]] = {}
        opened_topics: dict[str, set[str]] = {}
        for queue_key in known.keys() | queues.keys():
            before, after = known.get(queue_key, (None, 0))[0], queues.get(queue_key)
            if before == after:
                continue
            topic, broker_name = queue_key
            was_open, is_open = _is_writable(before), _is_writable(after)
            if after is not None and was_open is not is_open:
                (opened_topics if is_open else closed_topics).setdefault(broker_name, set()).add(topic)
            if before is not None:
                self._end_queues(name, queue_key, now_ms)
            if after is not None:
                known[queue_key] = after, now_ms
        for broker_name, topics in opened_topics.items():
            drain = self._drains.get((name, broker_name))
            if drain is not None and drain.closed_topics & topics:
                is_restart = broker_name in arrived_names
                outcome = _judge_opening(cause, drain.method, is_restart=is_restart)
                self._end_drain(name, broker_name, now_ms, outcome)
        for broker_name, topics in closed_topics.items():
            if cause == _WIPE or broker_name in topics:
                method = _WIPE if cause == _WIPE else _BY_PERMISSION
                self._drains[name, broker_name] = _OpenDrain(method, now_ms, frozenset(topics))

    def _end_queues(self, server_name: str, queue_key: tuple[str, str], now_ms: int) -> None:
        queue, since = self._queues[server_name].pop(queue_key)
        self.facts.append(TopicQueues(server_name, *queue_key, *queue[1:5], since, now_ms))

    def _end_drain(self, server_name: str, broker_name: str, now_ms: int, outcome: str) -> None:
        drain = self._drains.pop((server_name, broker_name))
        self.facts.append(
            TrueDrain(
                server_name, broker_name, drain.method, len(drain.closed_topics), drain.since, now_ms, outcome
            )
        )

    def _observe_kv_values(self, server: VirtualNameServer, cause: str) -> None:
        values = {
            (n, key): v for n, t in server.state.kv_config.tables_by_namespace.items() for key, v in t.items()
        }
        known_values = self._kv_values.get(server.server_name, {})
        for kv_key in known_values.keys() | values.keys() if cause != "start" else ():
            before, after = known_values.get(kv_key), values.get(kv_key)
            if before != after:
                self.facts.append(KvChange(server.server_name, self._clock_ms(), *kv_key, before, after))
        self._kv_values[server.server_name] = values


def _is_writable(queue: QueueData | None) -> bool:
    return queue is not None and bool(queue.perm & _WRITE)


def _judge_opening(cause: str, method: str, *, is_restart: bool) -> str:
    if cause == _ADD:
        return "given back"
    if is_restart:
        return "restarted"
    return "given back" if method == _BY_PERMISSION else "undone"
