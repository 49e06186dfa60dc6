"""Lag and drift: by table versions, and by the age of a difference."""

from nsadmin.operations.replicas.memory import Memory, judge_differences, sync_interval_seconds
from nsadmin.operations.replicas.records import DifferenceState, ItemKind, Replica, ReplicaGroup
from tests.support.replica_groups import (
    JUST_NOW,
    LONG_AGO,
    NOW_MS,
    items,
    make_group,
    observe,
    offsets,
    topics,
)

LAG, DRIFT = DifferenceState.LAG, DifferenceState.DRIFT


def judged(
    group: ReplicaGroup, memory: Memory | None = None, now_ms: int = NOW_MS
) -> tuple[list[str], Memory]:
    comparison, new_memory = judge_differences(observe(group, now_ms), memory or {})
    return [judged.state.value for judged in comparison.differences], new_memory


def test_equal_versions_are_drift_at_once_because_the_slave_never_copies() -> None:
    group = make_group(topics(JUST_NOW, a=4), topics(JUST_NOW))
    comparison, _ = judge_differences(observe(group), {})
    [difference] = comparison.differences
    assert (difference.state, difference.reason) == (
        DRIFT,
        "both tables have the same version, so the slave does not copy it",
    )


def test_a_fresh_change_of_the_master_is_lag_and_an_old_one_is_drift() -> None:
    assert judged(make_group(topics(JUST_NOW, a=4), topics(LONG_AGO)))[0] == [LAG]
    older = LONG_AGO._replace(counter=6)
    assert judged(make_group(topics(LONG_AGO, a=4), topics(older)))[0] == [DRIFT]


def test_a_slave_copies_all_topics_if_only_the_version_of_the_mapping_differs() -> None:
    changed_mapping = make_group(topics(LONG_AGO, JUST_NOW, a=4), topics(LONG_AGO, LONG_AGO))
    assert judged(changed_mapping)[0] == [LAG]
    started_slave = make_group(topics(LONG_AGO, LONG_AGO, a=4), topics(LONG_AGO, JUST_NOW))
    assert judged(started_slave)[0] == [LAG]
    assert judged(started_slave, now_ms=NOW_MS + 141_000)[0] == [DRIFT]
    slave_of_4_x = make_group(topics(LONG_AGO, JUST_NOW, a=4), topics(LONG_AGO))
    assert judged(slave_of_4_x)[0] == [DRIFT]


def test_a_slave_that_reports_no_version_is_judged_by_the_age_of_its_masters_table() -> None:
    assert judged(make_group(topics(JUST_NOW, a=4), topics()))[0] == [LAG]
    assert judged(make_group(topics(LONG_AGO, a=4), topics()))[0] == [DRIFT]


def test_an_offset_that_the_slave_does_not_reach_within_two_intervals_is_drift() -> None:
    behind = make_group(offsets(T={0: 10}), offsets(T={0: 4}))
    states, memory = judged(behind)
    assert states == [LAG]
    still_behind = make_group(offsets(T={0: 90}), offsets(T={0: 9}))
    later = NOW_MS + 141_000
    assert judged(still_behind, memory, later)[0] == [DRIFT]
    caught_up = make_group(offsets(T={0: 90}), offsets(T={0: 10}))
    states, memory = judged(caught_up, memory, later)
    assert states == [LAG]
    assert [remembered.since_ms for remembered in memory.values()] == [later]


def test_slaves_of_4_x_copy_every_10_seconds() -> None:
    behind = make_group(offsets(T={0: 10}), offsets(T={0: 4}), "4.9.7")
    memory = judged(behind)[1]
    assert judged(behind, memory, NOW_MS + 19_000)[0] == [LAG]
    assert judged(behind, memory, NOW_MS + 21_000)[0] == [DRIFT]
    assert (sync_interval_seconds("4.9.7"), sync_interval_seconds("5.5.0")) == (10.0, 70.0)


def test_what_slaves_do_not_copy_is_drift_at_once() -> None:
    group = make_group(items(ItemKind.USER, bob={"userType": "Super"}), items(ItemKind.USER))
    assert judged(group)[0] == [DRIFT]


def test_a_difference_that_is_gone_is_forgotten() -> None:
    memory = judged(make_group(offsets(T={0: 10}), offsets(T={0: 4})))[1]
    assert judged(make_group(offsets(T={0: 10}), offsets(T={0: 10})), memory)[1] == {}


def test_silent_brokers_and_missing_masters_are_failures() -> None:
    group = make_group({}, {})
    silent = group._replace(slaves=[Replica(1, "h:2", error="no answer within 3 s")])
    lonely = ReplicaGroup("C", "broker-b", None, [Replica(1, "h:3")])
    observation = observe(silent)._replace(
        groups=[silent, lonely], failure_lines=["name server h:9: refused"]
    )
    comparison, _ = judge_differences(observation, {})
    assert comparison.failure_lines == [
        "name server h:9: refused",
        "broker-a:1 at h:2: no answer within 3 s",
        "broker-b: no master is registered, so its slaves were not compared",
    ]
    assert (comparison.slave_count, comparison.log_distances["broker-a", 1]) == (2, None)
