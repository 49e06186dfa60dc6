"""Losses: what topics and groups would lose if brokers were gone, as name servers tell clients. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from namesrv_core.protocol.codes import MASTER_ID, Perm
from nsadmin.client.pictures import ORDER_TOPIC_CONFIG, Picture

Members = Mapping[str, frozenset[int]]
"""Ids of the processes of each broker, by its name."""


class Capacity(NamedTuple):
    """What clients have of a topic: queues that they may write to and read, and brokers with a master."""

    write_queues: int = 0
    read_queues: int = 0
    masters: int = 0


class Loss(NamedTuple):
    """A topic that has queues on brokers that would be gone: `lost` are their names.

    `ordered_by` are those of them that its order configuration names: clients go on sending to their queues.
    `is_static` where queues of a static topic are on them, which clients go on using as well.
    """

    topic: str
    before: Capacity
    after: Capacity
    lost: tuple[str, ...]
    ordered_by: tuple[str, ...] = ()
    is_static: bool = False

    @property
    def stops_writes(self) -> bool:
        """Whether it loses its last queue that clients may write to."""
        return self.before.write_queues > 0 and self.after.write_queues == 0

    @property
    def stops_reads(self) -> bool:
        """Whether it loses its last queue that clients may read."""
        return self.before.read_queues > 0 and self.after.read_queues == 0

    @property
    def loses_masters(self) -> bool:
        """Whether it loses its last master."""
        return self.before.masters > 0 and self.after.masters == 0

    @property
    def write_share(self) -> float:
        """The part of its queues for writing that it loses, 0 to 1."""
        before = self.before.write_queues
        return (before - self.after.write_queues) / before if before else 0.0

    @property
    def stands_still(self) -> bool:
        """Whether there is something that clients cannot do any more, or do in vain."""
        return (
            self.stops_writes
            or self.stops_reads
            or self.loses_masters
            or bool(self.ordered_by)
            or self.is_static
        )


def members(picture: Picture) -> dict[str, frozenset[int]]:
    """The processes of each broker that a name server knows."""
    return {name: frozenset(map(int, broker["brokerAddrs"])) for name, broker in picture.brokers.items()}


def without(present: Members, down: Members) -> dict[str, frozenset[int]]:
    """Who is left; a broker of which no process is left is no longer there."""
    left = {name: ids - down.get(name, frozenset()) for name, ids in present.items()}
    return {name: ids for name, ids in left.items() if ids}


def capacity(queues: Mapping[str, Mapping[str, int]], present: Members) -> Capacity:
    """What clients have of a topic with these queues by broker, while these processes are there."""
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
    """Every topic that would lose something, by name."""
    present = members(picture)
    left = without(present, down)
    gone = {name for name in down if present.get(name, frozenset()) != left.get(name, frozenset())}
    orders = _orders(picture)
    known: dict[int, Loss | None] = {}
    for topic, queues in sorted(picture.topics.items()):
        if gone.isdisjoint(queues):
            continue
        # Topics that are alike share one table.
        if id(queues) not in known:
            known[id(queues)] = _loss(queues, present, left, gone)
        loss = known[id(queues)]
        named = tuple(sorted(gone & orders.get(topic, frozenset()) - left.keys()))
        if loss is not None:
            yield loss._replace(topic=topic, ordered_by=named)


def write_share(picture: Picture, down: Members) -> float:
    """The part of all queues that clients may write to that would be lost, 0 to 1."""
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
    """The brokers that each order configuration names; none where clients are not told of them."""
    if picture.settings.get("orderMessageEnable", "false").lower() != "true":
        return {}
    return {
        topic: frozenset(place.partition(":")[0] for place in conf.split(";"))
        for topic, conf in picture.kv.get(ORDER_TOPIC_CONFIG, {}).items()
    }


class Worst(NamedTuple):
    """What a topic loses where it loses most, as clients ask one name server each; `addrs` show it so."""

    loss: Loss
    addrs: tuple[str, ...]


def worst(of_each: Mapping[str, Iterable[Loss]]) -> list[Worst]:
    """The losses that name servers show, by address, one for each topic: what most goes first."""
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
    """A consumer group that reads topics of brokers that would be gone; `clients` are connected now.

    `stops` are those of its topics of which nothing can be read any more, `loses` those of which a part.
    """

    group: str
    clients: int
    stops: tuple[str, ...]
    loses: tuple[str, ...]

    @property
    def stands_still(self) -> bool:
        """Whether there is a topic that it cannot read at all any more."""
        return bool(self.stops)


def group_losses(
    readers: Mapping[str, Iterable[str]], clients: Mapping[str, int], found: Iterable[Worst]
) -> list[GroupLoss]:
    """The groups that would lose something; `readers` are the topics of each group."""
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
