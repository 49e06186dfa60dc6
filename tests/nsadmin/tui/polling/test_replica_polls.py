"""A comparison of slaves as a poll: the state of each slave, and its first differences."""

import pytest

from nsadmin.operations.replicas.memory import judge_differences
from nsadmin.operations.replicas.records import ItemKind, Replica, ReplicaGroup
from nsadmin.tui.polling.poll_records import (
    ReplicasPolled,
    SlaveDifferenceRecord,
    SlaveRecord,
    decode_poll,
    encode_poll,
)
from nsadmin.tui.polling.problem_checks import make_replicas_poll
from tests.support.replica_groups import JUST_NOW, LONG_AGO, NOW_MS, items, make_group, observe, topics

EQUAL = make_group(topics(LONG_AGO, a=4), topics(LONG_AGO, a=4))
DRIFTED = make_group(topics(LONG_AGO, a=4), topics(LONG_AGO, a=2))
LAGGING = make_group(topics(JUST_NOW, a=4), topics(LONG_AGO))
SILENT = EQUAL._replace(slaves=[Replica(1, "h:2", error="closed")])
UNREAD_MASTER = EQUAL._replace(master=Replica(0, "h:1", error="closed"))


def poll(group: ReplicaGroup) -> ReplicasPolled:
    return make_replicas_poll(judge_differences(observe(group), {})[0], NOW_MS)


@pytest.mark.parametrize(
    ("group", "record"),
    [
        (EQUAL, SlaveRecord("broker-a", 1, "equal", differences=[])),
        (SILENT, SlaveRecord("broker-a", 1, "unknown", error="closed", differences=[])),
        (UNREAD_MASTER, SlaveRecord("broker-a", 1, "unknown", error="master: closed", differences=[])),
        (
            EQUAL._replace(master=None),
            SlaveRecord("broker-a", 1, "unknown", error="no master is registered", differences=[]),
        ),
    ],
)
def test_a_slave_without_differences_is_equal_or_unknown(group: ReplicaGroup, record: SlaveRecord) -> None:
    assert poll(group) == ReplicasPolled(NOW_MS, [record])


def test_a_difference_has_the_words_of_the_command() -> None:
    [slave] = poll(DRIFTED).slaves
    assert (slave.state, slave.drift_count, slave.lag_count) == ("drift", 1, 0)
    assert slave.differences == [
        SlaveDifferenceRecord(
            "topic", "a", "drift", "writeQueueNums 4 on the master, 2 on the slave",
            "both tables have the same version, so the slave does not copy it", NOW_MS,
        )
    ]  # fmt: skip
    [lagging] = poll(LAGGING).slaves
    assert (lagging.state, lagging.drift_count, lagging.lag_count) == ("lag", 0, 1)


def test_drift_of_a_slave_that_was_read_in_part_stays_drift() -> None:
    in_part = DRIFTED._replace(slaves=[DRIFTED.slaves[0]._replace(error="group: timeout")])
    [slave] = poll(in_part).slaves
    assert (slave.state, slave.error) == ("drift", "group: timeout")


def test_drift_comes_first_and_of_thousands_of_differences_500_remain() -> None:
    lacking = topics(JUST_NOW, **{f"t{number:04}": 4 for number in range(2000)})
    group = make_group(
        {**lacking, **items(ItemKind.USER, zoe={"userType": "Super"})},
        {**topics(LONG_AGO), **items(ItemKind.USER)},
    )
    [slave] = poll(group).slaves
    assert (slave.state, slave.drift_count, slave.lag_count) == ("drift", 1, 2000)
    assert len(slave.differences) == 500
    assert (slave.differences[0].kind, slave.differences[1].name) == ("user", "t0000")


def test_a_recording_keeps_it() -> None:
    assert encode_poll(decode_poll(encode_poll(poll(DRIFTED)))) == encode_poll(poll(DRIFTED))
