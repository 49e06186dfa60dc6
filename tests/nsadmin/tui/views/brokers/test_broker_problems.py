"""Which brokers come first."""

import pytest

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import AnyPoll, ReplicasPolled
from nsadmin.tui.polling.replica_records import SlaveRecord
from nsadmin.tui.views.base_view import NO_PROBLEM
from nsadmin.tui.views.brokers.broker_problems import rank_broker
from nsadmin.tui.views.brokers.broker_rows import list_broker_rows
from tests.support.screens import NOON, make_broker_poll, make_server_poll, make_silent_broker

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
