"""The state machine of a drain: decides the next step from the observations. Pure. Times are in ms.

Rule: a decision depends only on the state, which is saved in a file, and on observations. A killed drain that
is started again ends in the same state. It only repeats the waits.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from nsadmin.client.consumers.lag import Lag
from nsadmin.console.phrases import abbreviate_names, count_noun
from nsadmin.operations.drain import events
from nsadmin.operations.drain.facts import BrokerCounters, ClusterObservation, NameServerFacts
from nsadmin.operations.drain.reopen_causes import ReopenExplainer
from nsadmin.operations.drain.risks import find_lone_topics, likely_source
from nsadmin.operations.drain.safety import SafetyRules, list_waiting_for
from nsadmin.operations.drain.state import DrainPhase, DrainState, QueueSnapshot
from nsadmin.operations.run_folder import RunEvent

_MAX_NAMED = 3
_MINUTE_MS = 60_000
_SAMPLED_MS = 20_000
"""A broker's counters by topic are complete up to this long ago."""


class DrainDecision(NamedTuple):
    """The events of an observation, and the name servers that must remove the write permission."""

    events: list[RunEvent]
    servers_to_wipe: tuple[str, ...]


class DrainStateMachine:
    """The caller saves `snapshot` and then `state` before it carries out a decision."""

    def __init__(self, rules: SafetyRules, state: DrainState, snapshot: QueueSnapshot) -> None:
        self.safety_rules = rules
        self.state = state
        self.snapshot = snapshot
        self.unknown_servers: dict[str, str] = {}
        """The errors of the name servers that did not answer the last observation, by address."""
        self._gone_servers: set[str] = set()
        self._left_open: dict[str, list[str]] = {}
        self._last_observation: ClusterObservation | None = None
        self._quiet_count = 0
        self._users_quiet_since_ms: int | None = None
        self._reopen_explainer = ReopenExplainer()

    @property
    def is_safe(self) -> bool:
        """Whether the broker can be stopped."""
        return self.state.phase == "safe"

    @property
    def unsure_servers(self) -> tuple[str, ...]:
        """The name servers whose clients may still write: without an answer, or without the broker."""
        return *self.unknown_servers, *sorted(self._gone_servers)

    @property
    def last_counters(self) -> BrokerCounters | None:
        """The broker's counters of the last observation."""
        return None if self._last_observation is None else self._last_observation.counters

    def needs_own_topics(self, servers: Iterable[NameServerFacts]) -> bool:
        """Whether an observation with these facts needs the broker's own topics, to explain what is open."""
        return not self.state.durable and (
            not self._reopen_explainer.has_topics or any(server.open_topics for server in servers)
        )

    def process_observation(self, observation: ClusterObservation) -> DrainDecision:
        """Update the state by an observation, and decide what to do."""
        drain_events: list[RunEvent] = []
        open_servers = [
            server
            for server in observation.servers
            if self._process_server(server, observation, drain_events)
        ]
        if open_servers:
            self._mark_reopened(open_servers, observation.time_ms, drain_events)
        else:
            self._mark_closed(observation, drain_events)
        lone_topics = self._find_lone_topics(observation)
        self._left_open = {
            s.namesrv_addr: s.open_topics for s in open_servers if s.namesrv_addr in lone_topics
        }
        self._judge_safety(observation, lone_topics, drain_events)
        self._last_observation = observation
        self._reopen_explainer.remember_topics(observation.own_topics)
        self.state = self.state._replace(updated=observation.time_ms)
        servers_to_wipe = (
            ()
            if self.state.durable
            else tuple(s.namesrv_addr for s in open_servers if s.namesrv_addr not in lone_topics)
        )
        self._count_wipes(servers_to_wipe, 1)
        return DrainDecision(drain_events, servers_to_wipe)

    def _find_lone_topics(self, observation: ClusterObservation) -> dict[str, list[str]]:
        """Return the topics that only this broker could take, by name server; none if that is allowed."""
        if observation.system_topics is None:
            return {}
        saved_queues = self.snapshot.queues_by_server
        lone_topics = {
            s.namesrv_addr: find_lone_topics(
                s, saved_queues.get(s.namesrv_addr, {}), observation.system_topics
            )
            for s in observation.servers
        }
        return {addr: topics for addr, topics in lone_topics.items() if topics}

    def _count_wipes(self, addrs: Iterable[str], count_step: int) -> None:
        """Count the wipes in advance: if their outcome is lost, a topic that is open later was reopened."""
        counts = dict(self.state.wipes)
        for addr in addrs:
            counts[addr] = counts.get(addr, 0) + count_step
        self.state = self.state._replace(wipes=counts)

    def record_wipes(self, errors: Mapping[str, str | None], now_ms: int) -> list[RunEvent]:
        """Record the outcome of the wipes, and return their events."""
        counts = self.state.wipes
        told: list[RunEvent] = [
            events.Wiped(now_ms, addr, counts[addr], error) for addr, error in errors.items()
        ]
        self._count_wipes((addr for addr, error in errors.items() if error is not None), -1)
        return told

    def _process_server(
        self, server: NameServerFacts, observation: ClusterObservation, drain_events: list[RunEvent]
    ) -> bool:
        """Process the facts of one name server, and return whether clients may write there."""
        addr = server.namesrv_addr
        if server.error is not None:
            if addr not in self.unknown_servers:
                drain_events.append(events.ServerLost(observation.time_ms, addr, server.error))
            self.unknown_servers[addr] = server.error
            return False
        was_lost = self.unknown_servers.pop(addr, None) is not None
        was_gone = addr in self._gone_servers
        has_changed_registration = was_gone == bool(server.member_addrs)
        if (was_lost or has_changed_registration) and not self.is_safe:
            # Its clients could not refresh their routes in the meantime: the settle time begins again.
            self.state = self.state._replace(closed_since=None)
        if was_lost:
            drain_events.append(events.ServerBack(observation.time_ms, addr))
        if not server.member_addrs:
            if not was_gone and addr in self.snapshot.queues_by_server:
                drain_events.append(events.BrokerGone(observation.time_ms, addr))
            self._gone_servers.add(addr)
            return False
        if was_gone:
            self._gone_servers.discard(addr)
            drain_events.append(events.BrokerBack(observation.time_ms, addr))
        if addr not in self.snapshot.queues_by_server and not (
            self.state.durable and self.state.permission is not None
        ):
            self.snapshot = self.snapshot._replace(
                queues_by_server={**self.snapshot.queues_by_server, addr: server.queues_by_topic}
            )
            drain_events.append(events.SnapshotTaken(observation.time_ms, addr, len(server.topics)))
        was_left_open = server.open_topics == self._left_open.get(addr)
        if server.open_topics and self.state.wipes.get(addr) and not was_left_open:
            cause = self._guess_cause(server, observation, was_lost, was_gone)
            drain_events.append(events.Reopened(observation.time_ms, addr, tuple(server.open_topics), cause))
            self._reopen_explainer.remember_topics(observation.own_topics, addr)
        return bool(server.open_topics)

    def _guess_cause(
        self, server: NameServerFacts, observation: ClusterObservation, was_lost: bool, was_gone: bool
    ) -> str:
        previous = self.last_counters
        if (
            previous
            and previous.boot_ms
            and observation.counters.boot_ms
            and previous.boot_ms != observation.counters.boot_ms
        ):
            return "the broker restarted"
        if was_lost:
            return "the name server restarted, or the broker lost its connection to it"
        if was_gone:
            return "the broker registered again after it was gone"
        saved_queues = self.snapshot.queues_by_server.get(server.namesrv_addr, {})
        return self._reopen_explainer.explain_reopening(server, saved_queues, observation.own_topics)

    def _mark_reopened(
        self, open_servers: list[NameServerFacts], now_ms: int, drain_events: list[RunEvent]
    ) -> None:
        reopened_addrs = [event.addr for event in drain_events if isinstance(event, events.Reopened)]
        if self.is_safe:
            drain_events.append(
                events.Unsafe(
                    now_ms, f"writable again on {', '.join(server.namesrv_addr for server in open_servers)}"
                )
            )
        self.state = self.state._replace(
            phase="wipe",
            closed_since=None,
            safe_since=None,
            reopened=self.state.reopened + len(reopened_addrs),
            reopens=dict(Counter(self.state.reopens) + Counter(reopened_addrs)),
        )

    def _mark_closed(self, observation: ClusterObservation, drain_events: list[RunEvent]) -> None:
        closed_servers = tuple(server.namesrv_addr for server in observation.servers if server.is_registered)
        if closed_servers and self.state.closed_since is None:
            drain_events.append(events.Closed(observation.time_ms, closed_servers))
            self.state = self.state._replace(phase="settle", closed_since=observation.time_ms)

    def _judge_safety(
        self,
        observation: ClusterObservation,
        lone_topics: Mapping[str, list[str]],
        drain_events: list[RunEvent],
    ) -> None:
        """Count quiet intervals, decide whether the broker is safe to stop, and emit the progress."""
        self._note_users(observation)
        puts = self._puts_per_minute(observation)
        if self._is_interval_counted(observation) and puts is not None:
            self._quiet_count = self._quiet_count + 1 if puts <= self.safety_rules.write_threshold else 0
        elif not self.is_safe:
            self._quiet_count = 0
        waiting_for = list_waiting_for(
            self.safety_rules, self.state, observation, self._last_observation, puts, self._quiet_count
        )
        if lone_topics:
            names = sorted({topic for topics in lone_topics.values() for topic in topics})
            waiting_for = (
                *waiting_for,
                f"another broker that takes messages of {abbreviate_names(names, _MAX_NAMED)}",
            )
        verdict_events: list[RunEvent] = []
        if (
            self.is_safe
            and observation.counters.error is None
            and puts is not None
            and puts > self.safety_rules.write_threshold
        ):
            verdict_events.append(
                events.Unsafe(observation.time_ms, f"{count_noun(puts, 'message')} a minute")
            )
            self.state = self.state._replace(safe_since=None)
        elif self.is_safe:
            waiting_for = ()
        elif not waiting_for:
            self.state = self.state._replace(safe_since=observation.time_ms)
            verdict_events.append(events.Safe(observation.time_ms, self.unsure_servers))
        self.state = self.state._replace(phase=self._decide_phase(observation), puts=puts)
        drain_events += [self._build_progress(observation, puts, waiting_for), *verdict_events]

    def _decide_phase(self, observation: ClusterObservation) -> DrainPhase:
        state = self.state
        if state.safe_since is not None:
            return "safe"
        if state.closed_since is None:
            return "wipe" if any(state.wipes.values()) or state.durable else "snapshot"
        return "settle" if observation.time_ms < state.closed_since + self.safety_rules.settle_ms else "wait"

    def _is_interval_counted(self, observation: ClusterObservation) -> bool:
        """Whether the interval since the last observation began after clients had refreshed their routes."""
        closed_since = self.state.closed_since
        return (
            closed_since is not None
            and self._last_observation is not None
            and self._last_observation.time_ms >= closed_since + self.safety_rules.settle_ms
        )

    def _puts_per_minute(self, observation: ClusterObservation) -> int | None:
        """Return the messages per minute since the last observation, None if unknown."""
        last, counters = self._last_observation, observation.counters
        if (
            last is None
            or last.counters.boot_ms != counters.boot_ms
            or counters.put_count is None
            or last.counters.put_count is None
        ):
            return None
        put_difference = counters.put_count - last.counters.put_count
        if put_difference <= 0 or observation.time_ms <= last.time_ms:
            return 0 if put_difference == 0 else None
        puts = -(-put_difference * _MINUTE_MS // (observation.time_ms - last.time_ms))
        if counters.user_puts is not None:
            return puts
        # Before 5.0 the counter includes internal messages, so the counters of user topics are better. The
        # broker samples these every 10 s: zero puts count only after _SAMPLED_MS.
        user_puts, quiet_since_ms = _sum_counts(counters.recent_puts), self._users_quiet_since_ms
        return (
            puts
            if user_puts is None
            or quiet_since_ms is None
            or observation.time_ms - quiet_since_ms < _SAMPLED_MS
            else min(puts, user_puts)
        )

    def _note_users(self, observation: ClusterObservation) -> None:
        """Update the time since which the broker has counted no messages of user topics."""
        last, counters, user_puts = (
            self._last_observation,
            observation.counters,
            _sum_counts(observation.counters.recent_puts),
        )
        stood_still = last is not None and (last.counters.boot_ms, last.counters.put_count) == (
            counters.boot_ms,
            counters.put_count,
        )
        if counters.put_count is None or not (
            stood_still or (user_puts is not None and user_puts <= self.safety_rules.write_threshold)
        ):
            self._users_quiet_since_ms = None
        elif self._users_quiet_since_ms is None:
            self._users_quiet_since_ms = observation.time_ms

    def _build_progress(
        self, observation: ClusterObservation, puts: int | None, waiting_for: tuple[str, ...]
    ) -> events.Progress:
        counters, master_end = observation.counters, observation.counters.log_end
        busy_topics = {topic: count for topic, count in (counters.recent_puts or {}).items() if count}
        lag_by_group = counters.lag_by_group
        return events.Progress(
            observation.time_ms,
            self.state.phase,
            puts,
            busy_topics,
            {
                topic: likely_source(topic, counters.delayed_count, counters.has_transactions)
                for topic in busy_topics
            },
            None if lag_by_group is None else sum(lag.messages or 0 for lag in lag_by_group.values()),
            None if lag_by_group is None else sum(1 for lag in lag_by_group.values() if lag != Lag(0)),
            {
                slave.slave_addr: None
                if slave.log_end is None or master_end is None
                else max(0, master_end - slave.log_end)
                for slave in counters.slaves
            },
            {
                server.namesrv_addr: None if server.error is not None else len(server.open_topics)
                for server in observation.servers
            },
            self.state.reopened,
            min(self._quiet_count, self.safety_rules.quiet_intervals),
            self.safety_rules.quiet_intervals,
            waiting_for,
            counters.writers,
        )


def _sum_counts(counts_by_topic: Mapping[str, int] | None) -> int | None:
    return None if counts_by_topic is None else sum(counts_by_topic.values())
