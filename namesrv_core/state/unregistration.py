"""Unregistration: removes brokers and cleans the queues of their topics."""

from collections.abc import Iterable
from typing import NamedTuple

from namesrv_core.events import (
    AddressForgotten,
    BrokerUnregistered,
    Event,
    QueueData,
    TopicsChanged,
)
from namesrv_core.protocol.codes import MASTER_BROKER_ID, Perm
from namesrv_core.state.registration_events import (
    build_mapping_events,
    build_min_id_event,
    place_of_broker,
)
from namesrv_core.state.route_tables import (
    RouteTables,
)


class RegisteredPlace(NamedTuple):
    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str


def is_stale_unregistration(tables: RouteTables, leaving_broker: RegisteredPlace, channel_id: int) -> bool:
    """Whether an unregistration arrives on a channel that the broker has left for a newer one.

    The previous process of the broker sent it, and the next process has already registered.
    """
    live_broker = tables.live_brokers.get((leaving_broker.cluster_name, leaving_broker.broker_addr))
    return live_broker is not None and channel_id in live_broker.former_channel_ids


def unregister_brokers(
    tables: RouteTables, leaving_brokers: Iterable[RegisteredPlace], reason: str
) -> list[Event]:
    """Unregister brokers by their addresses. Their topics are cleaned in one pass."""
    events: list[Event] = []
    removed_groups: set[str] = set()
    reduced_groups: set[str] = set()
    min_id_events: list[Event] = []
    mapping_events: list[Event] = []
    for leaving_broker in leaving_brokers:
        live_key = (leaving_broker.cluster_name, leaving_broker.broker_addr)
        live_broker = tables.live_brokers.pop(live_key, None)
        tables.filter_servers.pop(live_key, None)
        broker_group = tables.broker_groups.get(leaving_broker.broker_name)
        broker_ids = (
            [
                member_id
                for member_id, member_addr in broker_group.broker_addrs.items()
                if member_addr == leaving_broker.broker_addr
            ]
            if broker_group
            else []
        )
        if live_broker is not None and not broker_ids:
            events.append(AddressForgotten(*live_key, reason=reason))
        if broker_group is None:
            continue
        min_id_goes = bool(broker_group.broker_addrs) and leaving_broker.broker_id == min(
            broker_group.broker_addrs
        )
        for broker_id in broker_ids:
            del broker_group.broker_addrs[broker_id]
            channel_id = live_broker.channel_id if live_broker else None
            events.append(
                BrokerUnregistered(
                    *place_of_broker(broker_group, broker_id, live_key), reason=reason, channel=channel_id
                )
            )
        if not broker_group.broker_addrs:
            mapping_events += build_mapping_events(
                broker_group.broker_name, tables.drop_group(broker_group.broker_name)
            )
            removed_groups.add(broker_group.broker_name)
            continue
        reduced_groups.add(broker_group.broker_name)
        if min_id_goes and broker_group.enable_acting_master:
            min_id_events.append(build_min_id_event(broker_group, leaving_broker.broker_addr, None))
    tables.generation += 1
    return (
        events
        + _clean_topic_queues(tables, removed_groups, reduced_groups - removed_groups)
        + mapping_events
        + min_id_events
    )


def _clean_topic_queues(
    tables: RouteTables, removed_groups: set[str], reduced_groups: set[str]
) -> list[Event]:
    """Remove the queues of removed groups, and make those of groups that lost their master read-only."""
    headless_groups = {
        broker_name
        for broker_name in reduced_groups
        if tables.broker_groups[broker_name].enable_acting_master
        and min(tables.broker_groups[broker_name].broker_addrs) > MASTER_BROKER_ID
    }
    removed_changes = [
        (broker_name, tables.change_all_queues(broker_name, lambda queue_data: None))
        for broker_name in sorted(removed_groups)
    ]
    read_only_changes = [
        (broker_name, tables.change_all_queues(broker_name, _without_write_permission))
        for broker_name in sorted(headless_groups)
    ]
    return [
        TopicsChanged(broker_name, "unregistration", topic_changes)
        for broker_name, topic_changes in removed_changes + read_only_changes
        if topic_changes
    ]


def _without_write_permission(queue_data: QueueData) -> QueueData:
    return queue_data._replace(perm=queue_data.perm & ~int(Perm.WRITE))
