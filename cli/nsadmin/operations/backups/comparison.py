"""Compares two backups, or other collections of named items, item by item. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from nsadmin.operations.backups.records import ClusterBackup, Section, list_items
from nsadmin.operations.config_diff import is_own_setting


class NamedItem(Protocol):
    """The name of an item: its section, its parent such as a broker, and its name."""

    @property
    def section(self) -> str: ...

    @property
    def parent_name(self) -> str: ...

    @property
    def name(self) -> str: ...


ItemT = TypeVar("ItemT", bound=NamedItem)


class NamedItemDifference(NamedTuple):
    """An item that differs; None stands for a collection without the item."""

    item: NamedItem
    before: Any
    after: Any


def compare_backups(before: ClusterBackup, after: ClusterBackup) -> list[NamedItemDifference]:
    """Return the items that differ, in the order of sections, brokers and names.

    Settings that name a server or its folders are left out.
    """
    return compare_items(list_items(before), list_items(after), list(Section))


def compare_items(
    before: Mapping[ItemT, Mapping[str, Any]],
    after: Mapping[ItemT, Mapping[str, Any]],
    section_order: Sequence[str],
) -> list[NamedItemDifference]:
    """Return the items that differ, in the order of sections, parents and names.

    Settings that name a server or its folders are left out.
    """
    return [
        NamedItemDifference(item, before.get(item), after.get(item))
        for item in sorted(
            before.keys() | after.keys(),
            key=lambda item: (section_order.index(item.section), item.parent_name, item.name),
        )
        if before.get(item) != after.get(item)
        and not (item.section == Section.SETTINGS and is_own_setting(item.name))
    ]
