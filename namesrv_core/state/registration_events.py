"""Events about registered brokers, and the state that they carry."""

from namesrv_core.events import (
    BrokerChanged,
    BrokerInfo,
    BrokerRegistered,
    Event,
    MappingChange,
    MappingsChanged,
    MinBrokerIdChanged,
)
from namesrv_core.protocol.registration_codec import BrokerRegistration
from namesrv_core.state.broker_index import LiveKey
from namesrv_core.state.broker_tables import BrokerClaim, RegisteredGroup
from namesrv_core.state.route_tables import RouteTables


def registered_state(
    tables: RouteTables, broker: BrokerClaim, broker_group: RegisteredGroup | None
) -> tuple[object, ...]:
    """Everything that a registration can change except topics, for a comparison."""
    is_listed = broker.broker_name in tables.broker_names_by_cluster.get(broker.cluster_name, ())
    if broker_group is None:
        return (is_listed,)
    known_info = broker_info(tables, (broker.cluster_name, broker.broker_addr))
    return (
        is_listed,
        dict(broker_group.broker_addrs),
        broker_group.enable_acting_master,
        broker_group.zone_name,
        known_info,
    )


def broker_info(tables: RouteTables, live_key: LiveKey) -> BrokerInfo | None:
    """The stored information about the broker at an address of a cluster."""
    live_broker = tables.live_brokers.get(live_key)
    if live_broker is None:
        return None
    return BrokerInfo(
        live_broker.ha_server_addr,
        live_broker.timeout_ms,
        live_broker.data_version,
        tuple(tables.filter_servers.get(live_key, ())),
    )


def release_live_broker(tables: RouteTables, live_key: LiveKey) -> list[Event]:
    """Remove a live broker that has lost its place in a group, unless it has places in other groups.

    Upstream removes it in any case, so these places would never end. As there, the next query of its data
    version has the broker register again.
    """
    remaining_member = next(tables.members_at_addr(live_key), None)
    if remaining_member is None:
        tables.drop_live_broker(live_key)
        return []
    tables.live_brokers[live_key].forget_registration()
    broker_group, broker_id = remaining_member
    # The event of the lost place removes the live broker from a replay. This one restores it.
    return [
        BrokerChanged(
            *place_of_broker(broker_group, broker_id, live_key),
            tables.topic_counts.get(broker_group.broker_name, 0),
            broker_group.enable_acting_master,
            broker_group.zone_name,
            broker_info(tables, live_key),
        )
    ]


def build_registration_event(
    tables: RouteTables,
    broker: BrokerClaim,
    registration: BrokerRegistration,
    broker_group: RegisteredGroup,
    replaced_addr: str | None,
) -> Event:
    topic_count = len(registration.topic_configs or ())
    known_info = broker_info(tables, (broker.cluster_name, broker.broker_addr))
    assert known_info is not None
    if replaced_addr != broker.broker_addr:
        return BrokerRegistered(
            *broker[:4],
            topic_count,
            replaced_addr,
            broker_group.enable_acting_master,
            broker_group.zone_name,
            known_info,
        )
    return BrokerChanged(
        *broker[:4], topic_count, broker_group.enable_acting_master, broker_group.zone_name, known_info
    )


def build_mapping_events(broker_name: str, mapping_changes: tuple[MappingChange, ...]) -> list[Event]:
    return [MappingsChanged(broker_name, mapping_changes)] if mapping_changes else []


def place_of_broker(
    broker_group: RegisteredGroup, broker_id: int, live_key: LiveKey
) -> tuple[str, str, int, str]:
    return live_key[0], broker_group.broker_name, broker_id, live_key[1]


def build_min_id_event(
    broker_group: RegisteredGroup, offline_addr: str | None, ha_addr: str | None
) -> MinBrokerIdChanged:
    """The event for a new smallest broker id. Its recipients are the remaining members of the group.

    If a registration lowered the id, the registering broker is no recipient, unless it is alone.
    """
    min_broker_id = min(broker_group.broker_addrs)
    other_addrs = [
        broker_addr
        for broker_id, broker_addr in broker_group.broker_addrs.items()
        if broker_id != min_broker_id
    ]
    all_addrs = list(broker_group.broker_addrs.values())
    recipient_addrs = all_addrs if offline_addr is not None or not other_addrs else other_addrs
    return MinBrokerIdChanged(
        broker_group.broker_name,
        min_broker_id,
        broker_group.broker_addrs[min_broker_id],
        offline_addr,
        ha_addr,
        tuple(recipient_addrs),
    )
