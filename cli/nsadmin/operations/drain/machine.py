"""The machine: what a drain does next, out of what was seen. Pure; times are ms.

Law: what it does depends on its state, which a file has, and on looks. One that was killed and goes on ends
where it would have ended: what it only counted, it counts anew.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from nsadmin.operations.drain import events
from nsadmin.operations.drain.events import Event
from nsadmin.operations.drain.facts import Broker, Look, Server
from nsadmin.operations.drain.risks import source_of
from nsadmin.operations.drain.state import Phase, Snapshot, State

_MINUTE = 60_000
_SAMPLED = 20_000
"""A broker's counters for a topic have all that came until so many ms ago."""


class Rules(NamedTuple):
    """When it is safe: `settle` ms after all routes were closed, and then `intervals` looks without writes.

    At most `threshold` messages a minute are none. With `for_good` no group may have anything left to read.
    """

    settle: int = 30_000
    intervals: int = 3
    threshold: int = 0
    for_good: bool = False


class Decision(NamedTuple):
    """What happened, and which name servers are to be told to take the write permission away."""

    events: list[Event]
    wipe: tuple[str, ...]


class Machine:
    """`state` and `snapshot` are to be saved, the snapshot first, before anything is done."""

    def __init__(self, rules: Rules, state: State, snapshot: Snapshot) -> None:
        self.rules = rules
        self.state = state
        self.snapshot = snapshot
        self.unknown: dict[str, str] = {}
        """Name servers that did not answer last, and why."""
        self._gone: set[str] = set()
        self._last: Look | None = None
        self._quiet = 0
        self._users_quiet_since: int | None = None

    @property
    def is_safe(self) -> bool:
        """Whether the broker can be stopped."""
        return self.state.phase == "safe"

    @property
    def last_broker(self) -> Broker | None:
        """The broker as it was seen last."""
        return None if self._last is None else self._last.broker

    def take(self, look: Look) -> Decision:
        """Reckon with what is seen now."""
        told: list[Event] = []
        opened = [server for server in look.servers if self._reckon(server, look, told)]
        if opened:
            self._reopen(opened, look.time, told)
        else:
            self._close(look, told)
        self._judge(look, told)
        self._last = look
        self.state = self.state._replace(updated=look.time)
        wipe = () if self.state.durable else tuple(server.addr for server in opened)
        self._count(wipe, 1)
        return Decision(told, wipe)

    def _count(self, addrs: Iterable[str], step: int) -> None:
        """Before it is done: if nobody hears of the outcome, what is open later was opened by somebody."""
        counts = dict(self.state.wipes)
        for addr in addrs:
            counts[addr] = counts.get(addr, 0) + step
        self.state = self.state._replace(wipes=counts)

    def wiped(self, results: Mapping[str, str | None], now: int) -> list[Event]:
        """What came of telling them."""
        counts = self.state.wipes
        told: list[Event] = [
            events.Wiped(now, addr, counts.get(addr, 1), error) for addr, error in results.items()
        ]
        self._count((addr for addr, error in results.items() if error is not None), -1)
        return told

    def _reckon(self, server: Server, look: Look, told: list[Event]) -> bool:
        """Note what one name server tells; whether clients may write there."""
        addr = server.addr
        if server.error is not None:
            if addr not in self.unknown:
                told.append(events.ServerLost(look.time, addr, server.error))
            self.unknown[addr] = server.error
            return False
        was_lost = self.unknown.pop(addr, None) is not None
        if was_lost:
            told.append(events.ServerBack(look.time, addr))
        if not server.members:
            if addr not in self._gone and addr in self.snapshot.servers:
                told.append(events.BrokerGone(look.time, addr))
            self._gone.add(addr)
            return False
        was_gone = addr in self._gone
        if was_gone:
            self._gone.discard(addr)
            told.append(events.BrokerBack(look.time, addr))
        if addr not in self.snapshot.servers and not (
            self.state.durable and self.state.permission is not None
        ):
            self.snapshot = self.snapshot._replace(servers={**self.snapshot.servers, addr: server.queues})
            told.append(events.SnapshotTaken(look.time, addr, len(server.topics)))
        if server.open_topics and self.state.wipes.get(addr):
            cause = self._cause(server, look, was_lost, was_gone)
            told.append(events.Reopened(look.time, addr, tuple(server.open_topics), cause))
        return bool(server.open_topics)

    def _cause(self, server: Server, look: Look, was_lost: bool, was_gone: bool) -> str:
        before = self.last_broker
        opened, known = server.open_topics, self.snapshot.servers.get(server.addr, {})
        if before and before.boot and look.broker.boot and before.boot != look.broker.boot:
            return "the broker was restarted"
        if was_lost:
            return "the name server was restarted, or the broker had lost its connection to it"
        if was_gone:
            return "the broker registered anew"
        if all(topic not in known for topic in opened):
            return "created" if len(opened) == 1 else "they were created"
        if len(opened) * 2 < len(server.topics):
            return "changed or created on the broker"
        return "the broker registered all it has: a topic was deleted, or its connection was lost"

    def _reopen(self, opened: list[Server], now: int, told: list[Event]) -> None:
        again = sum(isinstance(event, events.Reopened) for event in told)
        if self.is_safe:
            told.append(events.Unsafe(now, f"open again on {', '.join(server.addr for server in opened)}"))
        self._quiet = 0
        self.state = self.state._replace(
            phase="wipe", closed_since=None, safe_since=None, reopened=self.state.reopened + again
        )

    def _close(self, look: Look, told: list[Event]) -> None:
        closed = tuple(server.addr for server in look.servers if server.is_registered)
        if closed and self.state.closed_since is None:
            told.append(events.Closed(look.time, closed))
            self.state = self.state._replace(phase="settle", closed_since=look.time)

    def _judge(self, look: Look, told: list[Event]) -> None:
        """Count quiet intervals, and say how it stands."""
        self._note_users(look)
        puts = self._puts(look)
        if self._counts(look) and puts is not None:
            self._quiet = self._quiet + 1 if puts <= self.rules.threshold else 0
        elif not self.is_safe:
            self._quiet = 0
        waiting = self._waiting_for(look, puts)
        verdict: list[Event] = []
        if self.is_safe and look.broker.error is None and puts is not None and puts > self.rules.threshold:
            verdict.append(events.Unsafe(look.time, f"{puts:,} messages a minute"))
            self.state = self.state._replace(safe_since=None)
        elif self.is_safe:
            waiting = ()
        elif not waiting:
            self.state = self.state._replace(safe_since=look.time)
            verdict.append(events.Safe(look.time, tuple(self.unknown)))
        self.state = self.state._replace(phase=self._phase(look), puts=puts)
        told += [self._progress(look, puts, waiting), *verdict]

    def _phase(self, look: Look) -> Phase:
        state = self.state
        if state.safe_since is not None:
            return "safe"
        if state.closed_since is None:
            return "wipe" if any(state.wipes.values()) or state.durable else "snapshot"
        return "settle" if look.time < state.closed_since + self.rules.settle else "wait"

    def _counts(self, look: Look) -> bool:
        """Whether the interval since the last look lies behind the time that clients take to look again."""
        since = self.state.closed_since
        return since is not None and self._last is not None and self._last.time >= since + self.rules.settle

    def _puts(self, look: Look) -> int | None:
        """Messages a minute since the last look; None where nobody knows."""
        last, now = self._last, look.broker
        if last is None or last.broker.boot != now.boot or now.puts is None or last.broker.puts is None:
            return None
        moved = now.puts - last.broker.puts
        if moved <= 0 or look.time <= last.time:
            return 0 if moved == 0 else None
        rate = -(-moved * _MINUTE // (look.time - last.time))
        if now.user_puts is not None:
            return rate
        # Before 5.0 the counter has all messages, and says less than the topics of users do. The broker
        # looks at these every 10 s: that nothing came to them counts only after a while.
        users, since = _sum(now.residue), self._users_quiet_since
        return rate if users is None or since is None or look.time - since < _SAMPLED else min(rate, users)

    def _note_users(self, look: Look) -> None:
        """Since when topics of users get no messages, as far as the broker has counted."""
        last, now, users = self._last, look.broker, _sum(look.broker.residue)
        stood_still = last is not None and (last.broker.boot, last.broker.puts) == (now.boot, now.puts)
        if now.puts is None or not (stood_still or (users is not None and users <= self.rules.threshold)):
            self._users_quiet_since = None
        elif self._users_quiet_since is None:
            self._users_quiet_since = look.time

    def _waiting_for(self, look: Look, puts: int | None) -> tuple[str, ...]:
        state, rules = self.state, self.rules
        found: list[str] = []
        opened = sum(len(server.open_topics) for server in look.servers)
        if opened:
            found.append(
                "the broker to register what it may not take" if state.durable else "routes to be closed"
            )
        elif not any(server.is_registered for server in look.servers):
            found.append("a name server that knows the broker")
        elif state.closed_since is not None and look.time < state.closed_since + rules.settle:
            left = -(-(state.closed_since + rules.settle - look.time) // 1000)
            found.append(f"clients to look again, {left} s")
        elif self._quiet < rules.intervals:
            found.append(_why_not_quiet(look.broker, puts, rules.threshold, self._quiet, rules.intervals))
        found += self._behind(look)
        if rules.for_good and (look.broker.lag is None or any(look.broker.lag.values())):
            found.append(
                "consumers to read what is left" if look.broker.lag else "consumers' lag to be known"
            )
        return tuple(found)

    def _behind(self, look: Look) -> list[str]:
        """Slaves that have not all that the master had at the last look."""
        end = self._last and self._last.broker.end
        return [
            f"the slave {slave.addr}" + (", which does not answer" if slave.end is None else "")
            for slave in look.broker.slaves
            if slave.end is None or end is None or slave.end < end
        ]

    def _progress(self, look: Look, puts: int | None, waiting: tuple[str, ...]) -> events.Progress:
        broker, end = look.broker, look.broker.end
        residue = {topic: count for topic, count in (broker.residue or {}).items() if count}
        lag = broker.lag
        return events.Progress(
            look.time,
            self.state.phase,
            puts,
            residue,
            {topic: source_of(topic, broker.delayed, broker.has_transactions) for topic in residue},
            None if lag is None else sum(lag.values()),
            None if lag is None else sum(1 for messages in lag.values() if messages),
            {
                slave.addr: None if slave.end is None or end is None else max(0, end - slave.end)
                for slave in broker.slaves
            },
            {
                server.addr: None if server.error is not None else len(server.open_topics)
                for server in look.servers
            },
            self.state.reopened,
            min(self._quiet, self.rules.intervals),
            self.rules.intervals,
            waiting,
        )


def _why_not_quiet(broker: Broker, puts: int | None, threshold: int, quiet: int, intervals: int) -> str:
    if broker.error is not None:
        return f"the broker to answer: {broker.error}"
    if puts is not None and puts > threshold:
        return "writes to stop"
    return f"{intervals - quiet} more interval{'s' if intervals - quiet > 1 else ''} without writes"


def _sum(counts: Mapping[str, int] | None) -> int | None:
    return None if counts is None else sum(counts.values())
