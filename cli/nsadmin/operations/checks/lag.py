"""Checks the lag of a consumer group, and that it has connected clients."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.connections import is_offline
from nsadmin.client.consumers import ConsumeStats, QueueLag
from nsadmin.client.results import error_text, is_not_found
from nsadmin.operations.checks.finding import Finding, State
from nsadmin.operations.checks.thresholds import Scale

_SHOWN = 5


class Seen(NamedTuple):
    """The progress of a group on each broker at `now_ms`.

    `client_count` is None if unknown. `group_error` says why nothing is known of the group.
    `unreachable_servers` has the errors of the name servers that did not answer.
    """

    group: str
    now: int
    stats: Sequence[ServerResult[ConsumeStats]]
    clients: int | None
    error: RocketMQError | None = None
    away: Mapping[str, RocketMQError] = MappingProxyType({})


def look(
    admin: AdminClient, now: int, group: str, topic: str | None = None, cluster: str | None = None
) -> Seen:
    """Read the progress of the group on each broker, for all its topics or for one."""
    try:
        stats = admin.consumers.progress(group, topic, cluster)
    except RocketMQError as error:
        return Seen(group, now, (), None, error)
    clients = _clients(admin, group, cluster)
    return Seen(group, now, stats, clients, away=dict(admin.unreachable))


def _clients(admin: AdminClient, group: str, cluster: str | None) -> int | None:
    """Count the connected clients: 0 for a group with offsets but no settings, because it was deleted."""
    try:
        return len(admin.consumers.connections(group, cluster).clients)
    except RocketMQError as error:
        return 0 if is_offline(error) or is_not_found(error) else None


def judge(scale: Scale, seen: Seen) -> Finding:
    """If a broker does not answer, the lag is a lower bound: it can raise an alert, but cannot be OK."""
    if seen.error is not None:
        return scale.unknown(error_text(seen.error), about=seen.group)
    away = [f"{addr}: {error_text(error)}" for addr, _, error in seen.stats if error is not None]
    told = [stats for _, stats, _ in seen.stats if stats is not None]
    if not told:
        return scale.unknown("no broker tells how far the group is", away, seen.group)
    queues = [lag for stats in told for lag in stats.queues]
    behind = sorted((lag for lag in queues if _behind(lag)), key=_behind, reverse=True)
    total = sum(map(_behind, behind))
    samples = [
        scale.sample("lag", total),
        scale.sample("largest", _behind(behind[0]) if behind else 0),
        scale.sample("delay", _delay(behind, seen.now)),
        scale.sample("clients", seen.clients),
    ]
    is_idle = seen.clients == 0
    silent = [f"name server {addr}: {error_text(error)}" for addr, error in seen.away.items()]
    is_warned = silent or (is_idle and total)
    least = State.WARNING if is_warned else State.UNKNOWN if away else State.OK
    details = [*(["nobody of the group is connected"] if is_idle else []), *_lines(queues, behind)]
    details += [*away, *silent]
    summary = f"{seen.group} is {'at least ' if away else ''}{total} messages behind on {len(queues)} queues"
    return scale.finding(summary, samples, details, least=least, about=seen.group)


def _behind(lag: QueueLag) -> int:
    return max(lag.diff or 0, 0)


def _delay(behind: Sequence[QueueLag], now: int) -> float | None:
    """Return the age of the oldest last consumed message in seconds.

    0 if no queue lags; None if no broker reports when its last consumed message was stored.
    """
    times = [lag.last_timestamp for lag in behind if lag.last_timestamp is not None]
    if not times:
        return None if behind else 0.0
    return max(now - min(times), 0) / 1000


def _lines(queues: Sequence[QueueLag], behind: Sequence[QueueLag]) -> list[str]:
    lines = [
        f"{lag.queue.topic} {lag.queue.broker_name} {lag.queue.queue_id}: {_behind(lag)} behind"
        for lag in behind[:_SHOWN]
    ]
    if len(behind) > _SHOWN:
        lines.append(f"and {len(behind) - _SHOWN} more queues")
    never = sum(lag.consumer_offset is None for lag in queues)
    return [*lines, f"no offset was ever committed on {never} queues"] if never else lines
