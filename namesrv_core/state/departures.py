"""The departures of brokers whose channel has closed or whose time is over, in steps of one broker.

Other requests are answered between the steps. So each step checks again whether the broker must still leave.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from namesrv_core.events import Event
from namesrv_core.state.broker_index import LiveKey
from namesrv_core.state.broker_tables import LiveBroker
from namesrv_core.state.route_tables import RouteTables
from namesrv_core.state.unregistration import BrokerRemoval

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
    """Fill the lists of the brokers' topics."""
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
