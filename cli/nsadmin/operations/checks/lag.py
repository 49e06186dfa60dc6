"""Checks the lag of a consumer group, or of all, and that groups have connected clients."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from namesrv_core.errors import RequestError, ResponseCode, RocketMQError
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.consumers.connected_clients import is_group_offline
from nsadmin.client.consumers.consume_stats import ConsumeStats, GroupQueueLag, measure_delay
from nsadmin.client.consumers.consumer_progress import GroupProgress
from nsadmin.client.consumers.lag import (
    BROADCASTS,
    NEVER_COMMITTED,
    Lag,
    describe_no_offsets,
    sum_lags,
)
from nsadmin.client.results import NotFound, error_text, is_not_found
from nsadmin.console.phrases import count_noun
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope
from nsadmin.operations.checks.findings import (
    CheckFinding,
    CheckMeasure,
    CheckState,
    list_failures,
    worst_state,
)
from nsadmin.operations.checks.group_monitor import GroupObservation, describe_health, judge_groups

_MAX_SHOWN = 5
_MAX_GROUPS = 20


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
    topic: str | None = None
    min_clients: int = 0


class AllLagsObservation(NamedTuple):
    """The progress of every group, and the error or None of each broker that was asked for its groups."""

    groups: Sequence[GroupProgress]
    error_by_broker: Mapping[str, RocketMQError | None]


def observe(admin: AdminClient, scope: CheckScope) -> LagObservation | AllLagsObservation:
    """Read the progress of the group on each broker, for all its topics or for one; without one, of all."""
    if scope.group is None:
        groups, error_by_broker = admin.consumers.get_all_progress(scope.cluster_name)
        excluded = scope.excluded
        judged = [g for g in groups if excluded is None or not excluded.search(g.group)]
        listing = listed_brokers.observe_listing(admin, scope.cluster_name, scope.inventory)
        gone = {name: NotFound("left all name servers") for name in listing.gone_names}
        return AllLagsObservation(judged, {**error_by_broker, **gone})
    group, now_ms = scope.group, admin.clock_ms
    try:
        stats_results = admin.consumers.get_progress(group, scope.topic, scope.cluster_name)
    except RocketMQError as error:
        return LagObservation(group, now_ms, (), None, error)
    client_count = _count_clients(admin, group, scope.cluster_name)
    return LagObservation(
        group,
        now_ms,
        stats_results,
        client_count,
        unreachable_servers=dict(admin.unreachable),
        topic=scope.topic,
        min_clients=scope.min_clients,
    )


def _count_clients(admin: AdminClient, group: str, cluster_name: str | None) -> int | None:
    """Count the connected clients: 0 for a group with offsets but no settings, because it was deleted.

    The number is unknown if no server reports a client, and one of them failed.
    """
    try:
        connections = admin.consumers.get_connections(group, cluster_name)
    except RocketMQError as error:
        return 0 if is_group_offline(error) or is_not_found(error) else None
    errors = [e for e in (*connections.errors.values(), *connections.proxy_errors.values()) if e is not None]
    is_unknown = any(
        not isinstance(error, RequestError) or error.code != ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
        for error in errors
    )
    return len(connections.clients) or (None if is_unknown else 0)


def judge(scale: CheckScale, seen: LagObservation | AllLagsObservation) -> CheckFinding:
    """If a broker does not answer, the lag is a lower bound: it can raise an alert, but cannot be OK."""
    if isinstance(seen, AllLagsObservation):
        return _judge_all(scale, seen)
    if seen.group_error is not None:
        return scale.make_unknown_finding(error_text(seen.group_error), about=seen.group)
    failure_lines = list_failures(seen.stats_results)
    stats = [result.result for result in seen.stats_results if result.result is not None]
    has_clients, client_text = _judge_clients(seen)
    if not stats:
        return scale.make_finding(
            f"{client_text}no broker returned the offsets of the group",
            {"clients": seen.client_count},
            failure_lines,
            minimum_state=worst_state([CheckState.UNKNOWN, has_clients]),
            about=seen.group,
        )
    queues = [queue for broker_stats in stats for queue in broker_stats.queues]
    total = sum_lags(queue.lag for queue in queues)
    if total.reason == BROADCASTS and not failure_lines:
        return scale.make_finding(
            f"{client_text}{seen.group} broadcasts, so it has no lag: each client keeps its own offsets",
            {"clients": seen.client_count},
            minimum_state=has_clients,
            about=seen.group,
        )
    lagging = sorted((q for q in queues if q.lag.messages), key=lambda q: q.lag.messages or 0, reverse=True)
    if total.messages is None:
        largest = delay_seconds = None
    else:
        largest = (lagging[0].lag.messages or 0) if lagging else 0
        delay_seconds = measure_delay(lagging, seen.now_ms)
    figures = {
        "lag": total.messages,
        "largest": largest,
        "delay": delay_seconds,
        "clients": seen.client_count,
    }
    is_idle = seen.client_count == 0
    silent_lines = [
        f"name server {addr}: {error_text(error)}" for addr, error in seen.unreachable_servers.items()
    ]
    has_warning = silent_lines or (is_idle and total.messages)
    is_incomplete = bool(failure_lines or total.reason)
    minimum_state = (
        CheckState.WARNING if has_warning else CheckState.UNKNOWN if is_incomplete else CheckState.OK
    )
    details = [
        *(["no client of the group is connected"] if is_idle else []),
        *_format_queues(lagging),
        *_format_unknown_queues(queues, total),
        *failure_lines,
        *silent_lines,
    ]
    at_least = "at least " if is_incomplete else ""
    summary = (
        f"the lag of {seen.group} is unknown: "
        + (f"{total.reason}" if queues else describe_no_offsets(seen.topic))
        if total.messages is None
        else f"{seen.group} has a lag of {at_least}{count_noun(total.messages, 'message')} on "
        f"{count_noun(len(queues), 'queue')}"
    )
    return scale.make_finding(
        f"{client_text}{summary}",
        figures,
        details,
        minimum_state=worst_state([minimum_state, has_clients]),
        about=seen.group,
    )


def _judge_clients(seen: LagObservation) -> tuple[CheckState, str]:
    """The state of the number of clients, and what a summary says first if it is not OK."""
    count, minimum = seen.client_count, seen.min_clients
    if count is None:
        return (CheckState.UNKNOWN, "the number of clients is unknown; ") if minimum else (CheckState.OK, "")
    if count < minimum:
        return CheckState.CRITICAL, f"{count_noun(count, 'connected client')}, fewer than {minimum}; "
    return CheckState.OK, ""


def _judge_all(scale: CheckScale, seen: AllLagsObservation) -> CheckFinding:
    """Judge every group that consumed something, or has clients. The largest lag of a group counts."""
    used = [group for group in seen.groups if not _is_unused(group)]
    overall, bad = judge_groups(scale, [GroupObservation(group) for group in used], seen.error_by_broker)
    failures = overall.details
    lags = {group.group: group.lag for group in used if group.lag is not None}
    largest = max(lags, key=lambda group: lags[group], default=None)
    is_unknown = any(group.lag is None and group.lag_reason != BROADCASTS for group in used)
    most = lags[largest] if largest is not None else None if is_unknown else 0
    summary = describe_health(bad, len(used), is_complete=not failures)
    errors = [group.error for group in used if group.error is not None]
    if largest is not None:
        known = "known " if failures or errors else ""
        at_least = "at least " if errors else ""
        lag_text = count_noun(lags[largest], "message")
        summary += f"; the largest {known}lag is {at_least}{lag_text}, of {largest}"
    if errors:
        summary += f"; not every broker answered: {error_text(errors[0])}"
    if failures:
        asked_text = count_noun(len(seen.error_by_broker), "broker")
        summary += f"; {len(failures)} of {asked_text} returned no list of groups"
    if unused_count := len(seen.groups) - len(used):
        summary += f"; not counted: {count_noun(unused_count, 'group')} without offsets and clients"
    return scale.make_finding(
        summary,
        {"lag": most, "groups": len(used), "groupLag": lags},
        [
            *("; ".join([f"{finding.summary}", *finding.details]) for finding in bad[:_MAX_GROUPS]),
            *([f"and {len(bad) - _MAX_GROUPS} more groups"] if len(bad) > _MAX_GROUPS else []),
            *failures,
        ],
        minimum_state=overall.state,
        affected=[finding.about or "" for finding in bad if finding.state is bad[0].state],
    )


def _is_unused(group: GroupProgress) -> bool:
    """Whether a group never consumed anything, and has no client. Then no message waits for it."""
    return group.lag_reason == NEVER_COMMITTED and group.error is None and not group.connections.clients


def _format_queues(lagging: Sequence[GroupQueueLag]) -> list[str]:
    lines = [
        f"{_name_queue(queue)}: {count_noun(queue.lag.messages or 0, 'message')} behind"
        for queue in lagging[:_MAX_SHOWN]
    ]
    if len(lagging) > _MAX_SHOWN:
        lines.append(f"and {len(lagging) - _MAX_SHOWN} more queues")
    return lines


def _format_unknown_queues(queues: Sequence[GroupQueueLag], total: Lag) -> list[str]:
    """The reason, and the first queues with an offset that the queue does not have."""
    beyond_end = [q for q in queues if q.consumer_offset is not None and q.consumer_offset > q.broker_offset]
    is_partial = total.messages is not None and total.reason
    return [
        *([f"not counted: {total.reason}"] if is_partial else []),
        *(
            f"{_name_queue(queue)}: consumer offset {queue.consumer_offset}, end {queue.broker_offset}"
            for queue in beyond_end[:_MAX_SHOWN]
        ),
    ]


def _name_queue(lag: GroupQueueLag) -> str:
    return f"{lag.queue.topic} {lag.queue.broker_name} {lag.queue.queue_id}"


CHECK = Check(
    "lag",
    (
        CheckMeasure(
            "lag", "messages that wait for the group, or the most of any", warning="10000", critical="100000"
        ),
        CheckMeasure("largest", "largest lag of a queue"),
        CheckMeasure("delay", "age of the oldest message that waits for the group", "s"),
        CheckMeasure("clients", "connected clients of the group"),
        CheckMeasure("groups", "groups that were examined"),
        CheckMeasure("groupLag", "messages that wait for each group", label_name="group"),
    ),
    observe,
    judge,
    warning_when="the group is behind, or messages wait and no consumer is connected",
    critical_when="the group is far behind",
    remedy="nsadmin group explain {about}",
)
