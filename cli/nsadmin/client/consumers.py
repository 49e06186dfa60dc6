"""Consumers: how far consumer groups are behind on each queue, and who of them is connected."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from namesrv_core.errors import RequestError, ResponseCode, RocketMQError
from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client import connections
from nsadmin.client.bodies import json_object
from nsadmin.client.caller import Caller
from nsadmin.client.clusters import Clusters
from nsadmin.client.committed import CommittedOffsets, all_committed, committed
from nsadmin.client.connections import GroupConnections
from nsadmin.client.groups import Groups, is_system
from nsadmin.client.queues import MessageQueue, queue_table
from nsadmin.client.results import ServerResult
from nsadmin.client.retry import decoded
from nsadmin.client.targets import at

LONG_TIMEOUT = 50.0
"""Seconds for what a broker has to go through all groups and queues for."""


class QueueLag(NamedTuple):
    """A group on one queue; all offsets count messages from 0.

    `consumer_offset` is the next message to consume, None where the group never committed one;
    `pull_offset` the next to be handed out (None before 5.1); `last_timestamp` is when the last consumed
    message was stored, in ms, None if unknown.
    """

    group: str
    queue: MessageQueue
    broker_offset: int
    consumer_offset: int | None
    pull_offset: int | None
    last_timestamp: int | None

    @property
    def diff(self) -> int | None:
        """Messages that are not consumed yet; None where nothing was ever committed."""
        return None if self.consumer_offset is None else self.broker_offset - self.consumer_offset

    @property
    def inflight(self) -> int | None:
        """Messages handed out and not yet acknowledged."""
        if self.consumer_offset is None or self.pull_offset is None:
            return None
        return self.pull_offset - self.consumer_offset


class ConsumeStats(NamedTuple):
    """One group on one broker: its queues in order, and messages consumed per second."""

    consume_tps: float
    queues: tuple[QueueLag, ...]


class GroupProgress(NamedTuple):
    """One group over all brokers; where none of them told, the sums are None.

    The sums leave out queues without a committed offset; brokers before 5.1 know nothing of what is
    inflight. `error` is the first failure there was.
    """

    group: str
    connections: GroupConnections
    consume_tps: float | None
    diff_total: int | None
    inflight_total: int | None
    error: RocketMQError | None


class Consumers:
    """`admin.consumers`."""

    def __init__(self, caller: Caller, clusters: Clusters, groups: Groups) -> None:
        self._caller = caller
        self._clusters = clusters
        self._groups = groups

    def progress(
        self, group: str, topic: str | None = None, cluster_name: str | None = None
    ) -> list[ServerResult[ConsumeStats]]:
        """The group on each broker (GET_CONSUME_STATS), on all topics or on one.

        NotFound if no broker has anything about the group and none knows it.
        """
        addrs = self._addrs(cluster_name)
        ext = headers.write(broker_headers.ConsumerGroup(group, topic))
        answers = self._caller.ask_each(addrs, RequestCode.GET_CONSUME_STATS, ext)
        results = [decoded(answer, partial(_stats, group)) for answer in answers]
        if not any(stats is None or stats.queues for _, stats, _ in results):
            self._groups.check_exists(group, cluster_name)
        return self._with_never_committed(results)

    def all_progress(
        self, cluster_name: str | None = None, *, system: bool = False
    ) -> tuple[list[GroupProgress], dict[str, RocketMQError | None]]:
        """Every group that any broker knows, with what became of asking each broker for its groups."""
        tables = self._groups.names(cluster_name, system=system)
        names = sorted({name for table in tables for name in table.result or ()})
        addrs = [table.addr for table in tables if table.error is None]
        asked = [(name, addr) for name in names for addr in addrs]
        results = self.stats_each([(addr, name) for name, addr in asked])
        by_group: dict[str, list[ServerResult[ConsumeStats]]] = {name: [] for name in names}
        for (name, _), result in zip(asked, self._with_never_committed(results), strict=True):
            by_group[name].append(result)
        online = connections.consumers_of(self._caller, names, addrs)
        return (
            [_summary(name, online[name], by_group[name]) for name in names],
            {table.addr: table.error for table in tables},
        )

    def stats_each(self, asked: Sequence[tuple[str, str]]) -> list[ServerResult[ConsumeStats]]:
        """What each (broker address, group) comes to: one request each, and no other.

        As brokers tell it: an offset of 0 is also that of a queue where nothing was ever committed.
        """
        code = RequestCode.GET_CONSUME_STATS
        answers = self._caller.ask(
            (addr, request(code, headers.write(broker_headers.ConsumerGroup(group)))) for addr, group in asked
        )
        return [
            decoded(answer, partial(_stats, group)) for (_, group), answer in zip(asked, answers, strict=True)
        ]

    def committed_each(self, addrs: Sequence[str]) -> list[ServerResult[CommittedOffsets]]:
        """All offsets that groups have committed on each broker (GET_ALL_CONSUMER_OFFSET)."""
        answers = self._caller.ask_each(addrs, RequestCode.GET_ALL_CONSUMER_OFFSET)
        return [decoded(answer, all_committed) for answer in answers]

    def connections(
        self, group: str, cluster_name: str | None = None, broker_addr: str | None = None
    ) -> GroupConnections:
        """Who of the group is connected to any master or slave, or to the one that is given.

        RequestError 206 if the group is there and nobody is connected, NotFound if no broker knows it.
        """
        addrs = [broker_addr] if broker_addr else self._members(cluster_name)
        found = connections.consumers_of(self._caller, [group], addrs)[group]
        if not found.clients and not any(found.errors.values()):
            if broker_addr is None:
                self._groups.check_exists(group, cluster_name)
            raise RequestError(f"nobody of {group!r} is connected", ResponseCode.CONSUMER_NOT_ONLINE)
        return found

    def online(
        self, addrs: Iterable[str]
    ) -> tuple[dict[str, GroupConnections], dict[str, RocketMQError | None]]:
        """The groups that these brokers know, each with who of it is connected to them, if anybody is.

        And what became of asking each broker for its groups, by address.
        """
        tables = self._groups.tables(at(addr) for addr in addrs)
        names = sorted({name for table in tables for name in table.result or () if not is_system(name)})
        willing = [table.addr for table in tables if table.error is None]
        found = connections.consumers_of(self._caller, names, willing)
        return found, {table.addr: table.error for table in tables}

    def connected(self, groups: Iterable[str], addrs: Iterable[str]) -> dict[str, GroupConnections]:
        """Who of these groups is connected to these brokers, whether they know the groups or not."""
        return connections.consumers_of(self._caller, list(groups), addrs)

    def broker_stats(
        self, broker_addr: str, *, is_order: bool = False, timeout: float = LONG_TIMEOUT
    ) -> tuple[QueueLag, ...]:
        """Every group on every queue of one broker (GET_BROKER_CONSUME_STATS), which is hard work for it."""
        ext = headers.write(broker_headers.BrokerConsumeStats(is_order))
        asked = request(RequestCode.GET_BROKER_CONSUME_STATS, ext)
        [answer] = self._caller.ask([(broker_addr, asked)], max(timeout, self._caller.access.timeout))
        [result] = self._with_never_committed([decoded(answer, _broker_stats)])
        if result.result is None:
            raise result.error or RuntimeError(broker_addr)
        return result.result.queues

    def _addrs(self, cluster_name: str | None) -> list[str]:
        return [target.broker_addr or "" for target in self._groups.everywhere(cluster_name)]

    def _members(self, cluster_name: str | None) -> list[str]:
        groups = self._clusters.info().in_cluster(cluster_name)
        return [addr for group in groups for addr in group.broker_addrs.values()]

    def _with_never_committed(
        self, results: Sequence[ServerResult[ConsumeStats]]
    ) -> list[ServerResult[ConsumeStats]]:
        """The same, with None for the offsets that brokers report as 0 because there is none."""
        suspects = [
            (result.addr, lag)
            for result in results
            if result.result is not None
            for lag in result.result.queues
            if lag.consumer_offset is not None and lag.consumer_offset <= 0
        ]
        offsets = committed(self._caller, [(addr, lag.group, lag.queue) for addr, lag in suspects])
        never = {
            (addr, lag.group, lag.queue)
            for (addr, lag), offset in zip(suspects, offsets, strict=True)
            if offset.error is None and offset.result is None
        }
        return [result.then(partial(_marked, result.addr, never)) for result in results]


def _stats(group: str, command: Command) -> ConsumeStats:
    body = json_object(command)
    return ConsumeStats(body.get("consumeTps") or 0.0, _lags(group, body.get("offsetTable")))


def _lags(group: str, table: object) -> tuple[QueueLag, ...]:
    return tuple(
        QueueLag(
            group,
            queue,
            int(item.get("brokerOffset") or 0),
            int(item.get("consumerOffset") or 0),
            item.get("pullOffset"),
            item.get("lastTimestamp") or None,
        )
        for queue, item in queue_table(table).items()
    )


def _broker_stats(command: Command) -> ConsumeStats:
    lags = [
        lag._replace(pull_offset=None)
        for groups in json_object(command).get("consumeStatsList") or ()
        for group, stats in groups.items()
        for item in stats or ()
        for lag in _lags(group, item.get("offsetTable"))
    ]
    return ConsumeStats(0.0, tuple(sorted(lags, key=lambda lag: (lag.queue.topic, lag.group, lag.queue))))


def _marked(addr: str, never: set[tuple[str, str, MessageQueue]], stats: ConsumeStats) -> ConsumeStats:
    queues = (
        lag._replace(consumer_offset=None) if (addr, lag.group, lag.queue) in never else lag
        for lag in stats.queues
    )
    return stats._replace(queues=tuple(queues))


def _summary(
    group: str, online: GroupConnections, results: Sequence[ServerResult[ConsumeStats]]
) -> GroupProgress:
    told = [result.result for result in results if result.result is not None]
    lags = [lag for stats in told for lag in stats.queues]
    inflight = [lag.inflight for lag in lags if lag.inflight is not None]
    errors = [*(result.error for result in results), *online.errors.values()]
    return GroupProgress(
        group,
        online,
        sum(stats.consume_tps for stats in told) if told else None,
        sum(lag.diff or 0 for lag in lags) if told else None,
        sum(inflight) if inflight or (told and not lags) else None,
        next((error for error in errors if error is not None), None),
    )
