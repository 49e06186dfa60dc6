"""Checks whether all name servers have the same state, or are converging."""

from collections.abc import Sequence

from nsadmin.client.results import error_text
from nsadmin.console.phrases import abbreviate_names
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.thresholds import CheckScale
from nsadmin.operations.divergence.findings import DriftFinding as Differing
from nsadmin.operations.divergence.findings import describe_difference
from nsadmin.operations.divergence.observer import DivergenceObservation
from nsadmin.operations.inventory.keeper import describe_missing
from nsadmin.operations.inventory.records import MissingBroker

_MAX_SHOWN = 10
_MAX_NAMED = 4


def judge_divergence(
    scale: CheckScale,
    observation: DivergenceObservation,
    missing_brokers: Sequence[MissingBroker] = (),
    inventory_problem: str | None = None,
) -> CheckFinding:
    """Count drift only: younger differences may still converge. A comparison needs two name servers.

    `missing_brokers` are expected, and no name server lists them. `inventory_problem` says why they are
    unknown.
    """
    drift_findings = [finding for finding in observation.findings if finding.state == "drift"]
    route_findings = [finding for finding in drift_findings if finding.section_name in ("broker", "topic")]
    young_count = sum(len(finding.differences) for finding in observation.findings if finding.state == "new")
    asked_count, answered_count = len(observation.snapshot_results), len(observation.server_snapshots)
    detail_lines = [_format_finding(finding, observation) for finding in drift_findings[:_MAX_SHOWN]]
    detail_lines += (
        [f"and {len(drift_findings) - _MAX_SHOWN} more kinds of differences"]
        if len(drift_findings) > _MAX_SHOWN
        else []
    )
    detail_lines += [
        f"name server {namesrv_addr}: {error_text(error)}"
        for namesrv_addr, _, error in observation.snapshot_results
        if error is not None
    ]
    detail_lines += [
        f"{missing_broker.broker.label}: {describe_missing(missing_broker)}"
        for missing_broker in missing_brokers
    ]
    missing_sample = scale.make_sample("missing", len(missing_brokers))
    if observation.verdict == "unknown":
        summary = f"{answered_count} of {asked_count} name servers answered: a comparison needs two"
        return scale.make_finding(
            summary + _format_missing(missing_brokers),
            [missing_sample] if missing_brokers else [],
            detail_lines,
            minimum_state=CheckState.CRITICAL if missing_brokers else CheckState.UNKNOWN,
        ).with_inventory_problem(inventory_problem)
    samples = [
        scale.make_sample("drift", _count_differences(drift_findings)),
        scale.make_sample("routes", _count_differences(route_findings)),
        scale.make_sample("young", young_count),
        missing_sample,
    ]
    if drift_findings:
        summary = f"{_count_differences(drift_findings)} differences between {answered_count} name servers"
    else:
        summary = f"{answered_count} of {asked_count} name servers agree"
    if observation.namespaces.names:
        summary += f" (KV namespaces: {abbreviate_names(observation.namespaces.names, _MAX_NAMED)})"
    if young_count:
        summary += f", {young_count} differences are younger than two heartbeats"
    summary += _format_missing(missing_brokers)
    minimum_state = CheckState.UNKNOWN if answered_count < asked_count else CheckState.OK
    if missing_brokers:
        minimum_state = CheckState.CRITICAL
    check_finding = scale.make_finding(summary, samples, detail_lines, minimum_state=minimum_state)
    return check_finding._replace(
        remedies=tuple(finding.cause.advice for finding in drift_findings[:_MAX_SHOWN])
    ).with_inventory_problem(inventory_problem)


def _format_missing(missing_brokers: Sequence[MissingBroker]) -> str:
    if not missing_brokers:
        return ""
    labels = [missing_broker.broker.label for missing_broker in missing_brokers]
    return f", and no name server lists {abbreviate_names(labels, _MAX_NAMED)}"


def _count_differences(findings: list[Differing]) -> int:
    return sum(len(finding.differences) for finding in findings)


def _format_finding(finding: Differing, observation: DivergenceObservation) -> str:
    name_text = (
        finding.item_names[0]
        if len(finding.item_names) == 1
        else f"{finding.item_names[0]} and {len(finding.item_names) - 1} more"
    )
    parent_text = (
        f" of {finding.parent_name}" if finding.section_name == "topic" and finding.parent_name else ""
    )
    difference_text = describe_difference(finding.differences[0], observation.comparison.server_addrs)
    return f"{finding.section_name} {name_text}{parent_text}: {difference_text}; {finding.cause.text}"
