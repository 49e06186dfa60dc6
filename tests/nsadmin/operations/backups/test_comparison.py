"""Differences between two backups."""

from nsadmin.operations.backups.comparison import NamedItemDifference, compare_backups
from nsadmin.operations.backups.records import ClusterBackup, SavedOffset
from tests.support.cluster_backups import BACKUP, BROKER


def described(after: ClusterBackup) -> list[tuple[str, str, object, object]]:
    return [
        (str(difference.item.section), difference.item.name, *changed_fields(difference))
        for difference in compare_backups(BACKUP, after)
    ]


def changed_fields(difference: NamedItemDifference) -> tuple[object, object]:
    """The fields before and after the change without the equal ones."""
    before, after = difference.before, difference.after
    if before is None or after is None:
        return before, after
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return {name: before[name] for name in names}, {name: after[name] for name in names}


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
        ("topics", "new", None, {}),
        # `order` follows from the order configuration.
        ("topics", "orders", {"readQueueNums": 8}, {"readQueueNums": 4}),
        ("topics", "payments", {"readQueueNums": 4}, None),
        ("kv", "DEPLOYMENT region", {"": "eu"}, {"": "us"}),
        ("offsets", "orders warehouse", {"0": 7}, {"0": 9}),
        ("users", "alice", {"userType": "Super", "userStatus": "enable"}, None),
        ("settings", "fileReservedTime", {"": "72"}, {"": "48"}),
    ]
