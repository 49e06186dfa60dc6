"""The records of a comparison of slaves with their masters."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from nsadmin.client.brokers.replication import TableVersion

Item = Mapping[Any, Any]
"""The fields of an item; for offsets, queue id to consumer offset."""


class ItemKind(StrEnum):
    """The kinds of items that a slave should have like its master, named as in the column `kind`."""

    TOPIC = "topic"
    GROUP = "group"
    OFFSET = "offset"
    CONSUME_MODE = "consumeMode"
    EPOCH = "epoch"
    USER = "user"
    ACL = "acl"
    SETTING = "setting"
    LOG = "commitLog"
    """The messages themselves: one difference for a slave that copies none."""


COPIED_KINDS = (ItemKind.TOPIC, ItemKind.GROUP, ItemKind.OFFSET, ItemKind.CONSUME_MODE, ItemKind.EPOCH)
"""The kinds that slaves copy from their master. An operator sets the other ones on each broker."""

TAKEOVER_KINDS = (ItemKind.TOPIC, ItemKind.GROUP, ItemKind.CONSUME_MODE, ItemKind.USER, ItemKind.ACL)
"""The kinds that a slave must have before it serves clients in place of its master."""


class ItemTable(NamedTuple):
    """All items of one kind on one broker. `versions` is empty if the broker reports none."""

    items: Mapping[str, Item]
    versions: tuple[TableVersion, ...] = ()


class Replica(NamedTuple):
    """A master or a slave.

    Attributes:
        broker_id: 0 for the master.
        release: The release, such as "5.5.0"; None if unknown.
        log_end: The end of the commit log in bytes; None if unknown.
        tables: The items of each kind that the broker has. A kind that its release lacks is missing.
        error: Why nothing is known; None if the broker answered.
        started_ms: When the broker started; None if unknown.
        link_count: The slaves that a master sends messages to; None for a slave and before 5.0.
        reported_ms: When a slave last reported its offset to its master, every 5 s; None for a master.
    """

    broker_id: int
    broker_addr: str
    release: str | None = None
    log_end: int | None = None
    tables: Mapping[ItemKind, ItemTable] = {}
    error: str | None = None
    started_ms: int | None = None
    link_count: int | None = None
    reported_ms: int | None = None


class ReplicaGroup(NamedTuple):
    """The replicas of one broker name. `master` is None if no name server lists one."""

    cluster_name: str
    broker_name: str
    master: Replica | None
    slaves: Sequence[Replica]


class ReplicaObservation(NamedTuple):
    """All broker groups with slaves at `now_ms`, and a line for each name server that did not answer."""

    now_ms: int
    groups: Sequence[ReplicaGroup]
    failure_lines: Sequence[str] = ()


class ReplicaDifference(NamedTuple):
    """An item that differs between a slave and its master. None: this broker does not have the item."""

    cluster_name: str
    broker_name: str
    slave: Replica
    kind: ItemKind
    item_name: str
    master_item: Item | None
    slave_item: Item | None

    @property
    def key(self) -> tuple[str, str, int, str, str]:
        return (self.cluster_name, self.broker_name, self.slave.broker_id, self.kind, self.item_name)


class DifferenceState(StrEnum):
    """Whether the next copies will remove a difference."""

    LAG = "lag"
    DRIFT = "drift"


class JudgedDifference(NamedTuple):
    """A difference, its state, the reason for the state, and since when it is known."""

    difference: ReplicaDifference
    state: DifferenceState
    reason: str
    since_ms: int


class ReplicaComparison(NamedTuple):
    """The differences of all slaves.

    Attributes:
        differences: The differences, in the order of brokers, kinds and names.
        log_distances: Bytes of the commit log that each slave lacks, by (broker name, broker id).
        releases: The release of each slave, likewise; None if unknown.
        failure_lines: One line for each server that did not answer.
        slave_count: The number of slaves.
        unread_reasons: Why a slave was not compared, or not in all kinds, likewise.
    """

    differences: Sequence[JudgedDifference]
    log_distances: Mapping[tuple[str, int], int | None]
    releases: Mapping[tuple[str, int], str | None]
    failure_lines: Sequence[str]
    slave_count: int
    unread_reasons: Mapping[tuple[str, int], str]

    @property
    def drift(self) -> list[JudgedDifference]:
        return [judged for judged in self.differences if judged.state is DifferenceState.DRIFT]

    @property
    def lag(self) -> list[JudgedDifference]:
        return [judged for judged in self.differences if judged.state is DifferenceState.LAG]

    @property
    def stopped_slaves(self) -> list[JudgedDifference]:
        """The slaves that copy no messages."""
        return [judged for judged in self.drift if judged.difference.kind is ItemKind.LOG]

    @property
    def is_equal(self) -> bool:
        """Whether it is certain that no slave lacks anything."""
        return (
            not self.differences
            and not self.failure_lines
            and not self.unread_reasons
            and all(distance == 0 for distance in self.log_distances.values())
        )
