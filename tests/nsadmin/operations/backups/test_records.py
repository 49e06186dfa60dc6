"""The items of a backup."""

from nsadmin.operations.backups.records import BackupItem, Section, list_items
from tests.support.cluster_backups import BACKUP


def test_each_item_has_a_section_a_place_and_its_fields() -> None:
    items = list_items(BACKUP)
    assert items[BackupItem(Section.ORDER_CONF, "", "orders")] == {"": "broker-a:8"}
    assert items[BackupItem(Section.OFFSETS, "broker-a", "orders warehouse")] == {"0": 7, "1": 0}
    assert items[BackupItem(Section.USERS, "broker-a", "alice")] == {
        "userType": "Super",
        "userStatus": "enable",
    }
    assert items[BackupItem(Section.ACLS, "broker-a", "User:alice Topic:orders")]["actions"] == "Pub,Sub"
    assert items[BackupItem(Section.STATIC_TOPICS, "broker-a", "moved")].items() >= {
        ("queue 0", "broker-b/0 from 0, broker-a/0 from 10000"), ("epoch", 5), ("totalQueues", 1),
    }  # fmt: skip
    assert {item.section for item in items} == set(Section)
