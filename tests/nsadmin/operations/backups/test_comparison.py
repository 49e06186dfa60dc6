"""Differences between two backups."""

from nsadmin.operations.backups.comparison import compare_backups, describe_backup_difference
from nsadmin.operations.backups.records import ClusterBackup, SavedOffset
from tests.support.cluster_backups import BACKUP, BROKER


def described(after: ClusterBackup) -> list[tuple[str, str, str]]:
    return [
        (difference.item.section.value, difference.item.name, describe_backup_difference(difference))
        for difference in compare_backups(BACKUP, after)
    ]


def test_equal_backups_have_no_differences_whenever_they_were_made() -> None:
    assert described(BACKUP._replace(created_ms=5, tool_version="9", remarks=[])) == []


def test_changes_are_listed_by_section_and_own_settings_are_left_out() -> None:
    broker = BROKER._replace(
        topics={"orders": {"readQueueNums": 4, "order": True}, "new": {}},
        offsets={("orders", "warehouse"): {0: SavedOffset(9, 5), 1: SavedOffset(0, None)}},
        settings={"fileReservedTime": "48", "brokerIP1": "10.0.0.9"},
        users=[],
    )
    kv = {**BACKUP.kv, "DEPLOYMENT": {"region": "us"}}
    assert described(BACKUP._replace(brokers={"broker-a": broker}, kv=kv)) == [
        ("topics", "new", "new"),
        # `order` follows from the order configuration.
        ("topics", "orders", "readQueueNums 8 -> 4"),
        ("topics", "payments", "gone"),
        ("kv", "DEPLOYMENT region", "eu -> us"),
        ("offsets", "orders warehouse", "0 7 -> 9"),
        ("users", "alice", "gone"),
        ("settings", "fileReservedTime", "72 -> 48"),
    ]
