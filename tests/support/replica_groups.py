"""A master with one slave, for tests of comparisons."""

from collections.abc import Mapping

from nsadmin.client.brokers.replication import TableVersion
from nsadmin.operations.replicas.records import (
    Item,
    ItemKind,
    ItemTable,
    Replica,
    ReplicaGroup,
    ReplicaObservation,
)

NOW_MS = 1_000_000_000
LONG_AGO = TableVersion(0, NOW_MS - 3_600_000, 7)
JUST_NOW = TableVersion(0, NOW_MS - 1_000, 8)

Tables = Mapping[ItemKind, ItemTable]


def topics(*versions: TableVersion, **queues: int) -> Tables:
    """A table of topics with their numbers of queues. 5.x has a second version, that of the mapping."""
    return {
        ItemKind.TOPIC: ItemTable(
            {name: {"writeQueueNums": count} for name, count in queues.items()}, versions
        )
    }


def offsets(**queues: dict[int, int]) -> Tables:
    """A table of consumer offsets of the group G by topic."""
    return {ItemKind.OFFSET: ItemTable({f"{topic}@G": of_topic for topic, of_topic in queues.items()})}


def items(kind: ItemKind, **of_names: Item) -> Tables:
    return {kind: ItemTable(of_names)}


def make_group(
    master_tables: Tables,
    slave_tables: Tables,
    release: str = "5.5.0",
    *,
    slave_end: int = 5_000,
    link_count: int | None = None,
    started_ms: int | None = None,
) -> ReplicaGroup:
    """A master whose log ends at 5,000, and a slave; both started at `started_ms`."""
    master = Replica(0, "h:1", release, 5_000, master_tables, None, started_ms, link_count)
    slave = Replica(1, "h:2", release, slave_end, slave_tables, None, started_ms)
    return ReplicaGroup("C", "broker-a", master, [slave])


def observe(group: ReplicaGroup, now_ms: int = NOW_MS) -> ReplicaObservation:
    return ReplicaObservation(now_ms, [group])
