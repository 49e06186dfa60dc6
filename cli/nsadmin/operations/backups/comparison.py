"""Compares two backups item by item. Pure."""

from typing import NamedTuple

from nsadmin.operations.backups.records import BackupItem, BackupSettings, ClusterBackup, Section, list_items
from nsadmin.operations.config_diff import is_own_setting


class BackupDifference(NamedTuple):
    """An item that differs; None stands for a backup without the item."""

    item: BackupItem
    before: BackupSettings | None
    after: BackupSettings | None


def compare_backups(before: ClusterBackup, after: ClusterBackup) -> list[BackupDifference]:
    """Return the items that differ, in the order of sections, brokers and names.

    Settings that name a server or its folders are left out.
    """
    items_before, items_after = list_items(before), list_items(after)
    section_order = list(Section)
    return [
        BackupDifference(item, items_before.get(item), items_after.get(item))
        for item in sorted(
            items_before.keys() | items_after.keys(),
            key=lambda item: (section_order.index(item.section), item.place, item.name),
        )
        if items_before.get(item) != items_after.get(item)
        and not (item.section is Section.SETTINGS and is_own_setting(item.name))
    ]
