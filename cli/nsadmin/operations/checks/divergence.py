"""Checks whether all name servers have the same state, or are converging."""

from collections.abc import Sequence
from time import monotonic
from typing import NamedTuple

from nsadmin.client import AdminClient
from nsadmin.console.phrases import abbreviate_names, count_noun
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, CheckState, list_failures
from nsadmin.operations.divergence.observer import (
    DivergenceObservation,
    DivergenceObserver,
    find_missing_brokers,
)
from nsadmin.operations.divergence.verdict import DriftFinding as Differing
from nsadmin.operations.divergence.verdict import describe_difference
from nsadmin.operations.inventory.keeper import describe_missing
from nsadmin.operations.inventory.records import MissingBroker

_MAX_SHOWN = 10
_MAX_NAMED = 4


class ServerComparison(NamedTuple):
    """The comparison of name servers, and the expected brokers that no name server lists.

    `inventory_problem` says why these are unknown.
    """

    observation: DivergenceObservation
    missing_brokers: Sequence[MissingBroker] = ()
    inventory_problem: str | None = None


def make_observer(admin: AdminClient, settle_seconds: float) -> DivergenceObserver:
    return DivergenceObserver(admin, lambda: int(monotonic() * 1000), settle_ms=int(settle_seconds * 1000))


def observe(admin: AdminClient, scope: CheckScope) -> ServerComparison:
    scope.skip_if(len(admin.addresses.addrs) < 2, "only one name server")
    observer = scope.divergence_observer or make_observer(admin, scope.settle_seconds)
    observation = observer.observe_until_settled(
        scope.pause_seconds, lambda first_observation, seconds: scope.report_wait(seconds)
    )
    if scope.inventory is None:
        return ServerComparison(observation)
    missing_brokers = find_missing_brokers(observation, scope.inventory)
    return ServerComparison(observation, missing_brokers, scope.inventory.problem)


def judge(scale: CheckScale, comparison: ServerComparison) -> CheckFinding:
    """Count drift only: younger differences may still converge. A comparison needs two name servers."""
    seen, missing, inventory_problem = comparison
    drift = [finding for finding in seen.findings if finding.state == "drift"]
    route_drift = [finding for finding in drift if finding.section_name in ("broker", "topic")]
    young_count = sum(len(finding.differences) for finding in seen.findings if finding.state == "new")
    asked_count, answered_count = len(seen.snapshot_results), len(seen.server_snapshots)
    hidden_count = len(drift) - _MAX_SHOWN
    details = [
        *(_format_finding(finding, seen) for finding in drift[:_MAX_SHOWN]),
        *([f"and {count_noun(hidden_count, 'more kind')} of differences"] if hidden_count > 0 else []),
        *(f"{lost.broker.label}: {describe_missing(lost)}" for lost in missing),
    ]
    doubts = list_failures(seen.snapshot_results, kind="name server")
    missing_text = ""
    if missing:
        labels = abbreviate_names([lost.broker.label for lost in missing], _MAX_NAMED)
        missing_text = f", and no name server lists {labels}"
    if seen.verdict == "unknown":
        return scale.make_finding(
            f"{answered_count} of {asked_count} name servers answered: a comparison needs two{missing_text}",
            {"missing": len(missing)} if missing else {},
            [*details, *doubts],
            minimum_state=CheckState.CRITICAL if missing else CheckState.UNKNOWN,
        ).with_inventory_problem(inventory_problem)
    figures = {
        "drift": _count_differences(drift),
        "routes": _count_differences(route_drift),
        "young": young_count,
        "missing": len(missing),
    }
    if drift:
        summary = (
            f"{count_noun(_count_differences(drift), 'difference')} between "
            f"{count_noun(answered_count, 'name server')}"
        )
    else:
        summary = f"{answered_count} of {asked_count} name servers agree"
    if seen.namespaces.names:
        summary += f" (KV namespaces: {abbreviate_names(seen.namespaces.names, _MAX_NAMED)})"
    if young_count:
        summary += f", and {count_noun(young_count, 'difference')} younger than two heartbeats"
    minimum_state = CheckState.CRITICAL if missing else CheckState.OK
    finding = scale.make_finding(
        summary + missing_text, figures, details, doubts=doubts, minimum_state=minimum_state
    )
    remedies = tuple(difference.cause.advice for difference in drift[:_MAX_SHOWN])
    return finding._replace(remedies=remedies).with_inventory_problem(inventory_problem)


def _count_differences(findings: list[Differing]) -> int:
    return sum(len(finding.differences) for finding in findings)


def _format_finding(finding: Differing, observation: DivergenceObservation) -> str:
    names = finding.item_names
    name_text = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    is_in_broker = finding.section_name == "topic" and finding.parent_name
    parent_text = f" of {finding.parent_name}" if is_in_broker else ""
    difference_text = describe_difference(finding.differences[0], observation.comparison.server_addrs)
    return f"{finding.section_name} {name_text}{parent_text}: {difference_text}; {finding.cause.text}"


CHECK = Check(
    "divergence",
    (
        CheckMeasure(
            "drift", "differences between name servers that last longer than two heartbeats", warning="0"
        ),
        CheckMeasure("routes", "of these, differences in brokers and queues of topics", critical="0"),
        CheckMeasure("young", "differences that may disappear with the next heartbeat"),
        CheckMeasure("missing", "expected brokers that no name server lists"),
    ),
    observe,
    judge,
    warning_when="KV config or settings differ",
    critical_when="brokers or queues of topics differ, or an expected broker is missing",
    remedy="nsadmin divergence",
)
