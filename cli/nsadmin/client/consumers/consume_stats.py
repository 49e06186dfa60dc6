"""Owns the records of GET_CONSUME_STATS and GET_BROKER_CONSUME_STATS: the progress of groups on queues."""

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.connection.response_bodies import parse_json_object
from nsadmin.client.consumers.committed_offsets import CommittedOffsets, read_committed_offsets
from nsadmin.client.consumers.connected_clients import GroupConnections, find_broadcasting_groups
from nsadmin.client.consumers.consume_modes import parse_modes
from nsadmin.client.consumers.lag import Lag, measure_lag, sum_lags
from nsadmin.client.message_queues import MessageQueue, parse_queue_table
from nsadmin.client.results import ServerResult


class GroupQueueLag(NamedTuple):
    """A group on one queue. All offsets count messages from 0.

    Attributes:
        group: The consumer group.
        queue: The queue.
        broker_offset: The offset of the next message that the broker stores.
        consumer_offset: The consumer offset: the next message to consume. None if never committed.
        pull_offset: The offset of the next message to deliver. None before 5.1.
        last_consumed_ms: The store time of the last consumed message, in ms since 1970; None if unknown.
        is_broadcasting: Whether the clients of the group keep the offsets, so that those here are old.
        is_popping: Whether its clients pop. Only looked up for an offset beyond the end.
    """

    group: str
    queue: MessageQueue
    broker_offset: int
    consumer_offset: int | None
    pull_offset: int | None
    last_consumed_ms: int | None
    is_broadcasting: bool = False
    is_popping: bool = False

    @property
    def lag(self) -> Lag:
        """The unconsumed messages: `lag.messages` is their number, or `lag.reason` why it is unknown."""
        return measure_lag(self.broker_offset, self.consumer_offset, self.is_broadcasting, self.is_popping)

    @property
    def inflight_count(self) -> int | None:
        """The number of delivered, unacknowledged messages; None if unknown (before 5.1)."""
        if self.consumer_offset is None or self.pull_offset is None:
            return None
        return self.pull_offset - self.consumer_offset


def find_waiting_since(lags: Iterable[GroupQueueLag]) -> int | None:
    """Return since when messages wait, in ms since 1970; None if none wait, or if no time is known.

    The messages of a queue wait since the store time of its last consumed message. A queue that has none,
    such as a new one, does not count.
    """
    return min(
        (t for lag in lags if lag.lag.messages and (t := lag.last_consumed_ms) is not None), default=None
    )


def measure_delay(lags: Sequence[GroupQueueLag], now_ms: int) -> float | None:
    """Return for how many seconds messages wait: 0 if none wait; None if no time is known."""
    since_ms = find_waiting_since(lags)
    if since_ms is None:
        return None if any(lag.lag.messages for lag in lags) else 0.0
    return max(now_ms - since_ms, 0) / 1000


class ConsumeStats(NamedTuple):
    """One group on one broker.

    Attributes:
        consume_tps: Messages consumed per second.
        queues: One GroupQueueLag per queue, in order.
    """

    consume_tps: float
    queues: tuple[GroupQueueLag, ...]

    @property
    def lag(self) -> Lag:
        """The unconsumed messages, `lag.messages`, on all queues whose lag is known."""
        return sum_lags(queue_lag.lag for queue_lag in self.queues)

    def clear_uncommitted(self, committed_offsets: CommittedOffsets) -> "ConsumeStats":
        """Return the same without the offsets that the group never committed. Brokers report them as 0.

        Args:
            committed_offsets: All consumer offsets of the broker. They may be a little older.
        """
        return self._replace(
            queues=tuple(
                lag
                if (lag.consumer_offset or 0) > 0
                or lag.queue.queue_id in committed_offsets.get(f"{lag.queue.topic}@{lag.group}", ())
                else lag._replace(consumer_offset=None)
                for lag in self.queues
            )
        )

    def mark_broadcasting(self, groups: Container[str]) -> "ConsumeStats":
        """Return the same with the queues of these groups marked: they have no lag.

        Args:
            groups: The groups that broadcast.
        """
        return self._replace(
            queues=tuple(lag._replace(is_broadcasting=lag.group in groups) for lag in self.queues)
        )


def parse_group_stats(group: str, response: RemotingCommand) -> ConsumeStats:
    """Parse the body of GET_CONSUME_STATS (208)."""
    body = parse_json_object(response)
    return ConsumeStats(body.number("consumeTps", 0.0), _parse_lags(group, body.members.get("offsetTable")))


def _parse_lags(group: str, offset_table: object) -> tuple[GroupQueueLag, ...]:
    return tuple(
        GroupQueueLag(
            group,
            queue,
            offsets.integer("brokerOffset"),
            offsets.integer("consumerOffset"),
            offsets.integer("pullOffset", None),
            offsets.integer("lastTimestamp", 0) or None,
        )
        for queue, offsets in parse_queue_table(offset_table, JsonObject).items()
    )


def parse_broker_stats(response: RemotingCommand) -> ConsumeStats:
    """Parse the body of GET_BROKER_CONSUME_STATS (317): all groups, without their rates."""
    lags = [
        queue_lag._replace(pull_offset=None)
        for stats_by_group in parse_json_object(response).children("consumeStatsList")
        for group in stats_by_group.members
        for stats in stats_by_group.children(group)
        for queue_lag in _parse_lags(group, stats.members.get("offsetTable"))
    ]
    return ConsumeStats(0.0, tuple(sorted(lags, key=lambda lag: (lag.queue.topic, lag.group, lag.queue))))


def complete_stats(
    caller: Caller,
    stats_results: Sequence[ServerResult[ConsumeStats]],
    connections_by_group: Mapping[str, GroupConnections] | None = None,
) -> list[ServerResult[ConsumeStats]]:
    """Clear the offsets that groups never committed (14), and mark the groups that broadcast (203)."""
    addressed_lags = [(r.addr, lag) for r in stats_results if r.result is not None for lag in r.result.queues]
    suspect_keys = [
        (broker_addr, queue_lag.group, queue_lag.queue)
        for broker_addr, queue_lag in addressed_lags
        if queue_lag.consumer_offset is not None and queue_lag.consumer_offset <= 0
    ]
    # An offset that could not be read counts as committed: its 0 is the broker's own word.
    uncommitted_keys = {
        key
        for key, committed in zip(suspect_keys, read_committed_offsets(caller, suspect_keys), strict=True)
        if committed.error is None and committed.offset is None
    }
    if connections_by_group is None:
        broadcasting_groups = find_broadcasting_groups(
            caller, dict.fromkeys((broker_addr, lag.group) for broker_addr, lag in addressed_lags)
        )
    else:
        broadcasting_groups = {group for group, c in connections_by_group.items() if c.is_broadcasting}
    popping_groups = _find_popping_groups(
        caller,
        [(a, lag.group) for a, lag in addressed_lags if (lag.consumer_offset or 0) > lag.broker_offset],
        connections_by_group or {},
    )

    def complete(broker_addr: str, consume_stats: ConsumeStats) -> ConsumeStats:
        return consume_stats._replace(
            queues=tuple(
                lag._replace(
                    consumer_offset=None
                    if (broker_addr, lag.group, lag.queue) in uncommitted_keys
                    else lag.consumer_offset,
                    is_broadcasting=lag.group in broadcasting_groups,
                    is_popping=lag.group in popping_groups,
                )
                for lag in consume_stats.queues
            )
        )

    return [stats_result.then(partial(complete, stats_result.addr)) for stats_result in stats_results]


def _find_popping_groups(
    caller: Caller,
    group_places: Sequence[tuple[str, str]],
    connections_by_group: Mapping[str, GroupConnections],
) -> set[str]:
    """Find which groups pop: by their consume mode (402; since 5.0), or because their clients are gRPC."""
    if not group_places:
        return set()
    mode_results = caller.read_each(
        sorted({addr for addr, _ in group_places}), parse_modes, RequestCode.GET_ALL_MESSAGE_REQUEST_MODE
    )
    popping_groups = {m.group for r in mode_results for m in r.result or () if m.mode.mode == "POP"}
    return popping_groups | {
        group
        for _, group in group_places
        if group in connections_by_group
        and any(client.protocol == "gRPC" for client in connections_by_group[group].clients)
    }
