"""Unregistration: removes brokers and cleans the queues of their topics.

Brokers whose channel has closed or whose time is over leave in steps of one broker. Other requests are
answered between the steps, so each step checks again whether the broker must still leave.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from namesrv_core.events import AddressForgotten, BrokerUnregistered, Event, QueueData, TopicsChanged
from namesrv_core.protocol.codes import Perm
from namesrv_core.state import acting_master
from namesrv_core.state.broker_tables import LiveBroker, LiveKey, RegisteredGroup
from namesrv_core.state.registration import (
    build_mapping_events,
    build_min_id_event,
    place_of_broker,
    release_live_broker,
)
from namesrv_core.state.route_tables import RouteTables

_MAX_PLACES_PER_STEP = 32


class RegisteredPlace(NamedTuple):
    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str


def is_stale_unregistration(tables: RouteTables, leaving: RegisteredPlace, channel_id: int) -> bool:
    """Whether an unregistration arrives on a channel that the broker has left for a newer one.

    The previous process of the broker sent it, and the next process has already registered.
    """
    live = tables.live_brokers.get((leaving.cluster_name, leaving.broker_addr))
    return live is not None and channel_id in live.former_channel_ids


class BrokerRemoval:
    """Removes brokers that leave for the same reason. `build_min_id_events` comes after the last one.

    `topics_by_broker` are the topics of brokers that have been searched for. Others are searched when needed.
    """

    def __init__(
        self, tables: RouteTables, reason: str, topics_by_broker: Mapping[str, Collection[str]] | None = None
    ) -> None:
        self._tables = tables
        self._reason = reason
        self._topics_by_broker = topics_by_broker or {}
        self._offline_addrs: dict[str, str] = {}

    def unregister_broker(self, leaving: RegisteredPlace) -> list[Event]:
        """Remove a broker from one group, whichever cluster and id it names (`unRegisterBroker`)."""
        tables = self._tables
        key = (leaving.cluster_name, leaving.broker_addr)
        live = tables.live_brokers.get(key)
        group = tables.broker_groups.get(leaving.broker_name)
        events: list[Event] = []
        is_member = False
        if group is not None:
            is_smallest = leaving.broker_id == min(group.broker_addrs)
            broker_id = group.find_id(leaving.broker_addr)
            is_member = broker_id is not None
            if broker_id is not None:
                events += self._drop_member(group, broker_id, key, live)
            events += self._adapt_group(group, leaving.broker_addr, is_smallest)
        tables.filter_servers.pop(key, None)
        tables.generation += 1
        if live is not None:
            remaining_events = release_live_broker(tables, key)
            if not is_member and not remaining_events:
                events.append(AddressForgotten(*key, reason=self._reason))
            events += remaining_events
        return events

    def remove_live_broker(self, key: LiveKey) -> list[Event]:
        """Remove a broker from all groups in which it holds a place through this cluster only.

        A broker with very many names loses only some of its places. Call this until it is gone.
        """
        tables = self._tables
        events: list[Event] = []
        live = tables.live_brokers[key]
        members = list(islice(tables.members_at_addr(key), _MAX_PLACES_PER_STEP + 1))
        for group, broker_id in members[:_MAX_PLACES_PER_STEP]:
            if not tables.release_member(group, key):
                is_smallest = broker_id == min(group.broker_addrs)
                events += self._drop_member(group, broker_id, key, live)
                events += self._adapt_group(group, key[1], is_smallest)
        if len(members) > _MAX_PLACES_PER_STEP:
            live.forget_registration()
            tables.generation += 1
            return events
        tables.drop_live_broker(key)
        filter_servers = tables.filter_servers.pop(key, None)
        if events or filter_servers:
            tables.generation += 1
        # Without events another broker took its place, or it keeps the place through another cluster.
        return events or [AddressForgotten(*key, reason=self._reason)]

    def build_min_id_events(self) -> list[Event]:
        groups = self._tables.broker_groups
        return [
            build_min_id_event(groups[name], addr, None)
            for name, addr in self._offline_addrs.items()
            if name in groups and groups[name].enable_acting_master
        ]

    def _drop_member(
        self, group: RegisteredGroup, broker_id: int, key: LiveKey, live: LiveBroker | None
    ) -> list[Event]:
        self._tables.drop_member(group, broker_id)
        return [
            BrokerUnregistered(
                *place_of_broker(group, broker_id, key),
                reason=self._reason,
                channel=live.channel_id if live else None,
            )
        ]

    def _adapt_group(self, group: RegisteredGroup, offline_addr: str, was_smallest: bool) -> list[Event]:
        """Remove a group without members and its queues. Without its master make its queues read-only."""
        broker_name = group.broker_name
        if not group.broker_addrs:
            changes = self._tables.drop_group(broker_name)
            return self._change_queues(broker_name, lambda queue: None) + build_mapping_events(
                broker_name, changes
            )
        if was_smallest:
            self._offline_addrs[broker_name] = offline_addr
        if acting_master.lacks_master(group):
            return self._change_queues(broker_name, lambda q: q._replace(perm=q.perm & ~int(Perm.WRITE)))
        return []

    def _change_queues(
        self, broker_name: str, change: Callable[[QueueData], QueueData | None]
    ) -> list[Event]:
        changes = self._tables.change_all_queues(
            broker_name, change, self._topics_by_broker.get(broker_name, ())
        )
        return [TopicsChanged(broker_name, "unregistration", changes)] if changes else []


def unregister_brokers(
    tables: RouteTables, leaving_brokers: Iterable[RegisteredPlace], reason: str
) -> list[Event]:
    removal = BrokerRemoval(tables, reason)
    events = [event for leaving in leaving_brokers for event in removal.unregister_broker(leaving)]
    return events + removal.build_min_id_events()


_ENTRIES_PER_STEP = 2048


class DepartureOrder(NamedTuple):
    """Brokers that leave for one reason, if `is_due` still holds then."""

    reason: str
    live_keys: Sequence[LiveKey]
    is_due: Callable[[LiveBroker], bool]


class Departure(NamedTuple):
    """A step of `leave_in_steps`: what an order changed. `channel_id` is the channel of a removed broker.

    It is None if the broker had no place any more, because a broker that took another address still uses the
    channel of the address that it left.
    """

    order_number: int
    events: Sequence[Event] = ()
    channel_id: int | None = None


def leave_in_steps(tables: RouteTables, orders: Sequence[DepartureOrder]) -> Iterator[Departure]:
    """Carry out orders in steps of less than a millisecond, except for brokers with thousands of topics.

    The topics of all brokers are searched for once, and before any broker leaves. Otherwise brokers with few
    topics would each cost a search through all topics of the server.
    """
    topics_by_broker: dict[str, list[str]] = {}
    if len(tables.placements_by_topic) > _ENTRIES_PER_STEP:
        yield from _list_leaving_brokers(tables, orders, topics_by_broker)
        yield from _collect_topics(tables, topics_by_broker)
    for number, order in enumerate(orders):
        removal = BrokerRemoval(tables, order.reason, topics_by_broker)
        for key in order.live_keys:
            while (live := tables.live_brokers.get(key)) is not None and order.is_due(live):
                channel_id = live.channel_id if any(tables.members_at_addr(key)) else None
                yield Departure(number, removal.remove_live_broker(key), channel_id)
        events = removal.build_min_id_events()
        if events:
            yield Departure(number, events)


def _list_leaving_brokers(
    tables: RouteTables, orders: Sequence[DepartureOrder], topics_by_broker: dict[str, list[str]]
) -> Iterator[Departure]:
    """Give each leaving broker name that has topics an empty list."""
    for number, order in enumerate(orders):
        for key in order.live_keys:
            for group, _ in tables.members_at_addr(key):
                if group.broker_name in tables.topic_counts:
                    topics_by_broker[group.broker_name] = []
            yield Departure(number)


def _collect_topics(tables: RouteTables, topics_by_broker: dict[str, list[str]]) -> Iterator[Departure]:
    topics = list(tables.placements_by_topic) if topics_by_broker else []
    for step_start in range(0, len(topics), _ENTRIES_PER_STEP):
        names: dict[object, list[str]] = {}
        for topic in topics[step_start : step_start + _ENTRIES_PER_STEP]:
            placement = tables.placements_by_topic.get(topic)
            if placement is None:
                continue
            broker_names = names.get(placement)
            if broker_names is None:
                broker_names = names[placement] = [
                    name for name in placement.broker_queues if name in topics_by_broker
                ]
            for broker_name in broker_names:
                topics_by_broker[broker_name].append(topic)
        yield Departure(0)
