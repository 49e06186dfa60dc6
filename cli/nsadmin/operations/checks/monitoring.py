"""Checks every consumer group: its lag, its connected clients, and the problems that they report."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.consumers import GroupProgress
from nsadmin.client.results import error_text
from nsadmin.operations.checks.finding import Finding, State, weight, worst
from nsadmin.operations.checks.thresholds import Scale


class Seen(NamedTuple):
    """The progress of a group on all brokers. `client_problems` has a line per problem of its clients."""

    progress: GroupProgress
    problems: tuple[str, ...] = ()


def look(
    admin: AdminClient, now: int, cluster: str | None = None
) -> tuple[list[Seen], Mapping[str, RocketMQError | None]]:
    """Return every group that at least one broker knows, and the error or None of each broker.

    Joins no group and commits no offset.
    """
    groups, brokers = admin.consumers.all_progress(cluster)
    return [Seen(progress, _problems(admin, progress, now, cluster)) for progress in groups], brokers


def _problems(admin: AdminClient, progress: GroupProgress, now: int, cluster: str | None) -> tuple[str, ...]:
    if not progress.connections.clients:
        return ()
    try:
        # This asks for the connections again, because clients come and go.
        found = admin.running.group(progress.group, cluster_name=cluster)
    except RocketMQError as error:
        return (f"its clients could not be asked: {error_text(error)}",)
    silent = [
        f"client {item.client.client_id}: {error_text(item.error)}"
        for item in found.clients
        if item.error is not None
    ]
    # With one cluster of several, a queue without a client here may have a client in another cluster.
    return (*silent, *(admin.running.problems(found, now) if cluster is None else ()))


def judge(
    scale: Scale, seen: Sequence[Seen], brokers: Mapping[str, RocketMQError | None]
) -> tuple[Finding, list[Finding]]:
    """Return a finding for all groups, and the unhealthy groups, worst first. `scale` is that of check lag."""
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
    """If a broker does not answer, the lag is a lower bound: it can raise an alert, but cannot be OK."""
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
