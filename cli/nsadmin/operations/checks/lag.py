"""Checks the lag of a consumer group, and that it has connected clients."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from namesrv_core.errors import RequestError, ResponseCode, RocketMQError
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.consumers.client_connections import is_group_offline
from nsadmin.client.consumers.consume_stats import ConsumeStats, GroupQueueLag
from nsadmin.client.consumers.lag import BEYOND_END, Lag, sum_lags
from nsadmin.client.results import error_text, is_not_found
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.thresholds import CheckScale

_MAX_SHOWN = 5


class LagObservation(NamedTuple):
    """The progress of a group on each broker at `now_ms`.

    `client_count` is None if unknown. `group_error` says why nothing is known of the group.
    `unreachable_servers` has the errors of the name servers that did not answer.
    """

    group: str
    now_ms: int
    stats_results: Sequence[ServerResult[ConsumeStats]]
    client_count: int | None
    group_error: RocketMQError | None = None
    unreachable_servers: Mapping[str, RocketMQError] = MappingProxyType({})


def observe_lag(
    admin: AdminClient, now_ms: int, group: str, topic: str | None = None, cluster_name: str | None = None
) -> LagObservation:
    """Read the progress of the group on each broker, for all its topics or for one."""
    try:
        stats_results = admin.consumers.get_progress(group, topic, cluster_name)
    except RocketMQError as error:
        return LagObservation(group, now_ms, (), None, error)
    client_count = _count_clients(admin, group, cluster_name)
    return LagObservation(
        group, now_ms, stats_results, client_count, unreachable_servers=dict(admin.unreachable)
    )


def _count_clients(admin: AdminClient, group: str, cluster_name: str | None) -> int | None:
    """Count the connected clients: 0 for a group with offsets but no settings, because it was deleted.

    The number is unknown if no server reports a client, and one of them failed.
    """
    try:
        group_connections = admin.consumers.get_connections(group, cluster_name)
    except RocketMQError as error:
        return 0 if is_group_offline(error) or is_not_found(error) else None
    failures = [
        error
        for error in (*group_connections.errors.values(), *group_connections.proxy_errors.values())
        if error is not None and not _is_unknown_group(error)
    ]
    return len(group_connections.clients) or (None if failures else 0)


def _is_unknown_group(error: RocketMQError) -> bool:
    return isinstance(error, RequestError) and error.code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST


def judge_lag(scale: CheckScale, observation: LagObservation) -> CheckFinding:
    """If a broker does not answer, the lag is a lower bound: it can raise an alert, but cannot be OK."""
    if observation.group_error is not None:
        return scale.make_unknown_finding(error_text(observation.group_error), about=observation.group)
    failure_lines = [
        f"{server_addr}: {error_text(error)}"
        for server_addr, _, error in observation.stats_results
        if error is not None
    ]
    reported_stats = [
        consume_stats for _, consume_stats, _ in observation.stats_results if consume_stats is not None
    ]
    if not reported_stats:
        return scale.make_unknown_finding(
            "no broker returned the offsets of the group", failure_lines, observation.group
        )
    queue_lags = [lag for consume_stats in reported_stats for lag in consume_stats.queues]
    total_lag = sum_lags(lag.lag for lag in queue_lags)
    lagging_queues = sorted(
        (lag for lag in queue_lags if lag.lag_count), key=lambda lag: lag.lag_count or 0, reverse=True
    )
    if total_lag.messages is None:
        largest = delay_seconds = None
    else:
        largest = (lagging_queues[0].lag_count or 0) if lagging_queues else 0
        delay_seconds = _delay_seconds(lagging_queues, observation.now_ms)
    samples = [
        scale.make_sample("lag", total_lag.messages),
        scale.make_sample("largest", largest),
        scale.make_sample("delay", delay_seconds),
        scale.make_sample("clients", observation.client_count),
    ]
    is_idle = observation.client_count == 0
    silent_lines = [
        f"name server {server_addr}: {error_text(error)}"
        for server_addr, error in observation.unreachable_servers.items()
    ]
    has_warning = silent_lines or (is_idle and total_lag.messages)
    is_incomplete = bool(failure_lines or total_lag.reason)
    minimum_state = (
        CheckState.WARNING if has_warning else CheckState.UNKNOWN if is_incomplete else CheckState.OK
    )
    detail_lines = [
        *(["no client of the group is connected"] if is_idle else []),
        *_format_queues(lagging_queues),
        *_format_unknown_queues(queue_lags, total_lag),
    ]
    detail_lines += [*failure_lines, *silent_lines]
    at_least = "at least " if is_incomplete else ""
    summary = (
        f"the lag of {observation.group} is unknown: {total_lag.reason}"
        if total_lag.messages is None
        else f"{observation.group} has a backlog of {at_least}{total_lag.messages} messages "
        f"on {len(queue_lags)} queues"
    )
    return scale.make_finding(
        summary, samples, detail_lines, minimum_state=minimum_state, about=observation.group
    )


def _delay_seconds(lagging_queues: Sequence[GroupQueueLag], now_ms: int) -> float | None:
    """Return the age of the oldest last consumed message in seconds.

    0 if no queue lags; None if no broker reports when its last consumed message was stored.
    """
    consume_times = [lag.last_consumed_ms for lag in lagging_queues if lag.last_consumed_ms is not None]
    if not consume_times:
        return None if lagging_queues else 0.0
    return max(now_ms - min(consume_times), 0) / 1000


def _format_queues(lagging_queues: Sequence[GroupQueueLag]) -> list[str]:
    queue_lines = [f"{_name_queue(lag)}: {lag.lag_count} behind" for lag in lagging_queues[:_MAX_SHOWN]]
    if len(lagging_queues) > _MAX_SHOWN:
        queue_lines.append(f"and {len(lagging_queues) - _MAX_SHOWN} more queues")
    return queue_lines


def _format_unknown_queues(queue_lags: Sequence[GroupQueueLag], total_lag: Lag) -> list[str]:
    """The reason, and the first queues with an offset that the queue does not have."""
    beyond_end = [lag for lag in queue_lags if lag.lag.reason == BEYOND_END]
    return [
        *(
            [f"not counted: {total_lag.reason}"]
            if total_lag.messages is not None and total_lag.reason
            else []
        ),
        *(
            f"{_name_queue(lag)}: committed offset {lag.consumer_offset}, end {lag.broker_offset}"
            for lag in beyond_end[:_MAX_SHOWN]
        ),
    ]


def _name_queue(lag: GroupQueueLag) -> str:
    return f"{lag.queue.topic} {lag.queue.broker_name} {lag.queue.queue_id}"
