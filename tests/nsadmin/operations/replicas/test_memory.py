"""Lag and drift: by table versions, and by the age of a difference."""

from nsadmin.client.brokers.replication import TableVersion
from nsadmin.operations.replicas.memory import Memory, judge_differences, sync_interval_seconds
from nsadmin.operations.replicas.records import DifferenceState, ItemKind, ItemTable, Replica, ReplicaGroup
from tests.support.replica_groups import (
    JUST_NOW,
    LONG_AGO,
    NOW_MS,
    Tables,
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


def test_an_offset_that_was_reset_is_lag_while_the_group_catches_up() -> None:
    memory = judged(make_group(offsets(T={0: 1000}), offsets(T={0: 990})))[1]
    for seconds, master, slave in ((60, 50, 990), (120, 110, 30), (180, 170, 100), (240, 230, 170)):
        group = make_group(offsets(T={0: master}), offsets(T={0: slave}))
        states, memory = judged(group, memory, NOW_MS + seconds * 1000)
        assert states == [LAG], seconds


def test_a_slave_that_does_not_copy_a_reset_is_drift() -> None:
    memory = judged(make_group(offsets(T={0: 10}), offsets(T={0: 990})))[1]
    further = make_group(offsets(T={0: 90}), offsets(T={0: 990}))
    states, memory = judged(further, memory, NOW_MS + 100_000)
    assert states == [LAG]
    assert judged(further, memory, NOW_MS + 141_000)[0] == [DRIFT]
    copied = make_group(offsets(T={0: 2000}), offsets(T={0: 2003}))
    assert judged(copied, memory, NOW_MS + 141_000)[0] == [LAG]


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


def test_a_missed_answer_or_another_scope_does_not_erase_the_memory() -> None:
    group = make_group(offsets(T={0: 10}), offsets())
    memory = judged(group)[1]
    assert group.master is not None
    for unread in (
        group._replace(slaves=[Replica(1, "h:2", error="no answer within 3 s")]),
        group._replace(master=Replica(0, "h:1", error="no answer within 3 s")),
        group._replace(slaves=[]),
        group._replace(broker_name="broker-b"),
    ):
        memory = judged(unread, memory, NOW_MS + 60_000)[1]
    assert judged(group, memory, NOW_MS + 141_000)[0] == [DRIFT]
    forgotten = judged(make_group({}, {}), memory, NOW_MS + 8 * 24 * 3_600_000)[1]
    assert forgotten == {}


def test_a_slave_that_misses_every_copy_beside_a_busy_master_is_drift() -> None:
    memory: Memory = {}
    for minute in range(4):
        busy = make_group(offsets(T={0: 10 * minute + 10}), offsets())
        states, memory = judged(busy, memory, NOW_MS + minute * 60_000)
    assert states == [DRIFT]


def test_a_slave_that_never_copied_offsets_since_it_started_is_drift_at_once() -> None:
    boot_ms = NOW_MS - 3_600_000

    def make_offsets(items: dict[str, dict[int, int]], version: TableVersion) -> Tables:
        return {ItemKind.OFFSET: ItemTable(items, (version,))}

    master_tables = make_offsets({"T@G": {0: 10}}, JUST_NOW)
    own_version = make_offsets({}, TableVersion(0, boot_ms + 2_000, 0))
    group = make_group(master_tables, own_version, started_ms=boot_ms)
    [difference] = judge_differences(observe(group), {})[0].differences
    assert (difference.state, difference.reason) == (
        DRIFT,
        "the slave has not copied the table since it started",
    )
    young = make_group(master_tables, make_offsets({}, JUST_NOW), started_ms=NOW_MS - 2_000)
    assert judged(young)[0] == [LAG]
    copied = make_group(master_tables, make_offsets({}, LONG_AGO), started_ms=boot_ms)
    assert judged(copied)[0] == [LAG]


def test_a_slave_without_a_connection_copies_nothing_unless_a_broker_has_just_started() -> None:
    [difference] = judge_differences(observe(make_group({}, {}, link_count=0)), {})[0].differences
    assert (difference.difference.kind, difference.state) == (ItemKind.LOG, DRIFT)
    started = make_group({}, {}, link_count=0, started_ms=NOW_MS - 5_000)
    states, memory = judged(started)
    assert states == [LAG]
    assert judged(started, memory, NOW_MS + 61_000)[0] == [DRIFT]
    assert judged(make_group({}, {}, link_count=1), memory)[0] == []


def test_of_two_slaves_and_one_connection_the_one_that_does_not_report_lacks_it() -> None:
    group = make_group({}, {}, link_count=1)
    first, second = (group.slaves[0]._replace(broker_id=broker_id) for broker_id in (1, 2))
    for slaves in (
        [first._replace(log_end=200), second._replace(log_end=100)],
        [first._replace(reported_ms=NOW_MS), second._replace(reported_ms=NOW_MS - 3_600_000)],
    ):
        comparison, _ = judge_differences(observe(group._replace(slaves=slaves)), {})
        assert [judged.difference.slave.broker_id for judged in comparison.stopped_slaves] == [2]


def test_a_log_that_stands_still_while_the_masters_grows_is_drift() -> None:
    states, memory = judged(make_group({}, {}, slave_end=4_000))
    assert states == []
    assert judged(make_group({}, {}, slave_end=4_000), memory, NOW_MS + 61_000)[0] == [DRIFT]
    states, memory = judged(make_group({}, {}, slave_end=4_500), memory, NOW_MS + 61_000)
    assert states == []
    assert judged(make_group({}, {}), memory, NOW_MS + 200_000) == ([], {})
