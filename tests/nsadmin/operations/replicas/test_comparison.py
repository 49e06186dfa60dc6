"""Differences of a slave and its master, and their descriptions."""

from nsadmin.operations.replicas.comparison import compare_replicas, describe_difference, find_log_distance
from nsadmin.operations.replicas.records import ItemKind, Replica, ReplicaGroup
from tests.support.replica_groups import LONG_AGO, Tables, items, make_group, offsets, topics


def described(master_tables: Tables, slave_tables: Tables) -> list[tuple[str, str]]:
    group = make_group(master_tables, slave_tables)
    return [
        (difference.item_name, describe_difference(difference))
        for difference in compare_replicas(group, group.slaves[0])
    ]


def test_missing_extra_and_different_items_are_found_in_the_order_of_names() -> None:
    assert described(topics(LONG_AGO, a=4, b=8, d=2), topics(LONG_AGO, b=4, c=1, d=2)) == [
        ("a", "missing on the slave"),
        ("b", "writeQueueNums 8 on the master, 4 on the slave"),
        ("c", "only on the slave"),
    ]


def test_offsets_are_described_by_their_distance() -> None:
    master, slave = offsets(T={0: 10, 1: 20}, U={0: 3}), offsets(T={0: 4, 1: 25}, U={})
    assert described(master, slave) == [
        ("T@G", "6 messages behind and 5 messages ahead"),
        ("U@G", "3 messages behind"),
    ]


def test_a_setting_that_only_one_release_has_is_no_difference() -> None:
    master = items(ItemKind.SETTING, fileReservedTime={"": "72"}, newSetting={"": "1"})
    slave = items(ItemKind.SETTING, fileReservedTime={"": "48"})
    assert described(master, slave) == [("fileReservedTime", "72 on the master, 48 on the slave")]


def test_only_a_slave_that_refuses_the_reads_of_its_master_differs() -> None:
    true, false = (items(ItemKind.SETTING, slaveReadEnable={"": text}) for text in ("true", "false"))
    assert described(false, true) == []
    assert described(true, false) == [("slaveReadEnable", "true on the master, false on the slave")]


def test_a_password_is_never_shown() -> None:
    master = items(ItemKind.USER, alice={"password": "s3cret", "userType": "Super"})
    slave = items(ItemKind.USER, alice={"password": "other", "userType": "Normal"})
    assert described(master, slave) == [
        ("alice", "password differs, userType Super on the master, Normal on the slave")
    ]


def test_a_kind_that_one_of_them_did_not_report_is_not_compared() -> None:
    assert described(topics(LONG_AGO, a=4), {}) == []


def test_slaves_without_a_master_are_not_compared() -> None:
    lonely = ReplicaGroup("C", "broker-a", None, [Replica(1, "h:2", tables=topics(LONG_AGO, a=4))])
    assert list(compare_replicas(lonely, lonely.slaves[0])) == []


def test_the_distance_of_the_log_is_unknown_without_both_ends() -> None:
    master, slave = Replica(0, "h:1", log_end=500), Replica(1, "h:2", log_end=450)
    assert find_log_distance(master, slave) == 50
    assert find_log_distance(master, slave._replace(log_end=510)) == 0
    assert find_log_distance(master, slave._replace(log_end=None)) is None
    assert find_log_distance(None, slave) is None
