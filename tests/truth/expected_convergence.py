"""Expected rows of `ns_convergence`, computed from the truth: how long name servers differ after changes."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from tests.truth.recorded_view import TOLERANCE_MS, RecordedView, is_known_at
from tests.truth.true_facts import TopicQueues

_NAME_SERVER, _CHANGE = "name server", "change"


class ExpectedConvergence(NamedTuple):
    """`durations_ms` are the sorted times of the finished changes. `doubtful_count` changes may be missing,
    unfinished or of the other kind: they began or ended when a name server became known or unknown.
    """

    trigger: str
    change_count: int
    unfinished_count: int
    durations_ms: Sequence[int]
    doubtful_count: int


class _Change(NamedTuple):
    """A change of a topic's queues on a broker. `duration_ms` is None if it was not finished."""

    trigger: str
    duration_ms: int | None
    is_doubtful: bool


def expect_convergence(view: RecordedView) -> list[ExpectedConvergence]:
    timelines: dict[tuple[str, str], list[TopicQueues]] = {}
    for queues in view.facts_of(TopicQueues):
        timelines.setdefault((queues.topic, queues.broker_name), []).append(queues)
    watch_moments = {moment for spans in view.known_spans.values() for span in spans for moment in span}
    changes = [c for t in timelines.values() for c in _find_changes(view, t, watch_moments)]
    doubtful_count = sum(change.is_doubtful for change in changes)
    return [
        ExpectedConvergence(
            trigger,
            len(own_changes),
            sum(change.duration_ms is None for change in own_changes),
            sorted(change.duration_ms for change in own_changes if change.duration_ms is not None),
            doubtful_count,
        )
        for trigger in (_CHANGE, _NAME_SERVER)
        if (own_changes := [change for change in changes if change.trigger == trigger])
    ]


def _find_changes(
    view: RecordedView, timeline: Sequence[TopicQueues], watch_moments: set[int]
) -> Iterator[_Change]:
    """Walk from moment to moment, and find the spans in which the known name servers differ."""
    value_moments = {moment for queues in timeline for moment in (queues.since, queues.until)}
    moments = sorted(value_moments | watch_moments | {view.end_ms})
    began: int | None = None
    values_before: dict[str, tuple[int, ...] | None] = {}
    for moment, _ in pairwise([*moments, view.end_ms + 1]):
        values = {} if moment >= view.end_ms else _list_values(view, timeline, moment)
        is_agreed, is_watch_change = len(set(values.values())) <= 1, values.keys() != values_before.keys()
        if began is None and not is_agreed:
            began = moment
            trigger = _NAME_SERVER if is_watch_change else _CHANGE
        elif began is not None and is_agreed:
            is_doubtful = any(
                abs(edge - moment) <= TOLERANCE_MS and edge != view.end_ms
                for edge in (began, moment)
                for moment in watch_moments
            )
            yield _Change(trigger, None if is_watch_change else moment - began, is_doubtful)
            began = None
        elif is_agreed and not is_watch_change and values != values_before:
            # All known name servers got it in the same millisecond.
            yield _Change(_CHANGE, 0, is_doubtful=False)
        values_before = values


def _list_values(
    view: RecordedView, timeline: Sequence[TopicQueues], moment: int
) -> dict[str, tuple[int, ...] | None]:
    """The queues on each name server that is known at this moment; None: no queues."""
    values: dict[str, tuple[int, ...] | None] = {
        server: None for server in view.servers if is_known_at(view, server, moment)
    }
    for queues in timeline:
        if queues.server in values and queues.since <= moment < queues.until:
            values[queues.server] = (
                queues.read_queues, queues.write_queues, queues.perm, queues.sys_flag,
            )  # fmt: skip
    return values


def find_percentile(sorted_values: Sequence[int], share: float) -> int:
    """The percentile of sorted values; between two values, on the line between them."""
    position = share * (len(sorted_values) - 1)
    lower, upper = sorted_values[int(position)], sorted_values[min(int(position) + 1, len(sorted_values) - 1)]
    return round(lower + (upper - lower) * (position % 1))
