"""`admin.consumers`: the lag of consumer groups on each queue, and their connected clients."""

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
"""Seconds for a request for which the broker visits all groups and queues."""


class QueueLag(NamedTuple):
    """A group on one queue. All offsets count messages from 0.

    Attributes:
        group: The consumer group.
        queue: The queue.
        broker_offset: The offset of the next message that the broker stores.
        consumer_offset: The committed offset: the next message to consume. None if never committed.
        pull_offset: The offset of the next message to deliver. None before 5.1.
        last_consumed_ms: The store time of the last consumed message, in ms since 1970; None if unknown.
    """

    group: str
    queue: MessageQueue
    broker_offset: int
    consumer_offset: int | None
    pull_offset: int | None
    last_timestamp: int | None

    @property
    def diff(self) -> int | None:
        """The number of unconsumed messages; None if the group never committed an offset."""
        return None if self.consumer_offset is None else self.broker_offset - self.consumer_offset

    @property
    def inflight(self) -> int | None:
        """The number of delivered, unacknowledged messages; None if unknown (before 5.1)."""
        if self.consumer_offset is None or self.pull_offset is None:
            return None
        return self.pull_offset - self.consumer_offset


class ConsumeStats(NamedTuple):
    """One group on one broker.

    Attributes:
        consume_tps: Messages consumed per second.
        queues: One GroupQueueLag per queue, in order.
    """

    consume_tps: float
    queues: tuple[QueueLag, ...]


class GroupProgress(NamedTuple):
    """One group on all brokers. The sums are None if no broker answered.

    Attributes:
        group: The consumer group.
        connections: The connected clients.
        consume_tps: Messages consumed per second, on all brokers.
        diff_total: Unconsumed messages, without queues that have no committed offset.
        inflight_total: Delivered, unacknowledged messages. None if all brokers are older than 5.1.
        error: The first failure; None if every broker answered.
    """

    group: str
    connections: GroupConnections
    consume_tps: float | None
    diff_total: int | None
    inflight_total: int | None
    error: RocketMQError | None


class Consumers:
    """`admin.consumers`: the lag of consumer groups, and their connected clients."""

    def __init__(self, caller: Caller, clusters: Clusters, groups: Groups) -> None:
        self._caller = caller
        self._clusters = clusters
        self._groups = groups

    def progress(
        self, group: str, topic: str | None = None, cluster_name: str | None = None
    ) -> list[ServerResult[ConsumeStats]]:
        """Return the progress of a group on each broker (GET_CONSUME_STATS, 208).

        Asks the master of each broker group, else a slave.

        Args:
            group: The consumer group.
            topic: The topic. Default: all topics of the group.
            cluster_name: The cluster. Default: all clusters.

        Returns:
            One ServerResult per broker group.

        Raises:
            NotFound: No broker has offsets of the group, and none knows it.
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
        """Return the progress of every group that any broker knows.

        Sends GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201) to each broker, then GET_CONSUME_STATS (208) and
        GET_CONSUMER_CONNECTION_LIST (203) per group and broker.

        Args:
            cluster_name: The cluster. Default: all clusters.
            include_system: Include the groups that brokers create for themselves.

        Returns:
            A pair: one GroupProgress per group, in order; and broker address to the error of the group list,
            None after a success.
        """
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
        """Return the raw statistics of groups on brokers, with one GET_CONSUME_STATS (208) each.

        A consumer offset of 0 may mean that the group never committed one; `get_progress` tells them apart.

        Args:
            group_places: Pairs of (broker address, group).

        Returns:
            One ServerResult per pair, in order.
        """
        code = RequestCode.GET_CONSUME_STATS
        answers = self._caller.ask(
            (addr, request(code, headers.write(broker_headers.ConsumerGroup(group)))) for addr, group in asked
        )
        return [
            decoded(answer, partial(_stats, group)) for (_, group), answer in zip(asked, answers, strict=True)
        ]

    def committed_each(self, addrs: Sequence[str]) -> list[ServerResult[CommittedOffsets]]:
        """Return all committed offsets of each broker (GET_ALL_CONSUMER_OFFSET, 43).

        Returns:
            One ServerResult per address, in order: "topic@group" to queue id to offset.
        """
        answers = self._caller.ask_each(addrs, RequestCode.GET_ALL_CONSUMER_OFFSET)
        return [decoded(answer, all_committed) for answer in answers]

    def connections(
        self, group: str, cluster_name: str | None = None, broker_addr: str | None = None
    ) -> GroupConnections:
        """Return the connected clients of a group (GET_CONSUMER_CONNECTION_LIST, 203).

        Args:
            group: The consumer group.
            cluster_name: Ask all masters and slaves of this cluster. Default: all clusters.
            broker_addr: Ask only this broker.

        Raises:
            RequestError: CONSUMER_NOT_ONLINE (206): the group exists, but no client is connected.
            NotFound: No broker knows the group.
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
        """Return the groups that brokers know, with the clients that are connected to these brokers.

        Sends GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201), then GET_CONSUMER_CONNECTION_LIST (203) per group.
        System groups are left out.

        Returns:
            A pair: group to GroupConnections (without clients if none is connected); and broker address to
            the error of the group list, None after a success.
        """
        tables = self._groups.tables(at(addr) for addr in addrs)
        names = sorted({name for table in tables for name in table.result or () if not is_system(name)})
        willing = [table.addr for table in tables if table.error is None]
        found = connections.consumers_of(self._caller, names, willing)
        return found, {table.addr: table.error for table in tables}

    def connected(self, groups: Iterable[str], addrs: Iterable[str]) -> dict[str, GroupConnections]:
        """Return the clients of groups that are connected to brokers (GET_CONSUMER_CONNECTION_LIST, 203).

        Does not check whether the brokers know the groups.

        Returns:
            Group to GroupConnections.
        """
        return connections.consumers_of(self._caller, list(groups), addrs)

    def broker_stats(
        self, broker_addr: str, *, is_order: bool = False, timeout: float = LONG_TIMEOUT
    ) -> tuple[QueueLag, ...]:
        """Return every group on every queue of one broker (GET_BROKER_CONSUME_STATS, 317).

        This request is expensive for the broker.

        Args:
            broker_addr: The broker.
            is_order: Read the statistics of ordered consumption.
            timeout_seconds: The time limit, if the access has a shorter one.

        Returns:
            One GroupQueueLag per queue and group, in the order of topics. `pull_offset` is always None.

        Raises:
            RocketMQError: The broker refused or did not answer.
        """
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
        """Replace a reported consumer offset of 0 by None if the group never committed one."""
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
