"""Which brokers come first."""

import pytest

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import AnyPoll, ReplicasPolled
from nsadmin.tui.polling.replica_records import SlaveRecord
from nsadmin.tui.views.base_view import NO_PROBLEM
from nsadmin.tui.views.brokers.broker_problems import rank_broker
from nsadmin.tui.views.brokers.broker_rows import list_broker_rows
from tests.support.screens import NOON, broker, server, silent

A, ONE, TWO = "10.0.1.1:10911", "10.0.0.1:9876", "10.0.0.2:9876"


def rank(*polls: AnyPoll) -> int:
    model = ClusterModel([ONE, TWO])
    for poll in (server(ONE), *polls):
        model.apply_poll(poll)
    return rank_broker(list_broker_rows(model)[0])


@pytest.mark.parametrize(
    ("polls", "found"),
    [
        ([broker(A)], NO_PROBLEM),
        ([broker(A, commitLogDiskRatio="0.95")], 0),
        ([broker(A, sendThreadPoolQueueHeadWaitTimeMills="90000")], 0),
        ([broker(A), silent(A), silent(A, NOON + 1000)], 0),
        ([broker(A), silent(A)], 1),
        ([broker(A), server(TWO, groups={})], 1),
        ([server(ONE, silences={A: (119_000, 120_000)}), broker(A)], 0),
    ],
)
def test_the_rank_of_a_broker(polls: list[AnyPoll], found: int) -> None:
    assert rank(*polls) == found


def test_a_late_answer_does_not_move_the_row() -> None:
    late = broker(A)
    late = type(late)(late.at, late.addr, 900.0, late.table)
    assert rank(late) == NO_PROBLEM


@pytest.mark.parametrize(
    ("state", "found"), [("equal", NO_PROBLEM), ("lag", NO_PROBLEM), ("unknown", NO_PROBLEM), ("drift", 1)]
)
def test_a_slave_with_drift_is_a_problem_and_its_master_is_none(state: str, found: int) -> None:
    model = ClusterModel([ONE])
    polls: list[AnyPoll] = [
        server(ONE, groups={"broker-a": {0: A, 1: "10.0.1.2:10911"}}), broker(A), broker("10.0.1.2:10911"),
        ReplicasPolled(NOON, [SlaveRecord("broker-a", 1, state)]),
    ]  # fmt: skip
    for poll in polls:
        model.apply_poll(poll)
    assert [rank_broker(row) for row in list_broker_rows(model)] == [NO_PROBLEM, found]
