"""check replicas: missing items are critical, other drift is a warning, and silence is never OK."""

from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.replicas import CHECK
from nsadmin.operations.replicas.memory import judge_differences
from nsadmin.operations.replicas.records import ItemKind, Replica, ReplicaGroup, ReplicaObservation
from tests.support.replica_groups import JUST_NOW, LONG_AGO, NOW_MS, items, make_group, observe, topics


def find(group: ReplicaGroup, *failure_lines: str) -> CheckFinding:
    observation = observe(group)._replace(failure_lines=failure_lines)
    return CHECK.judge(CHECK.make_scale(), judge_differences(observation, {})[0])


def test_equal_slaves_are_ok_and_their_distance_is_measured() -> None:
    finding = find(make_group(topics(LONG_AGO, a=4), topics(LONG_AGO, a=4)))
    assert (finding.state, finding.summary) == (CheckState.OK, "1 slave is equal to its master")
    assert [(sample.measure.name, sample.value, sample.item_name) for sample in finding.samples] == [
        ("missing", 0, None),
        ("stopped", 0, None),
        ("drift", 0, None),
        ("lagging", 0, None),
        ("distance", 0, "broker-a:1"),
    ]
    behind = find(make_group({}, {}, slave_end=4_000))
    assert (behind.state, behind.summary) == (
        CheckState.OK,
        "topics, groups and settings of 1 slave equal its master's; "
        "the slowest slave is broker-a:1, 1000 bytes behind",
    )


def test_a_slave_without_a_connection_is_critical() -> None:
    finding = find(make_group({}, {}, slave_end=4_000, link_count=0, started_ms=NOW_MS - 3_600_000))
    assert finding.state is CheckState.CRITICAL
    assert finding.affected == ("broker-a",)
    assert (
        finding.summary
        == "1 of 1 slave copies no messages; the slowest slave is broker-a:1, 1000 bytes behind"
    )
    assert finding.details == (
        "broker-a:1 commitLog messages: 1000 bytes of the commit log behind "
        "(the master has no replication connection from this slave)",
    )
    assert find(make_group({}, {}, link_count=1)).state is CheckState.OK


def test_a_slave_that_was_not_compared_is_not_equal() -> None:
    group = make_group(topics(LONG_AGO, a=4), topics(LONG_AGO, a=4))
    silent = group._replace(slaves=[Replica(1, "h:2", error="no answer within 3 s")])
    finding = find(silent)
    assert (finding.state, finding.summary) == (
        CheckState.UNKNOWN,
        "broker-a:1 at h:2: no answer within 3 s; 1 of 1 slave not compared, or not completely",
    )


def test_a_missing_topic_is_critical_and_different_queues_are_a_warning() -> None:
    missing = find(make_group(topics(LONG_AGO, a=4), topics(LONG_AGO)))
    assert missing.state is CheckState.CRITICAL
    assert (
        missing.summary
        == "1 of 1 slave differs from its master in 1 topic (1 missing), which replication does not remove"
    )
    assert missing.details[0].startswith("broker-a:1 topic a: missing on the slave (")
    assert find(make_group(topics(LONG_AGO, a=4), topics(LONG_AGO, a=2))).state is CheckState.WARNING


def test_a_setting_that_differs_is_told_with_the_way_to_set_it() -> None:
    master, slave = (items(ItemKind.SETTING, fileReservedTime={"": hours}) for hours in ("72", "48"))
    assert find(make_group(master, slave)).summary == (
        "1 of 1 slave differs from its master in 1 setting, which slaves do not copy: set it on the slave "
        "with nsadmin updateBrokerConfig"
    )


def test_a_difference_that_may_disappear_is_ok() -> None:
    finding = find(make_group(topics(JUST_NOW, a=4), topics(LONG_AGO)))
    assert (finding.state, finding.summary) == (
        CheckState.OK,
        "no lasting difference on 1 slave; still being copied: 1 topic",
    )


def test_a_server_that_did_not_answer_leaves_it_unknown() -> None:
    finding = find(make_group({}, {}), "name server h:9: connection refused")
    assert (finding.state, finding.details) == (CheckState.UNKNOWN, ("name server h:9: connection refused",))
    nobody = judge_differences(ReplicaObservation(NOW_MS, []), {})[0]
    assert CHECK.judge(CHECK.make_scale(), nobody).summary == "no broker with a slave is registered"


def test_a_release_that_loses_topics_is_a_warning() -> None:
    finding = find(make_group({}, {}, "5.3.3"))
    assert finding.state is CheckState.WARNING
    assert finding.details == (
        "broker-a:1 runs 5.3.3: as a slave, it deletes topics and groups each time it copies those of its "
        "master (apache/rocketmq#9879): upgrade to 5.5.0 or later",
    )
