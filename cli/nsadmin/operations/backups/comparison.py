"""Compares two backups item by item. Pure."""

from typing import NamedTuple

from nsadmin.client.redaction import is_secret_name
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


def describe_backup_difference(difference: BackupDifference) -> str:
    """Describe a difference: "new", "gone", or "perm 6 -> 4"."""
    before, after = difference.before, difference.after
    if before is None:
        return "new"
    if after is None:
        return "gone"
    return ", ".join(
        _describe_field(str(field), before.get(field), after.get(field))
        for field in sorted(before.keys() | after.keys(), key=str)
        if before.get(field) != after.get(field)
    )


def _describe_field(field: str, before: object, after: object) -> str:
    if is_secret_name(field):
        return f"{field} changed"
    values = f"{'none' if before is None else before} -> {'none' if after is None else after}"
    return f"{field} {values}" if field else values
