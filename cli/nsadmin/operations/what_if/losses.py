"""What topics and groups would lose if brokers were gone, in the view of clients. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from namesrv_core.protocol.codes import MASTER_ID, Perm
from nsadmin.client.pictures import ORDER_TOPIC_CONFIG, Picture

Members = Mapping[str, frozenset[int]]
"""The ids of the processes of each broker, by broker name."""


class Capacity(NamedTuple):
    """The capacity of a topic for clients: writable queues, readable queues, and brokers with a master."""

    write_queues: int = 0
    read_queues: int = 0
    masters: int = 0


class Loss(NamedTuple):
    """A topic with queues on brokers that would be gone, which are `lost_brokers`.

    `ordered_by` are the lost brokers in its order configuration: clients keep sending to their queues.
    `is_static` is true if they have queues of a static topic, which clients also keep using.
    """

    topic: str
    before: Capacity
    after: Capacity
    lost: tuple[str, ...]
    ordered_by: tuple[str, ...] = ()
    is_static: bool = False

    @property
    def stops_writes(self) -> bool:
        """Whether the topic loses its last writable queue."""
        return self.before.write_queues > 0 and self.after.write_queues == 0

    @property
    def stops_reads(self) -> bool:
        """Whether the topic loses its last readable queue."""
        return self.before.read_queues > 0 and self.after.read_queues == 0

    @property
    def loses_masters(self) -> bool:
        """Whether the topic loses its last master."""
        return self.before.masters > 0 and self.after.masters == 0

    @property
    def write_share(self) -> float:
        """The lost fraction of its writable queues, 0 to 1."""
        before = self.before.write_queues
        return (before - self.after.write_queues) / before if before else 0.0

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


def members(picture: Picture) -> dict[str, frozenset[int]]:
    """The registered processes of each broker."""
    return {name: frozenset(map(int, broker["brokerAddrs"])) for name, broker in picture.brokers.items()}


def without(present: Members, down: Members) -> dict[str, frozenset[int]]:
    """The remaining processes; brokers without remaining processes are left out."""
    left = {name: ids - down.get(name, frozenset()) for name, ids in present.items()}
    return {name: ids for name, ids in left.items() if ids}


def capacity(queues: Mapping[str, Mapping[str, int]], present: Members) -> Capacity:
    """The capacity of a topic with these queues by broker, while these processes are up."""
    writes = reads = masters = 0
    for name, queue in queues.items():
        ids = present.get(name)
        if not ids:
            continue
        perm = queue.get("perm", 0)
        has_master = MASTER_ID in ids
        masters += has_master
        writes += queue.get("writeQueueNums", 0) if perm & Perm.WRITE and has_master else 0
        reads += queue.get("readQueueNums", 0) if perm & Perm.READ else 0
    return Capacity(writes, reads, masters)


def losses(picture: Picture, down: Members) -> Iterator[Loss]:
    """The losses of all topics that would lose something, sorted by topic."""
    present = members(picture)
    left = without(present, down)
    gone = {name for name in down if present.get(name, frozenset()) != left.get(name, frozenset())}
    orders = _orders(picture)
    known: dict[int, Loss | None] = {}
    for topic, queues in sorted(picture.topics.items()):
        if gone.isdisjoint(queues):
            continue
        # Equal topics share one queue table, so compute the loss once for each table.
        if id(queues) not in known:
            known[id(queues)] = _loss(queues, present, left, gone)
        loss = known[id(queues)]
        named = tuple(sorted(gone & orders.get(topic, frozenset()) - left.keys()))
        if loss is not None:
            yield loss._replace(topic=topic, ordered_by=named)


def write_share(picture: Picture, down: Members) -> float:
    """The lost fraction of all writable queues, 0 to 1."""
    present = members(picture)
    left = without(present, down)
    tables = Counter(map(id, picture.topics.values()))
    shared = {id(queues): queues for queues in picture.topics.values()}
    before, after = (
        sum(count * capacity(shared[key], ids).write_queues for key, count in tables.items())
        for ids in (present, left)
    )
    return (before - after) / before if before else 0.0


def _loss(
    queues: Mapping[str, Mapping[str, int]], present: Members, left: Members, gone: Iterable[str]
) -> Loss | None:
    before, after = capacity(queues, present), capacity(queues, left)
    lost = tuple(sorted(name for name in gone if name in queues))
    is_static = any("mappingEpoch" in queues[name] for name in lost)
    return Loss("", before, after, lost, (), is_static) if before != after or is_static else None


def _orders(picture: Picture) -> dict[str, frozenset[str]]:
    """The brokers in each order configuration; {} if the name server does not hand them out to clients."""
    if picture.settings.get("orderMessageEnable", "false").lower() != "true":
        return {}
    return {
        topic: frozenset(place.partition(":")[0] for place in conf.split(";"))
        for topic, conf in picture.kv.get(ORDER_TOPIC_CONFIG, {}).items()
    }


class Worst(NamedTuple):
    """The largest loss of a topic on any name server, and the name servers that show it.

    Each client asks one name server, so the views are not merged.
    """

    loss: Loss
    addrs: tuple[str, ...]


def worst(of_each: Mapping[str, Iterable[Loss]]) -> list[Worst]:
    """The largest loss of each topic, from the losses by name server; the largest losses first."""
    found: dict[str, Worst] = {}
    for addr, told in of_each.items():
        for loss in told:
            known = found.get(loss.topic)
            if known is not None and known.loss == loss:
                found[loss.topic] = known._replace(addrs=(*known.addrs, addr))
            elif known is None or _weight(loss) > _weight(known.loss):
                found[loss.topic] = Worst(loss, (addr,))
    return sorted(found.values(), key=lambda item: ([-part for part in _weight(item.loss)], item.loss.topic))


def _weight(loss: Loss) -> tuple[float, ...]:
    return (
        loss.stands_still, loss.stops_writes, loss.loses_masters, loss.stops_reads, loss.write_share,
        -loss.after.read_queues,
    )  # fmt: skip


class GroupLoss(NamedTuple):
    """A consumer group that reads topics of brokers that would be gone; `client_count` is for now.

    `stopped_topics` would have no readable queue left, `reduced_topics` fewer readable queues.
    """

    group: str
    clients: int
    stops: tuple[str, ...]
    loses: tuple[str, ...]

    @property
    def stands_still(self) -> bool:
        """Whether the group could no longer read one of its topics."""
        return bool(self.stops)


def group_losses(
    readers: Mapping[str, Iterable[str]], clients: Mapping[str, int], found: Iterable[Worst]
) -> list[GroupLoss]:
    """The losses of groups that would lose something, groups with stopped topics first."""
    by_topic = {item.loss.topic: item.loss for item in found}
    result = []
    for group, topics in sorted(readers.items()):
        hit = [by_topic[topic] for topic in sorted(set(topics)) if topic in by_topic]
        stops = tuple(loss.topic for loss in hit if loss.stops_reads)
        loses = tuple(
            loss.topic
            for loss in hit
            if not loss.stops_reads and loss.after.read_queues < loss.before.read_queues
        )
        if stops or loses:
            result.append(GroupLoss(group, clients.get(group, 0), stops, loses))
    return sorted(result, key=lambda item: (not item.stops, item.group))
