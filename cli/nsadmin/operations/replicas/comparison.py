"""Finds the items in which a slave differs from its master, and describes the differences. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence

from nsadmin.client.redaction import is_secret_name
from nsadmin.console.phrases import count_noun
from nsadmin.operations.replicas.records import (
    Item,
    ItemKind,
    ItemTable,
    Replica,
    ReplicaDifference,
    ReplicaGroup,
)

LOG_END = "end"
"""The field of the item of LOG."""


def compare_replicas(group: ReplicaGroup, slave: Replica) -> Iterator[ReplicaDifference]:
    """Yield the items in which a slave differs from its master. Kinds that one of them lacks are skipped."""
    master = group.master
    if master is None:
        return
    for kind in list_compared_kinds(master, slave):
        master_table, slave_table = master.tables[kind], slave.tables[kind]
        for item_name in _list_differing_names(kind, master_table, slave_table):
            yield ReplicaDifference(
                group.cluster_name,
                group.broker_name,
                slave,
                kind,
                item_name,
                master_table.items.get(item_name),
                slave_table.items.get(item_name),
            )


def list_compared_kinds(master: Replica, slave: Replica) -> list[ItemKind]:
    """The kinds that both of them have."""
    return [kind for kind in ItemKind if kind in master.tables and kind in slave.tables]


def _list_differing_names(kind: ItemKind, master_table: ItemTable, slave_table: ItemTable) -> list[str]:
    if kind is ItemKind.SETTING:
        # A setting that only one of the two releases has is no difference.
        compared_names = master_table.items.keys() & slave_table.items.keys()
        # Nor is a slave that lets consumers read: its master uses the setting only to send consumers to it.
        if slave_table.items.get("slaveReadEnable") == {"": "true"}:
            compared_names -= {"slaveReadEnable"}
    else:
        compared_names = master_table.items.keys() | slave_table.items.keys()
    return sorted(
        name for name in compared_names if master_table.items.get(name) != slave_table.items.get(name)
    )


_NOUNS = {"commitLog": "commit log", "consumeMode": "consume mode", "acl": "ACL"}


def count_items(differences: Sequence[ReplicaDifference]) -> str:
    """The number of differences of each kind: "253 offsets, 1 topic"."""
    counts = Counter(difference.kind.value for difference in differences)
    return ", ".join(count_noun(count, _NOUNS.get(kind, kind)) for kind, count in counts.items())


def describe_difference(difference: ReplicaDifference) -> str:
    """Describe a difference: "missing on the slave", or "perm 6 on the master, 4 on the slave"."""
    master_item, slave_item = difference.master_item, difference.slave_item
    if difference.kind is ItemKind.LOG and master_item is not None and slave_item is not None:
        distance = max(0, master_item[LOG_END] - slave_item[LOG_END])
        return f"{distance} bytes of the commit log behind"
    if slave_item is None:
        return "missing on the slave"
    if master_item is None:
        return "only on the slave"
    if difference.kind is ItemKind.SETTING and is_secret_name(difference.item_name):
        return "differs"
    if difference.kind is ItemKind.OFFSET:
        return _describe_offsets(master_item, slave_item)
    return ", ".join(
        _describe_field(str(name), master_item.get(name), slave_item.get(name))
        for name in sorted(master_item.keys() | slave_item.keys(), key=str)
        if master_item.get(name) != slave_item.get(name)
    )


def _describe_field(field_name: str, master_value: object, slave_value: object) -> str:
    if is_secret_name(field_name):
        return f"{field_name} differs"
    field_label = f"{field_name} " if field_name else ""
    return (
        f"{field_label}{_format_value(master_value)} on the master, {_format_value(slave_value)} on the slave"
    )


def _format_value(field_value: object) -> str:
    if field_value is None or field_value == "":
        return "none"
    return str(field_value).lower() if isinstance(field_value, bool) else str(field_value)


def _describe_offsets(master_item: Item, slave_item: Item) -> str:
    gaps = [
        master_item.get(queue_id, 0) - slave_item.get(queue_id, 0)
        for queue_id in master_item.keys() | slave_item.keys()
    ]
    missing_count, surplus_count = sum(gap for gap in gaps if gap > 0), -sum(gap for gap in gaps if gap < 0)
    gap_texts = [
        f"{count} message{'' if count == 1 else 's'} {direction}"
        for count, direction in ((missing_count, "behind"), (surplus_count, "ahead"))
        if count
    ]
    return " and ".join(gap_texts) or "offsets of other queues"


def find_log_distance(master: Replica | None, slave: Replica) -> int | None:
    """Return how many bytes of the commit log a slave lacks; None if one end is unknown."""
    if master is None or master.log_end is None or slave.log_end is None:
        return None
    # The slave is asked a moment later, and may have more by then.
    return max(0, master.log_end - slave.log_end)
