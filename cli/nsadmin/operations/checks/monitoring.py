"""Monitoring: every consumer group by itself - how far behind, who is there, and what is wrong with them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.consumers import GroupProgress
from nsadmin.client.results import error_text
from nsadmin.operations.checks.finding import Finding, State, weight, worst
from nsadmin.operations.checks.thresholds import Scale


class Seen(NamedTuple):
    """One group over all brokers; `problems` are a line each, of what its clients tell of themselves."""

    progress: GroupProgress
    problems: tuple[str, ...] = ()


def look(
    admin: AdminClient, now: int, cluster: str | None = None
) -> tuple[list[Seen], Mapping[str, RocketMQError | None]]:
    """At every group that any broker knows, at `now` (ms); and what became of asking each broker.

    No group is joined and no offset committed.
    """
    groups, brokers = admin.consumers.all_progress(cluster)
    return [Seen(progress, _problems(admin, progress, now, cluster)) for progress in groups], brokers


def _problems(admin: AdminClient, progress: GroupProgress, now: int, cluster: str | None) -> tuple[str, ...]:
    if not progress.connections.clients:
        return ()
    try:
        # Who is connected is asked anew: clients come and go.
        found = admin.running.group(progress.group, cluster_name=cluster)
    except RocketMQError as error:
        return (f"its clients could not be asked: {error_text(error)}",)
    silent = [
        f"client {item.client.client_id}: {error_text(item.error)}"
        for item in found.clients
        if item.error is not None
    ]
    # In one cluster of several, what nobody there has is not missing.
    return (*silent, *(admin.running.problems(found, now) if cluster is None else ()))


def judge(
    scale: Scale, seen: Sequence[Seen], brokers: Mapping[str, RocketMQError | None]
) -> tuple[Finding, list[Finding]]:
    """All groups as one, and those that are not well, the worst first; `scale` is that of the check lag."""
    found = [_group(scale, one) for one in seen]
    bad = sorted(
        (one for one in found if one.state is not State.OK), key=lambda one: (-weight(one.state), one.about)
    )
    away = [f"{addr}: {error_text(error)}" for addr, error in brokers.items() if error is not None]
    state = worst([*(one.state for one in bad), *([State.UNKNOWN] if away else [])])
    whole = (
        f"all {len(found)} groups are well" if not bad else f"{len(bad)} of {len(found)} groups are not well"
    )
    if away:
        whole += f"; {len(away)} of {len(brokers)} brokers do not tell their groups"
    return Finding("monitoring", state, whole, (), tuple(away)), bad


def _group(scale: Scale, seen: Seen) -> Finding:
    """A broker that does not tell makes the rest a lower bound: enough for an alert, too little for OK."""
    group, connections, _, behind, _, error = seen.progress
    away = [f"{addr}: {error_text(why)}" for addr, why in connections.errors.items() if why is not None]
    clients = None if away and not connections.clients else len(connections.clients)
    if behind is None and error is not None:
        return scale.unknown(f"{group}: {error_text(error)}", away, group)
    is_idle = clients == 0 and bool(behind)
    problems = (*connections.disagreements, *seen.problems)
    least = State.WARNING if is_idle or problems else State.UNKNOWN if away or error else State.OK
    details = [*(["nobody of the group is connected"] if is_idle else []), *problems, *away]
    samples = [scale.sample("lag", behind), scale.sample("clients", clients)]
    summary = f"{group} is {'at least ' if error else ''}{behind} messages behind"
    return scale.finding(summary, samples, details, least=least, about=group)
