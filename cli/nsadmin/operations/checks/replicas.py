"""Checks whether slaves have what their master has, so that they can serve in its place."""

from collections.abc import Sequence

from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.thresholds import CheckScale
from nsadmin.operations.replicas.comparison import describe_difference
from nsadmin.operations.replicas.records import JudgedDifference, ReplicaComparison

_MAX_SHOWN = 10

_RELEASES_THAT_LOSE_METADATA = ("5.3.3", "5.3.4")
"""Slaves of these releases lose topics and groups (apache/rocketmq issue 9879)."""


def judge_replicas(scale: CheckScale, comparison: ReplicaComparison) -> CheckFinding:
    """Judge the drift and the distance of all slaves. If a broker does not answer, it is at least UNKNOWN."""
    drifted = comparison.drift
    missing_items = [
        judged_difference for judged_difference in drifted if judged_difference.difference.slave_item is None
    ]
    if not comparison.slave_count:
        return scale.make_unknown_finding("no broker with a slave is registered", comparison.failure_lines)
    samples = [
        scale.make_sample("missing", len(missing_items)),
        scale.make_sample("stopped", len(comparison.stopped_slaves)),
        scale.make_sample("drift", len(drifted)),
        scale.make_sample("lagging", len(comparison.lag)),
        *(
            scale.make_sample("distance", distance_bytes, f"{broker_name}:{broker_id}")
            for (broker_name, broker_id), distance_bytes in comparison.log_distances.items()
            if distance_bytes is not None
        ),
    ]
    release_lines = _describe_faulty_releases(comparison)
    minimum_state = CheckState.UNKNOWN if comparison.failure_lines else CheckState.OK
    if release_lines:
        minimum_state = CheckState.WARNING
    if comparison.stopped_slaves:
        minimum_state = CheckState.CRITICAL
    return scale.make_finding(
        _summarize_comparison(comparison, missing_items),
        samples,
        [
            *map(_describe_drift, drifted[:_MAX_SHOWN]),
            *(
                [f"{len(drifted) - _MAX_SHOWN} more: see `nsadmin replicaDiff`"]
                if len(drifted) > _MAX_SHOWN
                else []
            ),
            *release_lines,
            *comparison.failure_lines,
        ],
        minimum_state=minimum_state,
    )


def _summarize_comparison(comparison: ReplicaComparison, missing_items: Sequence[JudgedDifference]) -> str:
    is_single = comparison.slave_count == 1
    slave_text = "1 slave" if is_single else f"{comparison.slave_count} slaves"
    if comparison.is_equal:
        return f"{slave_text} {'is equal to its master' if is_single else 'are equal to their masters'}"
    stopped_count, drift_count = (
        len(comparison.stopped_slaves),
        len(comparison.drift) - len(comparison.stopped_slaves),
    )
    parts = []
    if stopped_count:
        parts.append(
            f"{stopped_count} of {slave_text} {'copies' if stopped_count == 1 else 'copy'} no messages"
        )
    if drift_count:
        parts.append(
            f"{drift_count} lasting differences on {slave_text}, {len(missing_items)} of them missing items"
        )
    if comparison.unread_reasons:
        parts.append(f"{len(comparison.unread_reasons)} of {slave_text} not compared, or not completely")
    if not parts:
        parts.append(f"no lasting difference on {slave_text}")
    if comparison.lag:
        parts.append(f"{len(comparison.lag)} may disappear with the next copy")
    distances = comparison.log_distances.values()
    largest_distance = max((distance for distance in distances if distance is not None), default=0)
    if largest_distance:
        parts.append(f"{largest_distance} bytes of the commit log behind")
    if None in distances and not comparison.unread_reasons:
        parts.append("the distance in bytes is unknown")
    return "; ".join(parts)


def _describe_drift(judged_difference: JudgedDifference) -> str:
    difference = judged_difference.difference
    return (
        f"{difference.broker_name}:{difference.slave.broker_id} {difference.kind.value} "
        f"{difference.item_name}: {describe_difference(difference)} ({judged_difference.reason})"
    )


def _describe_faulty_releases(comparison: ReplicaComparison) -> list[str]:
    return [
        f"{broker_name}:{broker_id} runs {release}, whose slaves lose topics and groups "
        "(apache/rocketmq#9879): upgrade it"
        for (broker_name, broker_id), release in sorted(comparison.releases.items())
        if release in _RELEASES_THAT_LOSE_METADATA
    ]
