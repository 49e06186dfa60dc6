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
    tables: RouteTables, broker: BrokerClaim, group: RegisteredGroup | None
) -> tuple[object, ...]:
    """Everything that a registration can change except topics, for a comparison."""
    is_listed = broker.broker_name in tables.broker_names_by_cluster.get(broker.cluster_name, ())
    if group is None:
        return (is_listed,)
    known = broker_info(tables, (broker.cluster_name, broker.broker_addr))
    return (is_listed, dict(group.broker_addrs), group.enable_acting_master, group.zone_name, known)


def broker_info(tables: RouteTables, key: LiveKey) -> BrokerInfo | None:
    """The stored information about the broker at an address of a cluster."""
    live = tables.live_brokers.get(key)
    if live is None:
        return None
    return BrokerInfo(
        live.ha_server_addr, live.timeout_ms, live.data_version, tuple(tables.filter_servers.get(key, ()))
    )


def release_live_broker(tables: RouteTables, key: LiveKey) -> list[Event]:
    """Remove a live broker that has lost its place in a group, unless it has places in other groups.

    Upstream removes it in any case, so these places would never end. As there, the next query of its data
    version has the broker register again.
    """
    remaining = next(tables.members_at_addr(key), None)
    if remaining is None:
        tables.drop_live_broker(key)
        return []
    tables.live_brokers[key].forget_registration()
    group, broker_id = remaining
    # The event of the lost place removes the live broker from a replay. This one restores it.
    return [
        BrokerChanged(
            *place_of_broker(group, broker_id, key),
            tables.topic_counts.get(group.broker_name, 0),
            group.enable_acting_master,
            group.zone_name,
            broker_info(tables, key),
        )
    ]


def build_registration_event(
    tables: RouteTables,
    broker: BrokerClaim,
    registration: BrokerRegistration,
    group: RegisteredGroup,
    replaced: str | None,
) -> Event:
    topic_count = len(registration.topic_configs or ())
    known = broker_info(tables, (broker.cluster_name, broker.broker_addr))
    assert known is not None
    if replaced != broker.broker_addr:
        return BrokerRegistered(
            *broker[:4], topic_count, replaced, group.enable_acting_master, group.zone_name, known
        )
    return BrokerChanged(*broker[:4], topic_count, group.enable_acting_master, group.zone_name, known)


def build_mapping_events(broker_name: str, changes: tuple[MappingChange, ...]) -> list[Event]:
    return [MappingsChanged(broker_name, changes)] if changes else []


def place_of_broker(group: RegisteredGroup, broker_id: int, key: LiveKey) -> tuple[str, str, int, str]:
    return key[0], group.broker_name, broker_id, key[1]


def build_min_id_event(
    group: RegisteredGroup, offline_addr: str | None, ha_addr: str | None
) -> MinBrokerIdChanged:
    """The event for a new smallest broker id. Its recipients are the remaining members of the group.

    If a registration lowered the id, the registering broker is no recipient, unless it is alone.
    """
    min_broker_id = min(group.broker_addrs)
    others = [addr for broker_id, addr in group.broker_addrs.items() if broker_id != min_broker_id]
    addrs = list(group.broker_addrs.values())
    recipients = addrs if offline_addr is not None or not others else others
    return MinBrokerIdChanged(
        group.broker_name,
        min_broker_id,
        group.broker_addrs[min_broker_id],
        offline_addr,
        ha_addr,
        tuple(recipients),
    )
