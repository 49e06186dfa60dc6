"""What is known of each broker process."""

import pytest

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import AnyPoll, NameServerPolled, ReplicasPolled, SlaveRecord
from nsadmin.tui.views.base_view import NO_PROBLEM
from nsadmin.tui.views.brokers.broker_rows import list_broker_rows, rank_broker
from nsadmin.tui.views.brokers.broker_table import BrokersView
from nsadmin.tui.views.table import Cell
from tests.nsadmin.tui.views.brokers.test_broker_table import BOTH, MASTER, SLAVE, cell, model_of
from tests.support.screens import NOON, make_broker_poll, make_server_poll, make_silent_broker


def test_rows_are_in_the_order_of_cluster_name_and_id() -> None:
    model = model_of(make_server_poll(groups={"broker-b": {0: "h:3"}, "broker-a": {1: SLAVE, 0: MASTER}}))
    row_fields = [
        (row.broker_name, row.broker_id, row.broker_addr, row.server_count, row.now_ms)
        for row in list_broker_rows(model)
    ]
    assert [fields[:3] for fields in row_fields] == [
        ("broker-a", 0, MASTER), ("broker-a", 1, SLAVE), ("broker-b", 0, "h:3")
    ]  # fmt: skip
    assert {fields[3:] for fields in row_fields} == {(1, model.now_ms)}


def test_the_last_word_of_a_silent_name_server_is_not_counted() -> None:
    other = make_server_poll("10.0.0.2:9876", groups={"broker-a": {0: MASTER}})
    model = model_of(make_server_poll(groups={"broker-a": {0: MASTER}}), other)
    model.apply_poll(NameServerPolled(NOON + 1000, "10.0.0.2:9876", error="closed"))
    model.apply_poll(make_server_poll(at=NOON + 2000, groups={}))
    [row] = list_broker_rows(model)
    assert (row.listing_count, row.server_count, row.broker.gone_since_ms) == (0, 1, None)
    assert cell(row, "listed") == Cell("0/2?", "bad")


def test_what_a_slave_lacks_is_more_than_two_seconds_of_its_master() -> None:
    _, slave = list_broker_rows(
        model_of(BOTH, make_broker_poll(MASTER), make_broker_poll(SLAVE, commitLogMaxOffset="900000000"))
    )
    assert cell(slave, "replica") == Cell("95.4 MiB", "warn")


def test_nobody_knows_what_a_slave_lacks_while_one_of_them_is_silent() -> None:
    for polls in (
        (make_silent_broker(MASTER), make_broker_poll(SLAVE)),
        (make_broker_poll(MASTER), make_silent_broker(SLAVE)),
        (make_broker_poll(MASTER),),
    ):
        _, slave = list_broker_rows(model_of(BOTH, *polls))
        assert slave.missing_bytes is None


def test_a_broker_that_is_frozen_or_gone_has_no_present_figures() -> None:
    live_columns = ("in", "out", "wait", "dispatch", "rtt", "uptime", "metadata")
    answers = (BOTH, make_broker_poll(MASTER), make_broker_poll(SLAVE))
    comparison = ReplicasPolled(NOON, [SlaveRecord("broker-a", 1, "equal")])
    for silence in (
        [make_silent_broker(addr, NOON + at) for at in (1000, 2000) for addr in (MASTER, SLAVE)],
        [make_server_poll(at=NOON + 420_000, groups={})],
    ):
        model = model_of(*answers, comparison, *silence)
        for row in list_broker_rows(model):
            assert {cell(row, key).text for key in live_columns} == {"–"} | (
                {""} if row.broker_id == 0 else set()
            )
        assert "in –/s" in "".join(part.text for part in BrokersView().render_headline(model))


def test_the_bars_of_a_gone_broker_end() -> None:
    model = model_of(BOTH, make_broker_poll(MASTER), make_server_poll(at=NOON + 1, groups={}))
    assert [cell(row, "ins").text for row in list_broker_rows(model)] == ["", ""]


def test_a_silent_name_server_says_nothing_about_heartbeats() -> None:
    model = model_of(make_server_poll(silences={MASTER: (5_000, 120_000)}))
    [row] = list_broker_rows(model)
    assert cell(row, "heartbeat").text == "5 s"
    model.apply_poll(NameServerPolled(NOON + 1000, "10.0.0.1:9876", error="closed"))
    assert cell(row, "heartbeat").text == "–"


A, ONE, TWO = "10.0.1.1:10911", "10.0.0.1:9876", "10.0.0.2:9876"


def rank(*polls: AnyPoll) -> int:
    model = ClusterModel([ONE, TWO])
    for poll in (make_server_poll(ONE), *polls):
        model.apply_poll(poll)
    return rank_broker(list_broker_rows(model)[0])


@pytest.mark.parametrize(
    ("polls", "found"),
    [
        ([make_broker_poll(A)], NO_PROBLEM),
        ([make_broker_poll(A, commitLogDiskRatio="0.95")], 0),
        ([make_broker_poll(A, sendThreadPoolQueueHeadWaitTimeMills="90000")], 0),
        ([make_broker_poll(A), make_silent_broker(A), make_silent_broker(A, NOON + 1000)], 0),
        ([make_broker_poll(A), make_silent_broker(A)], 1),
        ([make_broker_poll(A), make_server_poll(TWO, groups={})], 1),
        ([make_server_poll(ONE, silences={A: (119_000, 120_000)}), make_broker_poll(A)], 0),
    ],
)
def test_the_rank_of_a_broker(polls: list[AnyPoll], found: int) -> None:
    assert rank(*polls) == found


def test_a_late_answer_does_not_move_the_row() -> None:
    late = make_broker_poll(A)
    late = type(late)(late.at, late.addr, 900.0, late.table)
    assert rank(late) == NO_PROBLEM


@pytest.mark.parametrize(
    ("state", "found"), [("equal", NO_PROBLEM), ("lag", NO_PROBLEM), ("unknown", NO_PROBLEM), ("drift", 1)]
)
def test_a_slave_with_drift_is_a_problem_and_its_master_is_none(state: str, found: int) -> None:
    model = ClusterModel([ONE])
    polls: list[AnyPoll] = [
        make_server_poll(ONE, groups={"broker-a": {0: A, 1: "10.0.1.2:10911"}}),
        make_broker_poll(A), make_broker_poll("10.0.1.2:10911"),
        ReplicasPolled(NOON, [SlaveRecord("broker-a", 1, state)]),
    ]  # fmt: skip
    for poll in polls:
        model.apply_poll(poll)
    assert [rank_broker(row) for row in list_broker_rows(model)] == [NO_PROBLEM, found]
