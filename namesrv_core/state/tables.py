"""The route tables (clusters, broker groups, live brokers, topics, mappings) and the invariants between them.

A topic has an entry only while a broker has queues of it. A queue mapping disappears with its broker group,
or when the broker registers the topic without one. A cluster lists a broker name only while the group exists.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.events import (
    DataVersion,
    MappingChange,
    MappingInfo,
    QueueData,
    TopicChange,
    TopicChanges,
    merged,
)
from namesrv_core.state.placements import NO_QUEUES, Move, Placement, Queues, Successors, without

LiveKey = tuple[str, str]
"""Cluster name and broker address."""

_MOVED = 20_000
"""The most broker names to remember: more than there are brokers, because removed brokers are included."""


class BrokerGroup:
    """The brokers of one name: the addresses of a master and its slaves by id (upstream: `BrokerData`)."""

    __slots__ = ("acting_master", "addrs", "cluster", "name", "zone")

    def __init__(self, cluster: str, name: str) -> None:
        self.cluster = cluster
        self.name = name
        self.addrs: dict[int, str] = {}
        self.acting_master = False
        self.zone: str | None = None


class Broker(NamedTuple):
    """The header of a registration: a place in a group, an address, a timeout and options.

    `enable_acting_master` is None for brokers older than 5.0, which do not send it.
    """

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    ha_addr: str | None = None
    timeout: int | None = None
    acting_master: bool | None = None
    zone: str | None = None


class Seal(NamedTuple):
    """Identifies a broker's last registration, and the generation of the tables after it.

    `request_context` is the rest of the request beside the body of `body_size` bytes. `body_digest` is the
    body's hash, or the hashes of its pieces. Python salts the hash, so clients cannot construct collisions.
    """

    broker: Broker
    said: tuple[object, ...]
    size: int
    digest: object
    generation: int


class LiveBroker:
    """A live broker: the time of its last sign of life, its channel and its data version.

    `former_channel_ids` are open channels over which it registered before. `is_silent` is set once its
    silence has been reported. `last_fingerprint` identifies the registration that was applied last.
    """

    __slots__ = (
        "channel", "former_channels", "ha_addr", "heard_at", "is_silent", "seal", "timeout", "version",
    )  # fmt: skip

    def __init__(
        self,
        heard_at: int,
        timeout: int,
        version: DataVersion | None,
        channel: int,
        ha_addr: str | None,
        former_channels: frozenset[int] = frozenset(),
    ) -> None:
        self.heard_at = heard_at
        self.timeout = timeout
        self.version = version
        self.channel = channel
        self.former_channels = former_channels
        self.ha_addr = ha_addr
        self.is_silent = False
        self.seal: Seal | None = None


class RouteTables:
    """The tables of `RouteInfoManager`. `generation` changes whenever a route may change.

    `move_count` counts the changes of queues.
    """

    def __init__(self) -> None:
        self.clusters: dict[str, dict[str, None]] = {}
        self.groups: dict[str, BrokerGroup] = {}
        self.live: dict[LiveKey, LiveBroker] = {}
        self.topics: dict[str, Placement] = {}
        self.filters: dict[LiveKey, list[str | None]] = {}
        self.mappings: dict[str, dict[str | None, MappingInfo]] = {}
        self.successors = Successors()
        self.generation = self.moves = 0
        self._moved: dict[str, int] = {}
        self._forgotten = 0
        self._same: dict[QueueData, QueueData] = {}

    def shared(self, queue: QueueData) -> QueueData:
        """The shared record of all equal queues. A broker with many topics has only a few different ones."""
        if len(self._same) > 100_000:
            self._same.clear()
        return self._same.setdefault(queue, queue)

    def queues_of(self, topic: str) -> Queues:
        """The queues of a topic by broker name; empty for an unknown topic."""
        placement = self.topics.get(topic)
        return NO_QUEUES if placement is None else placement.queues

    def set_queue(self, topic: str, queue: QueueData) -> TopicChange | None:
        """Set a broker's queues of a topic. Return None if that changes nothing."""
        here = self.topics.get(topic)
        before = None if here is None else here.queues.get(queue.broker_name)
        if before == queue:
            return None
        after = self.shared(queue)
        self._note_move(queue.broker_name)
        self._move(topic, here, self.successors.put(here, after))
        return TopicChange(topic, before, after)

    def drop_queue(self, topic: str, broker_name: str) -> TopicChange | None:
        """Remove a broker's queues of a topic; None if there were none."""
        here = self.topics.get(topic)
        before = None if here is None else here.queues.get(broker_name)
        if here is None or before is None:
            return None
        self._note_move(broker_name)
        self._move(topic, here, self.successors.drop(here, broker_name))
        return TopicChange(topic, before, None)

    def change_all(
        self, broker_name: str, change: Callable[[QueueData], QueueData | None]
    ) -> tuple[TopicChanges, ...]:
        """Change a broker's queues of all its topics. `change_queue` returns new queues or None."""
        topics: dict[Placement, list[str]] = {}
        for topic, placement in self.topics.items():
            if broker_name in placement.queues:
                topics.setdefault(placement, []).append(topic)
        if topics:
            self._note_move(broker_name)
        found = []
        # Either all topics of a placement have queues on the broker or none of them.
        for placement, names in topics.items():
            before = placement.queues[broker_name]
            after = change(before)
            if after == before:
                continue
            found.append(TopicChanges(tuple(names), before, after))
            if after is not None:
                placement.queues = {**placement.queues, broker_name: self.shared(after)}
            elif len(placement.queues) > 1:
                placement.queues = without(placement.queues, broker_name)
            else:
                placement.topics, placement.moves = 0, self.moves
                for topic in names:
                    del self.topics[topic]
        self.successors.forget()
        return merged(found)

    def _move(self, topic: str, here: Placement | None, there: Placement | None) -> None:
        for placement, by in (here, -1), (there, 1):
            if placement is not None:
                placement.topics += by
                placement.moves = self.moves
        if there is None:
            del self.topics[topic]
        else:
            self.topics[topic] = there

    def put(
        self, broker_name: str, found: Sequence[Move], fresh: Mapping[str, Placement], moves: int
    ) -> None:
        """Apply the moves of a broker's topics that were computed when `move_count` had this value.

        `new_placements` has the topics that had no placement. Later changes of other brokers are kept.
        """
        is_same = self.moves == moves
        are_there = [is_same if here is None else here.moves <= moves for here, *_ in found]
        self._note_move(broker_name)
        if is_same:
            self.topics.update(fresh)
        for move, is_there in zip(found, are_there, strict=True):
            if is_there:
                self._move_together(move)
            else:
                for topic in move.topics:
                    here = self.topics.get(topic)
                    self._move(topic, here, self.successors.put(here, move.queue))

    def _move_together(self, move: Move) -> None:
        """Move topics together, because all of them still have the placement that was computed."""
        here, there, count = move.here, move.there, len(move.topics)
        if here is not None:
            # Other brokers may have changed the placement's own queues meanwhile.
            there = self.successors.put(here, move.queue)
            if here.topics == count and not there.topics:
                here.queues = there.queues
                self.successors.forget()
                return
            self.topics.update(dict.fromkeys(move.topics, there))
            here.topics -= count
            here.moves = self.moves
        there.topics += count
        there.moves = self.moves

    def moved(self, broker_name: str) -> int:
        """The `move_count` after the last move of this broker's queues, or a higher number."""
        return self._moved.get(broker_name, self._forgotten)

    def _note_move(self, broker_name: str) -> None:
        self.moves += 1
        if len(self._moved) >= _MOVED:
            self._moved.clear()
            self._forgotten = self.moves
        self._moved[broker_name] = self.moves

    def set_mapping(self, topic: str, info: MappingInfo) -> MappingChange | None:
        """Set the mapping of a static topic on a broker. Return None if that changes nothing."""
        mappings = self.mappings.setdefault(topic, {})
        before = mappings.get(info.bname)
        mappings[info.bname] = info
        return None if before == info else MappingChange(topic, info.bname, before, info)

    def drop_mapping(self, topic: str, broker_name: str) -> MappingChange | None:
        """Remove the mapping of a static topic on a broker. Return None if there is none."""
        mappings = self.mappings.get(topic, {})
        before = mappings.pop(broker_name, None)
        if not mappings:
            self.mappings.pop(topic, None)
        return None if before is None else MappingChange(topic, broker_name, before, None)

    def topics_of(self, broker_name: str) -> list[str]:
        return [topic for topic, placement in self.topics.items() if broker_name in placement.queues]

    def drop_group(self, name: str) -> tuple[MappingChange, ...]:
        """Remove a group without members from all clusters, together with its mappings."""
        del self.groups[name]
        for cluster in [cluster for cluster, names in self.clusters.items() if name in names]:
            names = self.clusters[cluster]
            del names[name]
            if not names:
                del self.clusters[cluster]
        topics = [topic for topic, mappings in self.mappings.items() if name in mappings]
        return changes(self.drop_mapping(topic, name) for topic in topics)

    def members_at(self, key: LiveKey) -> Iterator[tuple[BrokerGroup, int]]:
        """The cluster's groups that contain the address, with the address's broker id in each.

        There is one such group, unless a broker has changed its name.
        """
        cluster, addr = key
        for name in self.clusters.get(cluster, ()):
            group = self.groups[name]
            for broker_id, known in group.addrs.items():
                if known == addr:
                    yield group, broker_id

    def on_channel(self, channel: int) -> Iterator[LiveKey]:
        return (key for key, broker in self.live.items() if broker.channel == channel)


def changes(found: Iterable[MappingChange | None]) -> tuple[MappingChange, ...]:
    """The changes that are not None."""
    return tuple(change for change in found if change is not None)
