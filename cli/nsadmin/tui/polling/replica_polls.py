"""The comparison of slaves with their masters, as a poll."""

from collections import Counter
from collections.abc import Sequence

from nsadmin.operations.replicas.comparison import describe_difference
from nsadmin.operations.replicas.records import DifferenceState, JudgedDifference, ReplicaComparison
from nsadmin.tui.polling.poll_records import ReplicasPolled, SlaveDifferenceRecord, SlaveRecord

_MAX_SLAVE_DIFFERENCES = 500
"""A slave that never copied lacks ten thousand topics, and a recording has every poll."""


def make_replicas_poll(comparison: ReplicaComparison, now_ms: int) -> ReplicasPolled:
    """Return the poll of a comparison. Each slave has its first differences, drift before lag."""
    differences_by_slave: dict[tuple[str, int], list[JudgedDifference]] = {
        key: [] for key in comparison.releases
    }
    for judged in sorted(comparison.differences, key=lambda judged: judged.state is DifferenceState.LAG):
        key = (judged.difference.broker_name, judged.difference.slave.broker_id)
        differences_by_slave[key].append(judged)
    return ReplicasPolled(
        now_ms,
        [
            _make_slave_record(key, differences, comparison.unread_reasons.get(key))
            for key, differences in differences_by_slave.items()
        ],
    )


def _make_slave_record(
    key: tuple[str, int], differences: Sequence[JudgedDifference], unread_reason: str | None
) -> SlaveRecord:
    counts_by_state = Counter(judged.state for judged in differences)
    drift_count, lag_count = counts_by_state[DifferenceState.DRIFT], counts_by_state[DifferenceState.LAG]
    if drift_count:
        state_word = "drift"
    elif unread_reason is not None:
        state_word = "unknown"
    else:
        state_word = "lag" if lag_count else "equal"
    return SlaveRecord(
        *key,
        state_word,
        drift_count,
        lag_count,
        unread_reason,
        [_make_difference_record(judged) for judged in differences[:_MAX_SLAVE_DIFFERENCES]],
    )


def _make_difference_record(judged: JudgedDifference) -> SlaveDifferenceRecord:
    return SlaveDifferenceRecord(
        judged.difference.kind.value,
        judged.difference.item_name,
        judged.state.value,
        describe_difference(judged.difference),
        judged.reason,
        judged.since_ms,
    )
