"""How far a consumer group is behind, and whether that grows."""

from array import array

from nsadmin.tui.model.cluster_model import ClusterModel, Trend
from nsadmin.tui.model.server_states import LatestAnswer
from nsadmin.tui.polling.poll_records import GroupPolled, QueueLag
from nsadmin.tui.views.groups.group_rows import GroupRow
from tests.support.screens import NOON


def row(lags: list[QueueLag], trend: Trend | None = None) -> GroupRow:
    answer: LatestAnswer[GroupPolled] = LatestAnswer()
    answer.record_answer(GroupPolled(NOON, "g", 4.0, lags))
    return GroupRow("g", answer, trend, NOON)


def test_what_was_not_asked_is_unknown() -> None:
    unasked = GroupRow("g", None, None, NOON)
    assert (unasked.poll, unasked.total_lag, unasked.growth_rate, unasked.delay_ms) == (None,) * 4


def test_queues_without_an_offset_count_for_nothing() -> None:
    group_row = row(
        [
            QueueLag("orders", "broker-a", 0, 1007, 1000, 0, NOON - 60_000),
            QueueLag("orders", "broker-a", 1, 5, None, None, None),
            QueueLag("orders", "broker-a", 2, 5, 5, 0, NOON - 90_000),
        ]
    )
    assert (group_row.total_lag, group_row.delay_ms) == (7, 60_000)
    assert group_row.lag_reason == "no committed offset on 1 of 3 queues"


def test_an_unknown_lag_is_not_0_and_has_no_trend() -> None:
    assert (row([]).total_lag, row([]).lag_reason) == (None, "no committed offset")
    broadcasting = row([QueueLag("orders", "broker-a", 0, 1007, 1000, 0, NOON - 60_000, True)])
    assert (broadcasting.total_lag, broadcasting.delay_ms) == (None, None)
    beyond_end = row([QueueLag("orders", "broker-a", 0, 7, 647_260_490, 0, NOON - 60_000)])
    assert (beyond_end.total_lag, beyond_end.lag_reason) == (None, "committed offset beyond the end")
    model = ClusterModel()
    model.apply_poll(GroupPolled(NOON, "g", 1.0, [QueueLag("orders", "broker-a", 0, 9, 5, 0, None)]))
    assert list(model.lag_trends["g"].values) == [4]
    model.apply_poll(GroupPolled(NOON, "g", 1.0, []))
    assert "g" not in model.lag_trends


def test_growth_is_that_of_the_last_ten_polls() -> None:
    times, values = array("q", range(0, 20_000, 1000)), array("d", [0.0] * 9 + [float(v) for v in range(11)])
    assert row([], Trend(times, values)).growth_rate == 1.0
    assert row([], Trend(times[:1], values[:1])).growth_rate is None
