"""Predicts the losses of topics and groups in an outage of brokers, as clients see them. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from namesrv_core.protocol.codes import MASTER_BROKER_ID, Perm
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.snapshots import ClusterSnapshot

BrokerMembers = Mapping[str, frozenset[int]]
"""The ids of the processes of each broker, by broker name."""


class TopicCapacity(NamedTuple):
    """The capacity of a topic for clients: writable queues, readable queues, and brokers with a master."""

    write_queues: int = 0
    read_queues: int = 0
    master_count: int = 0


class TopicOutageLoss(NamedTuple):
    """A topic with queues on brokers that would be gone, which are `lost_brokers`.

    `ordered_by` are the lost brokers in its order configuration: clients keep sending to their queues.
    `is_static` is true if they have queues of a static topic, which clients also keep using.
    """

    topic: str
    capacity_before: TopicCapacity
    capacity_after: TopicCapacity
    lost_brokers: tuple[str, ...]
    ordered_by: tuple[str, ...] = ()
    is_static: bool = False

    @property
    def stops_writes(self) -> bool:
        """Whether the topic loses its last writable queue."""
        return self.capacity_before.write_queues > 0 and self.capacity_after.write_queues == 0

    @property
    def stops_reads(self) -> bool:
        """Whether the topic loses its last readable queue."""
        return self.capacity_before.read_queues > 0 and self.capacity_after.read_queues == 0

    @property
    def loses_masters(self) -> bool:
        """Whether the topic loses its last master."""
        return self.capacity_before.master_count > 0 and self.capacity_after.master_count == 0

    @property
    def write_share(self) -> float:
        """The lost fraction of its writable queues, 0 to 1."""
        queues_before = self.capacity_before.write_queues
        return (queues_before - self.capacity_after.write_queues) / queues_before if queues_before else 0.0

    @property
    def stands_still(self) -> bool:
        """Whether clients can no longer write or read, or their sends to some queues fail."""
        return (
            self.stops_writes
            or self.stops_reads
            or self.loses_masters
            or bool(self.ordered_by)
            or self.is_static
        )


def members_of_snapshot(snapshot: ClusterSnapshot) -> dict[str, frozenset[int]]:
    """The registered processes of each broker."""
    return {name: frozenset(map(int, record["brokerAddrs"])) for name, record in snapshot.brokers.items()}


def remaining_members(
    present_members: BrokerMembers, down_members: BrokerMembers
) -> dict[str, frozenset[int]]:
    """The remaining processes; brokers without remaining processes are left out."""
    remaining_ids = {
        name: broker_ids - down_members.get(name, frozenset()) for name, broker_ids in present_members.items()
    }
    return {name: broker_ids for name, broker_ids in remaining_ids.items() if broker_ids}


def measure_capacity(
    topic_queues: Mapping[str, Mapping[str, int]],
    present_members: BrokerMembers,
    refusing_slaves: BrokerMembers = MappingProxyType({}),
) -> TopicCapacity:
    """The capacity of a topic with these queues by broker, while these processes are up.

    `refusing_slaves` do not serve consumers.
    """
    write_queues = read_queues = master_count = 0
    for broker_name, broker_queues in topic_queues.items():
        broker_ids = present_members.get(broker_name)
        if not broker_ids:
            continue
        perm = broker_queues.get("perm", 0)
        has_master = MASTER_BROKER_ID in broker_ids
        master_count += has_master
        write_queues += broker_queues.get("writeQueueNums", 0) if perm & Perm.WRITE and has_master else 0
        is_readable = perm & Perm.READ and broker_ids - refusing_slaves.get(broker_name, frozenset())
        read_queues += broker_queues.get("readQueueNums", 0) if is_readable else 0
    return TopicCapacity(write_queues, read_queues, master_count)


def find_losses(
    snapshot: ClusterSnapshot,
    down_members: BrokerMembers,
    refusing_slaves: BrokerMembers = MappingProxyType({}),
) -> Iterator[TopicOutageLoss]:
    """The losses of all topics that would lose something, sorted by topic."""
    present_members = members_of_snapshot(snapshot)
    members_left = remaining_members(present_members, down_members)
    reduced_brokers = {
        name
        for name in down_members
        if present_members.get(name, frozenset()) != members_left.get(name, frozenset())
    }
    ordered_brokers = _ordered_brokers(snapshot)
    losses_by_table: dict[int, TopicOutageLoss | None] = {}
    for topic, topic_queues in sorted(snapshot.topics.items()):
        if reduced_brokers.isdisjoint(topic_queues):
            continue
        # Equal topics share one queue table, so compute the loss once for each table.
        if id(topic_queues) not in losses_by_table:
            losses_by_table[id(topic_queues)] = _compute_loss(
                topic_queues, present_members, members_left, reduced_brokers, refusing_slaves
            )
        topic_loss = losses_by_table[id(topic_queues)]
        gone_ordered = tuple(
            sorted(reduced_brokers & ordered_brokers.get(topic, frozenset()) - members_left.keys())
        )
        if topic_loss is not None:
            yield topic_loss._replace(topic=topic, ordered_by=gone_ordered)


def lost_write_share(snapshot: ClusterSnapshot, down_members: BrokerMembers) -> float:
    """The lost fraction of all writable queues, 0 to 1."""
    present_members = members_of_snapshot(snapshot)
    members_left = remaining_members(present_members, down_members)
    table_counts = Counter(map(id, snapshot.topics.values()))
    tables_by_id = {id(queues): queues for queues in snapshot.topics.values()}
    queues_before, queues_after = (
        sum(
            count * measure_capacity(tables_by_id[table_id], member_ids).write_queues
            for table_id, count in table_counts.items()
        )
        for member_ids in (present_members, members_left)
    )
    return (queues_before - queues_after) / queues_before if queues_before else 0.0


def _compute_loss(
    topic_queues: Mapping[str, Mapping[str, int]],
    present_members: BrokerMembers,
    members_left: BrokerMembers,
    reduced_brokers: Iterable[str],
    refusing_slaves: BrokerMembers,
) -> TopicOutageLoss | None:
    capacity_before, capacity_after = (
        measure_capacity(topic_queues, member_ids, refusing_slaves)
        for member_ids in (present_members, members_left)
    )
    lost_brokers = tuple(sorted(name for name in reduced_brokers if name in topic_queues))
    is_static = any("mappingEpoch" in topic_queues[name] for name in lost_brokers)
    return (
        TopicOutageLoss("", capacity_before, capacity_after, lost_brokers, (), is_static)
        if capacity_before != capacity_after or is_static
        else None
    )


def _ordered_brokers(snapshot: ClusterSnapshot) -> dict[str, frozenset[str]]:
    """The brokers in each order configuration; {} if the name server does not hand them out to clients."""
    if snapshot.settings.get("orderMessageEnable", "false").lower() != "true":
        return {}
    return {
        topic: frozenset(entry.partition(":")[0] for entry in text.split(";"))
        for topic, text in snapshot.kv.get(ORDER_CONF_NAMESPACE, {}).items()
    }


class WorstLoss(NamedTuple):
    """The largest loss of a topic on any name server, and the name servers that show it.

    Each client asks one name server, so the views are not merged.
    """

    topic_loss: TopicOutageLoss
    namesrv_addrs: tuple[str, ...]


def find_worst_losses(losses_by_server: Mapping[str, Iterable[TopicOutageLoss]]) -> list[WorstLoss]:
    """The largest loss of each topic, from the losses by name server; the largest losses first."""
    worst_by_topic: dict[str, WorstLoss] = {}
    for namesrv_addr, server_losses in losses_by_server.items():
        for topic_loss in server_losses:
            known_worst = worst_by_topic.get(topic_loss.topic)
            if known_worst is not None and known_worst.topic_loss == topic_loss:
                worst_by_topic[topic_loss.topic] = known_worst._replace(
                    namesrv_addrs=(*known_worst.namesrv_addrs, namesrv_addr)
                )
            elif known_worst is None or _loss_weight(topic_loss) > _loss_weight(known_worst.topic_loss):
                worst_by_topic[topic_loss.topic] = WorstLoss(topic_loss, (namesrv_addr,))
    return sorted(
        worst_by_topic.values(),
        key=lambda loss: ([-part for part in _loss_weight(loss.topic_loss)], loss.topic_loss.topic),
    )


def _loss_weight(topic_loss: TopicOutageLoss) -> tuple[float, ...]:
    return (
        topic_loss.stands_still, topic_loss.stops_writes, topic_loss.loses_masters, topic_loss.stops_reads,
        topic_loss.write_share,
        -topic_loss.capacity_after.read_queues,
    )  # fmt: skip


class GroupLoss(NamedTuple):
    """A consumer group that reads topics of brokers that would be gone; `client_count` is for now.

    `stopped_topics` would have no readable queue left, `reduced_topics` fewer readable queues.
    """

    group: str
    client_count: int
    stopped_topics: tuple[str, ...]
    reduced_topics: tuple[str, ...]

    @property
    def stands_still(self) -> bool:
        """Whether the group could no longer read one of its topics."""
        return bool(self.stopped_topics)


def find_group_losses(
    topics_by_group: Mapping[str, Iterable[str]],
    clients_by_group: Mapping[str, int],
    worst_losses: Iterable[WorstLoss],
) -> list[GroupLoss]:
    """The losses of groups that would lose something, groups with stopped topics first."""
    losses_by_topic = {entry.topic_loss.topic: entry.topic_loss for entry in worst_losses}
    affected_groups = []
    for group, group_topics in sorted(topics_by_group.items()):
        lost_topics = [
            losses_by_topic[topic] for topic in sorted(set(group_topics)) if topic in losses_by_topic
        ]
        stopped_topics = tuple(loss.topic for loss in lost_topics if loss.stops_reads)
        reduced_topics = tuple(
            loss.topic
            for loss in lost_topics
            if not loss.stops_reads and loss.capacity_after.read_queues < loss.capacity_before.read_queues
        )
        if stopped_topics or reduced_topics:
            affected_groups.append(
                GroupLoss(group, clients_by_group.get(group, 0), stopped_topics, reduced_topics)
            )
    return sorted(affected_groups, key=lambda entry: (not entry.stopped_topics, entry.group))
