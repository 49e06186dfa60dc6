"""`admin.consumers`: the lag of consumer groups on each queue, and their connected clients."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from namesrv_core.errors import RequestError, ResponseCode, RocketMQError
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.clusters import ClusterAdmin
from nsadmin.client.brokers.targets import target_at_addr
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer
from nsadmin.client.consumers.committed_offsets import CommittedOffsets, parse_all_committed
from nsadmin.client.consumers.connected_clients import (
    ConnectedClient,
    GroupConnections,
    find_broadcasting_groups,
    read_consumers,
    read_members,
)
from nsadmin.client.consumers.consume_stats import (
    ConsumeStats,
    GroupQueueLag,
    complete_stats,
    find_waiting_since,
    parse_broker_stats,
    parse_group_stats,
)
from nsadmin.client.consumers.groups import GroupAdmin, is_system_group
from nsadmin.client.consumers.lag import Lag, sum_lags
from nsadmin.client.proxies.proxies import ProxyAdmin
from nsadmin.client.results import ServerResult

BROKER_STATS_TIMEOUT_SECONDS = 50.0
"""Seconds for a request for which the broker visits all groups and queues."""


class GroupProgress(NamedTuple):
    """One group on all brokers. The sums are None if no broker answered.

    Attributes:
        group: The consumer group.
        connections: The connected clients.
        consume_tps: Messages consumed per second, on all brokers.
        lag: Unconsumed messages of the queues whose lag is known; None if it is known of none.
        inflight_total: Delivered, unacknowledged messages. None if all brokers are older than 5.1.
        error: The first failure; None if every broker answered.
        lag_reason: Why `lag` is None, or lacks some queues.
        waiting_since_ms: Since when messages wait, in ms since 1970: the store time of the last consumed
            message of the queue furthest behind. None if nothing waits, or if no broker reports the time.
        is_paused: Whether brokers refuse the group's clients (consumeEnable=false), all or some of them. None
            if only one group was read.
    """

    group: str
    connections: GroupConnections
    consume_tps: float | None
    lag: int | None
    inflight_total: int | None
    error: RocketMQError | None
    lag_reason: str | None = None
    waiting_since_ms: int | None = None
    is_paused: bool | None = None

    @property
    def count(self) -> int | None:  # type: ignore[override]
        """The number of connected clients, as in the column `count`; None if it is unknown.

        It replaces the method of tuples.
        """
        return len(self.connections.clients) if self.connections.clients or self.error is None else None


class ConsumerAdmin:
    """`admin.consumers`: the lag of consumer groups, and their connected clients."""

    def __init__(
        self, caller: Caller, clusters: ClusterAdmin, groups: GroupAdmin, proxies: ProxyAdmin
    ) -> None:
        self._caller, self._clusters, self._groups = caller, clusters, groups
        self._proxies = proxies

    def get_progress(
        self, group: str, topic: str | None = None, cluster_name: str | None = None
    ) -> list[ServerResult[ConsumeStats]]:
        """Return the progress of a group on each broker (GET_CONSUME_STATS, 208).

        `get_group_progress` returns the sums.

        Args:
            group: The consumer group.
            topic: The topic. Default: all topics of the group.
            cluster_name: The cluster. Default: all clusters.

        Returns:
            One ServerResult per broker group: the answer of its master, else of a slave.

        Raises:
            NotFound: No broker has offsets of the group, and none knows it.
        """
        broker_addrs = [target.broker_addr or "" for target in self._groups.list_targets(cluster_name)]
        ext_fields = broker_headers.ConsumerGroup(group, topic)
        stats_results = self._caller.read_each(
            broker_addrs, partial(parse_group_stats, group), RequestCode.GET_CONSUME_STATS, ext_fields
        )
        if not any(consume_stats is None or consume_stats.queues for _, consume_stats, _ in stats_results):
            self._groups.check_exists(group, cluster_name)
        return complete_stats(self._caller, stats_results)

    def get_progress_at(self, group: str, broker_addrs: Iterable[str]) -> list[ServerResult[ConsumeStats]]:
        """Return the progress of a group on these brokers (GET_CONSUME_STATS, 208).

        Args:
            group: The consumer group. Brokers need not know it.
            broker_addrs: The broker addresses.

        Returns:
            One ServerResult per address, in order.
        """
        return complete_stats(self._caller, self.get_stats_each([(addr, group) for addr in broker_addrs]))

    def get_all_progress(
        self, cluster_name: str | None = None, *, include_system: bool = False
    ) -> tuple[list[GroupProgress], dict[str, RocketMQError | None]]:
        """Return the progress of every group that any broker knows.

        Sends GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201) to each broker, then GET_CONSUME_STATS (208) and
        GET_CONSUMER_CONNECTION_LIST (203) per group and broker. Also reads the heartbeats of proxies.

        Args:
            cluster_name: The cluster. Default: all clusters.
            include_system: Include the groups that brokers create for themselves.

        Returns:
            A pair: one GroupProgress per group, in order; and broker address to error (of its list) or None.
        """
        table_results = self._groups.get_tables(self._groups.list_targets(cluster_name))
        known = [(name, fields) for r in table_results for name, fields in (r.result or {}).items()]
        group_names = sorted({n for n, _ in known if include_system or not is_system_group(n)})
        paused_names = {name for name, fields in known if fields.get("consumeEnable") is False}
        broker_addrs = [table_result.addr for table_result in table_results if table_result.error is None]
        return (
            [
                progress._replace(is_paused=progress.group in paused_names)
                for progress in self._summarize_groups(group_names, broker_addrs, cluster_name)
            ],
            {table_result.addr: table_result.error for table_result in table_results},
        )

    def get_group_progress(self, group: str, cluster_name: str | None = None) -> GroupProgress:
        """Return the progress of a group as one item: its lag is a number, `get_group_progress("g").lag`.

        Sends GET_CONSUME_STATS (208) and GET_CONSUMER_CONNECTION_LIST (203) to each broker. Also reads the
        heartbeats of proxies. `get_progress` has the queues of each broker.

        Args:
            group: The consumer group.
            cluster_name: The cluster. Default: all clusters.

        Returns:
            The same item as in `get_all_progress`.

        Raises:
            NotFound: No broker has offsets of the group, and none knows it.
        """
        broker_addrs = [target.broker_addr or "" for target in self._groups.list_targets(cluster_name)]
        [progress] = self._summarize_groups([group], broker_addrs, cluster_name)
        if progress.lag is None:
            self._groups.check_exists(group, cluster_name)
        return progress

    def _summarize_groups(
        self, group_names: Sequence[str], broker_addrs: Sequence[str], cluster_name: str | None
    ) -> list[GroupProgress]:
        stats_results = self.get_stats_each([(addr, name) for name in group_names for addr in broker_addrs])
        connections_by_group = self._proxies.add_clients(
            read_consumers(self._caller, group_names, broker_addrs), cluster_name
        )
        completed = iter(complete_stats(self._caller, stats_results, connections_by_group))
        return [
            _summarize_group(name, connections_by_group[name], list(islice(completed, len(broker_addrs))))
            for name in group_names
        ]

    def get_topic_progress(
        self, topic: str, groups: Iterable[str], cluster_name: str | None = None
    ) -> list[ServerResult[ConsumeStats]]:
        """Return the progress of groups on a topic (GET_CONSUME_STATS, 208).

        Args:
            topic: The topic.
            groups: The consumer groups; `admin.topics.list_usage` has those of the topic.
            cluster_name: The cluster. Default: all clusters.

        Returns:
            One ServerResult per group and broker group: the answer of its master, else of a slave.
        """
        broker_addrs = [target.broker_addr or "" for target in self._groups.list_targets(cluster_name)]
        group_places = [(broker_addr, group) for group in groups for broker_addr in broker_addrs]
        return complete_stats(self._caller, self.get_stats_each(group_places, topic))

    def get_stats_each(
        self, group_places: Sequence[tuple[str, str]], topic: str | None = None
    ) -> list[ServerResult[ConsumeStats]]:
        """Return the raw statistics of groups on brokers, with one GET_CONSUME_STATS (208) each.

        Args:
            group_places: Pairs of (broker address, group).
            topic: Only this topic. Default: all topics of each group.

        Returns:
            One ServerResult per pair, in order. An offset of 0 may mean "never", unlike in `get_progress`.
            With a topic, a group whose connected clients do not subscribe to it has no queues.
        """
        answers = self._caller.send_requests(
            (addr, make_request(RequestCode.GET_CONSUME_STATS, broker_headers.ConsumerGroup(group, topic)))
            for addr, group in group_places
        )
        return [
            decode_answer(answer, partial(parse_group_stats, group))
            for (_, group), answer in zip(group_places, answers, strict=True)
        ]

    def get_committed_each(self, broker_addrs: Sequence[str]) -> list[ServerResult[CommittedOffsets]]:
        """Return all consumer offsets of each broker (GET_ALL_CONSUMER_OFFSET, 43).

        Returns:
            One ServerResult per address, in order: "topic@group" to queue id to offset.
        """
        return self._caller.read_each(broker_addrs, parse_all_committed, RequestCode.GET_ALL_CONSUMER_OFFSET)

    def get_connections(
        self, group: str, cluster_name: str | None = None, broker_addr: str | None = None
    ) -> GroupConnections:
        """Return the connected clients of a group (GET_CONSUMER_CONNECTION_LIST, 203).

        The clients behind proxies are included: from the heartbeats that proxies in cluster mode store on
        brokers, and from the proxies in `access.proxies`.

        Args:
            group: The consumer group.
            cluster_name: Ask all masters and slaves of this cluster. Default: all clusters.
            broker_addr: Ask only this broker, and leave out clients behind proxies.

        Raises:
            RequestError: CONSUMER_NOT_ONLINE (206): the group exists, but no client is connected.
            NotFound: No broker knows the group.
        """
        if broker_addr:
            broker_addrs = [broker_addr]
        else:
            broker_groups = self._clusters.get_info().processes_in_cluster(cluster_name)
            broker_addrs = [addr for group in broker_groups for addr in group.broker_addrs.values()]
        connections_by_group = read_consumers(self._caller, [group], broker_addrs)
        if broker_addr is None:
            connections_by_group = self._proxies.add_clients(connections_by_group, cluster_name)
        group_connections = connections_by_group[group]
        has_errors = any(group_connections.errors.values()) or group_connections.proxy_errors
        if not group_connections.clients and not has_errors:
            if broker_addr is None:
                self._groups.check_exists(group, cluster_name)
            place = f" to {broker_addr}" if broker_addr else ""
            explain = quote_command("group", "explain", group)
            raise RequestError(
                f'no client of group "{group}" is connected{place}: start its application; '
                f"`{explain}` shows what waits for it",
                ResponseCode.CONSUMER_NOT_ONLINE,
            )
        return group_connections

    def list_online_groups(
        self, broker_addrs: Iterable[str]
    ) -> tuple[dict[str, GroupConnections], dict[str, RocketMQError | None]]:
        """Return the groups that brokers know, with the clients that are connected to these brokers.

        Sends GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201), then GET_CONSUMER_CONNECTION_LIST (203) per group.

        Returns:
            A pair: group to GroupConnections, without system groups; and broker address to error or None.
        """
        table_results = self._groups.get_tables(target_at_addr(broker_addr) for broker_addr in broker_addrs)
        group_names = sorted({n for r in table_results for n in r.result or () if not is_system_group(n)})
        answering_addrs = [table_result.addr for table_result in table_results if table_result.error is None]
        connections_by_group = read_consumers(self._caller, group_names, answering_addrs)
        return connections_by_group, {table_result.addr: table_result.error for table_result in table_results}

    def get_group_connections(
        self, groups: Iterable[str], broker_addrs: Iterable[str]
    ) -> dict[str, GroupConnections]:
        """Return the clients of groups that are connected to brokers (GET_CONSUMER_CONNECTION_LIST, 203).

        Args:
            groups: The consumer groups. Brokers need not know them.
            broker_addrs: The broker addresses.

        Returns:
            Group to GroupConnections.
        """
        return read_consumers(self._caller, list(groups), broker_addrs)

    def find_broadcasting(self, group_places: Iterable[tuple[str, str]]) -> set[str]:
        """Return the groups whose connected clients broadcast (GET_CONSUMER_CONNECTION_LIST, 203).

        Args:
            group_places: Pairs of (broker address, group). Brokers need not know the group.
        """
        return find_broadcasting_groups(self._caller, group_places)

    def list_members(
        self, group: str, broker_addrs: Iterable[str]
    ) -> list[ServerResult[tuple[ConnectedClient, ...]]]:
        """Return the clients of a group as each broker lists them (GET_CONSUMER_CONNECTION_LIST, 203).

        It is faster than `get_group_connections`, because it does not read the subscriptions.

        Args:
            group: The consumer group. Brokers need not know it.
            broker_addrs: The broker addresses. A repeated one is asked once.

        Returns:
            One ServerResult per distinct address, in order; without clients also for an unknown group.
        """
        return read_members(self._caller, group, broker_addrs)

    def get_broker_stats(
        self,
        broker_addr: str,
        *,
        is_order: bool = False,
        timeout_seconds: float = BROKER_STATS_TIMEOUT_SECONDS,
    ) -> tuple[GroupQueueLag, ...]:
        """Return every group on every queue of one broker; see `get_broker_stats_each`.

        Returns:
            One GroupQueueLag per queue and group, in the order of topics. `pull_offset` is always None.

        Raises:
            RocketMQError: The broker refused or did not answer.
        """
        [stats_result] = self.get_broker_stats_each(
            [broker_addr], is_order=is_order, timeout_seconds=timeout_seconds
        )
        return stats_result.value().queues

    def get_broker_stats_each(
        self,
        broker_addrs: Iterable[str],
        *,
        is_order: bool = False,
        timeout_seconds: float = BROKER_STATS_TIMEOUT_SECONDS,
    ) -> list[ServerResult[ConsumeStats]]:
        """Return every group on every queue of brokers (GET_BROKER_CONSUME_STATS, 317); all at once.

        Args:
            broker_addrs: The broker addresses. This request is expensive for them.
            is_order: Read the statistics of ordered consumption.
            timeout_seconds: The time limit in seconds, if the access has a shorter one.

        Returns:
            One ServerResult per address, in order.
        """
        ext_fields = broker_headers.BrokerConsumeStats(is_order)
        answers = self._caller.send_requests(
            [(a, make_request(RequestCode.GET_BROKER_CONSUME_STATS, ext_fields)) for a in broker_addrs],
            max(timeout_seconds, self._caller.access.timeout),
        )
        return complete_stats(self._caller, [decode_answer(answer, parse_broker_stats) for answer in answers])


def _summarize_group(
    group: str, group_connections: GroupConnections, stats_results: Sequence[ServerResult[ConsumeStats]]
) -> GroupProgress:
    known_stats = [stats_result.result for stats_result in stats_results if stats_result.result is not None]
    queue_lags = [queue_lag for consume_stats in known_stats for queue_lag in consume_stats.queues]
    total_lag = sum_lags(queue_lag.lag for queue_lag in queue_lags) if known_stats else Lag(None)
    inflight_counts = [lag.inflight_count for lag in queue_lags if lag.inflight_count is not None]
    errors = [
        *(stats_result.error for stats_result in stats_results),
        *group_connections.errors.values(),
        *group_connections.proxy_errors.values(),
    ]
    return GroupProgress(
        group,
        group_connections,
        sum(consume_stats.consume_tps for consume_stats in known_stats) if known_stats else None,
        total_lag.messages,
        sum(inflight_counts) if inflight_counts or (known_stats and not queue_lags) else None,
        next((error for error in errors if error is not None), None),
        total_lag.reason,
        find_waiting_since(queue_lags),
    )
