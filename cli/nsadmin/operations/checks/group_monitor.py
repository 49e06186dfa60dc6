"""Checks every consumer group: its lag, its connected clients, and the problems that they report."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.consumers.consumer_progress import GroupProgress
from nsadmin.client.consumers.lag import BROADCASTS
from nsadmin.client.results import error_text
from nsadmin.console.phrases import abbreviate_names, count_noun, part_is
from nsadmin.operations.checks.check import CheckScale
from nsadmin.operations.checks.findings import CheckFinding, CheckState, state_weight, worst_state

_MAX_SHOWN = 5


class GroupObservation(NamedTuple):
    """The progress of a group on all brokers. `client_problems` has a line per problem of its clients."""

    group_progress: GroupProgress
    client_problems: tuple[str, ...] = ()


def observe_groups(
    admin: AdminClient, now_ms: int, cluster_name: str | None = None
) -> tuple[list[GroupObservation], Mapping[str, RocketMQError | None]]:
    """Return every group that at least one broker knows, and the error or None of each broker.

    Joins no group and commits no offset.
    """
    all_progress, error_by_broker = admin.consumers.get_all_progress(cluster_name)
    return [
        GroupObservation(progress, _find_client_problems(admin, progress, now_ms, cluster_name))
        for progress in all_progress
    ], error_by_broker


def _find_client_problems(
    admin: AdminClient, progress: GroupProgress, now_ms: int, cluster_name: str | None
) -> tuple[str, ...]:
    if not progress.connections.clients:
        return ()
    try:
        # This asks for the connections again, because clients come and go.
        group_runtime = admin.client_runtime.get_group(progress.group, cluster_name=cluster_name)
    except RocketMQError as error:
        return (f"the clients did not answer: {error_text(error)}",)
    silent_lines = [
        f"client {result.client.client_id}: {error_text(result.error)}"
        for result in group_runtime.clients
        if result.error is not None
    ]
    # With one cluster of several, a queue without a client here may have a client in another cluster.
    return (
        *silent_lines,
        *(admin.client_runtime.find_problems(group_runtime, now_ms) if cluster_name is None else ()),
    )


def describe_health(bad: Sequence[CheckFinding], total: int, *, is_complete: bool) -> str:
    """Name the groups that are not healthy, and those that are not known, or say that all are healthy.

    Without some broker, nobody knows that.
    """
    ill = [finding.about or "" for finding in bad if finding.state is not CheckState.UNKNOWN]
    unknown = [finding.about or "" for finding in bad if finding.state is CheckState.UNKNOWN]
    if bad:
        return "; ".join(
            f"{part_is(len(names), total, 'group')} {state}: {abbreviate_names(names, _MAX_SHOWN)}"
            for names, state in ((ill, "not healthy"), (unknown, "unknown"))
            if names
        )
    if total and not is_complete:
        return f"no known problem of {count_noun(total, 'group')}"
    return (
        f"all {total} groups are healthy"
        if total > 1
        else "the only group is healthy"
        if total
        else "no groups"
    )


def judge_groups(
    scale: CheckScale,
    observations: Sequence[GroupObservation],
    error_by_broker: Mapping[str, RocketMQError | None],
) -> tuple[CheckFinding, list[CheckFinding]]:
    """Return a finding for all groups, and the unhealthy groups, worst first. `scale` is the check lag's."""
    findings = [judge_group(scale, entry) for entry in observations]
    bad = [finding for finding in findings if finding.state is not CheckState.OK]
    bad.sort(key=lambda finding: (-state_weight(finding.state), finding.about))
    failures = [
        f"{addr}: {error_text(error)}" for addr, error in error_by_broker.items() if error is not None
    ]
    state = worst_state([*(finding.state for finding in bad), *([CheckState.UNKNOWN] if failures else [])])
    summary = describe_health(bad, len(findings), is_complete=not failures)
    if failures:
        summary += f"; {len(failures)} of {len(error_by_broker)} brokers returned no list of groups"
    return CheckFinding("monitoring", state, summary, (), tuple(failures)), bad


def judge_group(scale: CheckScale, seen: GroupObservation) -> CheckFinding:
    """If a broker does not answer, the lag is a lower bound: it can raise an alert, but cannot be OK."""
    progress = seen.group_progress
    group, connections, total_lag = progress.group, progress.connections, progress.lag
    lag_error, lag_reason = progress.error, progress.lag_reason
    failure_lines = [
        f"{addr}: {error_text(error)}" for addr, error in connections.errors.items() if error is not None
    ]
    failure_lines += [
        f"proxies, {server}: {error_text(proxy_error)}"
        for server, proxy_error in connections.proxy_errors.items()
    ]
    client_count = None if failure_lines and not connections.clients else len(connections.clients)
    if total_lag is None and lag_error is not None:
        return scale.make_unknown_finding(f"{group}: {error_text(lag_error)}", failure_lines, group)
    is_idle = client_count == 0 and bool(total_lag)
    problem_lines = (*connections.disagreements, *seen.client_problems)
    minimum_state = (
        CheckState.WARNING
        if is_idle or problem_lines
        else CheckState.UNKNOWN
        if failure_lines or lag_error or lag_reason
        else CheckState.OK
    )
    detail_lines = [
        *(["no client of the group is connected"] if is_idle else []),
        *problem_lines,
        *([f"not counted: {lag_reason}"] if total_lag is not None and lag_reason else []),
        *failure_lines,
    ]
    if lag_reason == BROADCASTS and lag_error is None:
        return scale.make_finding(
            f"{group} broadcasts, so it has no lag",
            {"clients": client_count},
            detail_lines,
            minimum_state=CheckState.WARNING
            if problem_lines
            else CheckState.UNKNOWN
            if failure_lines
            else CheckState.OK,
            about=group,
        )
    figures = {"lag": total_lag, "clients": client_count}
    at_least = "at least " if lag_error or lag_reason else ""
    summary = (
        f"the lag of {group} is unknown: {lag_reason}"
        if total_lag is None
        else f"{group} has a lag of {at_least}{count_noun(total_lag, 'message')}"
    )
    return scale.make_finding(summary, figures, detail_lines, minimum_state=minimum_state, about=group)
