"""Registration and unregistration of brokers (`RouteInfoManager#registerBroker`, `#unRegisterBroker`).

A registration is applied completely or not at all.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from namesrv_core.errors import BadRequest, RequestError
from namesrv_core.events import (
    AddressConflict,
    Event,
    HeartbeatGap,
    MappingChange,
    MappingInfo,
    QueueData,
    RegistrationRefused,
    TopicChange,
    TopicChanges,
    TopicsChanged,
    group_topic_changes,
)
from namesrv_core.protocol.codes import MASTER_BROKER_ID, Perm
from namesrv_core.protocol.registration_codec import BrokerRegistration, RegisteredTopicConfig
from namesrv_core.state.broker_index import LiveKey
from namesrv_core.state.broker_tables import BrokerClaim, LiveBroker, RegisteredGroup
from namesrv_core.state.registration_events import (
    build_mapping_events,
    build_min_id_event,
    build_registration_event,
    registered_state,
    release_live_broker,
)
from namesrv_core.state.registration_preview import RegistrationPreview
from namesrv_core.state.route_tables import RouteTables, filter_mapping_changes

DEFAULT_TIMEOUT_MS = 120_000
"""A broker expires after this time without a sign of life (ms), unless it registers another timeout."""


class MasterAddress(NamedTuple):
    """The answer to a registration: the address of the group's master, for slaves."""

    master_addr: str | None = None
    ha_server_addr: str | None = None


def apply_registration(
    tables: RouteTables,
    broker: BrokerClaim,
    registration: BrokerRegistration,
    *,
    channel_id: int,
    now_ms: int,
    delete_missing_topics: bool = False,
    registration_preview: RegistrationPreview | None = None,
) -> tuple[MasterAddress, list[Event]]:
    """Apply a registration. Raises RequestError, without a change, if it cannot be applied completely.

    `registration_preview` is the precomputed change of topics, if there is one.
    """
    if registration_preview is None:
        _check_topic_names(registration)
    _check_queue_mappings(registration)
    live_key = (broker.cluster_name, broker.broker_addr)
    broker_group = tables.broker_groups.get(broker.broker_name)
    known_addrs = broker_group.broker_addrs if broker_group else {}
    replaced_addr = known_addrs.get(broker.broker_id)
    is_outdated = _has_newer_holder(tables, broker, registration, replaced_addr)
    if replaced_addr is None:
        _refuse_single_topic(registration)

    previous_broker = tables.live_brokers.get(live_key)
    events = _detect_address_conflicts(tables, broker, replaced_addr, now_ms) + end_heartbeat_gap(
        broker[:4], previous_broker, now_ms
    )
    state_before = registered_state(tables, broker, broker_group)
    was_listed = broker.broker_name in tables.broker_names_by_cluster.get(broker.cluster_name, ())
    broker_group = tables.join_group(broker.cluster_name, broker.broker_name)
    group_before = (
        dict(broker_group.broker_addrs),
        broker_group.enable_acting_master,
        broker_group.zone_name,
    )
    broker_group.enable_acting_master = broker.enable_acting_master is True
    broker_group.zone_name = broker.zone_name
    min_id_falls = broker.broker_id < min(broker_group.broker_addrs, default=0)
    _drop_previous_ids(tables, broker, broker_group)
    if is_outdated:
        return MasterAddress(), events + _refuse_outdated_broker(tables, broker, broker_group, replaced_addr)
    tables.set_member(broker_group, broker.broker_id, live_key)

    topic_events = _apply_topic_configs(
        tables,
        broker,
        registration,
        registration_preview,
        broker_group,
        not replaced_addr,
        delete_missing_topics,
    )
    timeout_ms = DEFAULT_TIMEOUT_MS if broker.timeout_ms is None else broker.timeout_ms
    tables.set_live_broker(
        live_key, LiveBroker(now_ms, timeout_ms, registration.data_version, channel_id, broker.ha_server_addr)
    )
    _store_filter_servers(tables, live_key, registration.filter_servers)
    if not was_listed or group_before != (
        broker_group.broker_addrs,
        broker_group.enable_acting_master,
        broker_group.zone_name,
    ):
        tables.generation += 1
    if replaced_addr != broker.broker_addr or state_before != registered_state(tables, broker, broker_group):
        events.append(build_registration_event(tables, broker, registration, broker_group, replaced_addr))
    events += topic_events
    if min_id_falls:
        events.append(build_min_id_event(broker_group, None, broker.ha_server_addr))
    return _master_address(tables, broker, broker_group), events


def repeat_registration(
    tables: RouteTables, broker: BrokerClaim, live_broker: LiveBroker, *, channel_id: int, now_ms: int
) -> tuple[MasterAddress, list[Event]]:
    """Apply a registration again that equals the last one. The tables are unchanged: it is a sign of life."""
    events = end_heartbeat_gap(broker[:4], live_broker, now_ms)
    live_broker.heard_at_ms = now_ms
    if channel_id != live_broker.channel_id:
        tables.change_channel((broker.cluster_name, broker.broker_addr), live_broker, channel_id)
    return _master_address(tables, broker, tables.broker_groups[broker.broker_name]), events


def _check_topic_names(registration: BrokerRegistration) -> None:
    for table_key, topic_config in (registration.topic_configs or {}).items():
        if topic_config.topicName is None:
            raise BadRequest(f"the config of topic {table_key} has no topicName, nothing was registered")


def _check_queue_mappings(registration: BrokerRegistration) -> None:
    for table_key, mapping_info in registration.queue_mappings.items():
        if mapping_info is None:
            raise BadRequest(f"the queue mapping of topic {table_key} is null, nothing was registered")


def _refuse_single_topic(registration: BrokerRegistration) -> None:
    """Refuse a single topic of a broker that is not registered: a new broker registers all its topics."""
    if registration.topic_configs is not None and len(registration.topic_configs) == 1:
        raise RequestError("register broker failed")


def _has_newer_holder(
    tables: RouteTables, broker: BrokerClaim, registration: BrokerRegistration, replaced_addr: str | None
) -> bool:
    """Whether another address has this broker's place with a higher stateVersion (a newer master epoch)."""
    if replaced_addr is None or replaced_addr == broker.broker_addr:
        return False
    holder_broker = tables.live_brokers.get((broker.cluster_name, replaced_addr))
    if holder_broker is None or holder_broker.data_version is None:
        return False
    return holder_broker.data_version.state_version > (
        registration.data_version.state_version if registration.data_version else 0
    )


def _drop_previous_ids(tables: RouteTables, broker: BrokerClaim, broker_group: RegisteredGroup) -> None:
    """Remove the broker's address from the other ids of its group: the broker has changed its id."""
    previous_ids = [
        member_id
        for member_id, member_addr in broker_group.broker_addrs.items()
        if member_addr == broker.broker_addr and member_id != broker.broker_id
    ]
    for previous_id in previous_ids:
        tables.drop_member(broker_group, previous_id)


def _refuse_outdated_broker(
    tables: RouteTables, broker: BrokerClaim, broker_group: RegisteredGroup, newer_addr: str | None
) -> list[Event]:
    """Refuse a broker whose place belongs to a newer one. The refused address is no longer alive."""
    release_events = release_live_broker(tables, (broker.cluster_name, broker.broker_addr))
    tables.generation += 1
    refusal_event = RegistrationRefused(
        *broker[:4],
        f"{newer_addr} has a higher stateVersion",
        enable_acting_master=broker_group.enable_acting_master,
        zone_name=broker_group.zone_name,
    )
    return [refusal_event, *release_events]


def _store_filter_servers(
    tables: RouteTables, live_key: LiveKey, filter_servers: list[str | None] | None
) -> None:
    if filter_servers is None or filter_servers == tables.filter_servers.get(live_key, []):
        return
    tables.generation += 1
    if filter_servers:
        tables.filter_servers[live_key] = filter_servers
    else:
        del tables.filter_servers[live_key]


def _detect_address_conflicts(
    tables: RouteTables, broker: BrokerClaim, current_addr: str | None, now_ms: int
) -> list[Event]:
    """Report two addresses for one place, or two names at one address, when the second one registers."""
    if current_addr == broker.broker_addr:
        return []
    holders = [(broker.broker_name, current_addr)] if current_addr is not None else []
    live_key = (broker.cluster_name, broker.broker_addr)
    holders += [
        (broker_group.broker_name, live_key[1])
        for broker_group, _ in tables.reported_members(live_key)
        if broker_group.broker_name != broker.broker_name
    ]
    return [
        AddressConflict(
            *broker[:4],
            holder_name,
            holder_addr,
            _silence_ms(tables, (broker.cluster_name, holder_addr), now_ms),
        )
        for holder_name, holder_addr in holders
    ]


def _silence_ms(tables: RouteTables, live_key: LiveKey, now_ms: int) -> int | None:
    """Milliseconds since the address gave a sign of life, or None if it never did."""
    live_broker = tables.live_brokers.get(live_key)
    return None if live_broker is None else now_ms - live_broker.heard_at_ms


def is_broker_silent(live_broker: LiveBroker, now_ms: int) -> bool:
    """Whether three quarters of the broker's timeout have passed without a sign of life."""
    return (now_ms - live_broker.heard_at_ms) * 4 > live_broker.timeout_ms * 3


def end_heartbeat_gap(
    broker_place: tuple[str, str, int, str], live_broker: LiveBroker | None, now_ms: int
) -> list[Event]:
    """Report the end of a silence: the broker gives a sign of life after too long a time."""
    if live_broker is None or not (live_broker.is_silent or is_broker_silent(live_broker, now_ms)):
        return []
    live_broker.is_silent = False
    return [HeartbeatGap(*broker_place, silent_millis=now_ms - live_broker.heard_at_ms, resumed=True)]


def _apply_topic_configs(
    tables: RouteTables,
    broker: BrokerClaim,
    registration: BrokerRegistration,
    registration_preview: RegistrationPreview | None,
    broker_group: RegisteredGroup,
    is_new: bool,
    deletes_missing: bool,
) -> list[Event]:
    """Apply the topics of a master, or without a master those of the slave with the smallest id."""
    if registration.topic_configs is None:
        return []
    is_prime_slave = (
        broker.enable_acting_master is not None
        and broker.broker_id != MASTER_BROKER_ID
        and broker.broker_id == min(broker_group.broker_addrs)
    )
    if broker.broker_id != MASTER_BROKER_ID and not is_prime_slave:
        return []
    if registration_preview is not None and not registration_preview.is_current(tables, broker.broker_name):
        registration_preview = None
    dropped_changes: list[TopicChange | None] = []
    if deletes_missing and not registration.queue_mappings:
        missing_topics = [
            topic
            for topic in tables.topics_of_broker(broker.broker_name)
            if topic not in registration.topic_configs
        ]
        dropped_changes += [tables.drop_queue(topic, broker.broker_name) for topic in missing_topics]
    live_broker = tables.live_brokers.get((broker.cluster_name, broker.broker_addr))
    is_changed = (
        is_new
        or live_broker is None
        or live_broker.data_version is None
        or live_broker.data_version != registration.data_version
    )
    is_read_only = is_prime_slave and broker_group.enable_acting_master
    if registration_preview is not None and not is_read_only:
        put_changes = registration_preview.apply_to_tables(tables, new_only=not is_changed)
    else:
        put_changes = group_topic_changes(
            _set_topic_queues(
                tables, broker.broker_name, registration.topic_configs.values(), is_changed, is_read_only
            )
        )
    topic_changes = group_topic_changes(dropped_changes) + put_changes
    events: list[Event] = []
    if is_changed:
        events += _apply_queue_mappings(
            tables, broker.broker_name, registration.queue_mappings, topic_changes
        )
    if topic_changes:
        tables.generation += 1
        events.insert(0, TopicsChanged(broker.broker_name, "registration", topic_changes))
    return events


def _apply_queue_mappings(
    tables: RouteTables,
    broker_name: str,
    queue_mappings: Mapping[str, MappingInfo | None],
    topic_changes: Iterable[TopicChanges],
) -> list[Event]:
    """Store the mappings of a new data version. A topic added or removed without one loses its old one."""
    mapping_changes: list[MappingChange | None] = []
    for change_group in topic_changes if tables.queue_mappings else ():
        if change_group.before is None or change_group.after is None:
            mapping_changes += [
                tables.drop_mapping(topic, broker_name)
                for topic in change_group.topics
                if topic not in queue_mappings
            ]
    for topic, mapping_info in queue_mappings.items():
        assert mapping_info is not None
        mapping_changes.append(tables.set_mapping(topic, mapping_info))
        tables.generation += 1
    return build_mapping_events(broker_name, filter_mapping_changes(mapping_changes))


def _set_topic_queues(
    tables: RouteTables,
    broker_name: str,
    topic_configs: Iterable[RegisteredTopicConfig],
    is_changed: bool,
    is_read_only: bool,
) -> list[TopicChange | None]:
    topic_changes: list[TopicChange | None] = []
    kept_bits = ~int(Perm.WRITE) if is_read_only else -1
    shared_queues: dict[tuple[int, int, int, int], QueueData] = {}
    for topic_config in topic_configs:
        topic = topic_config.topicName
        assert topic is not None
        queue_before = tables.queues_of_topic(topic).get(broker_name)
        if queue_before is not None and not is_changed:
            continue
        queue_numbers = (
            topic_config.readQueueNums,
            topic_config.writeQueueNums,
            topic_config.perm & kept_bits,
            topic_config.topicSysFlag,
        )
        queue_data = shared_queues.get(queue_numbers)
        if queue_data is None:
            queue_data = shared_queues[queue_numbers] = tables.share_queue(
                QueueData(broker_name, *queue_numbers)
            )
        if queue_before is not queue_data:
            topic_changes.append(tables.set_queue(topic, queue_data))
    return topic_changes


def _master_address(tables: RouteTables, broker: BrokerClaim, broker_group: RegisteredGroup) -> MasterAddress:
    master_addr = broker_group.broker_addrs.get(MASTER_BROKER_ID)
    if broker.broker_id == MASTER_BROKER_ID or master_addr is None:
        return MasterAddress()
    master_broker = tables.live_brokers.get((broker.cluster_name, master_addr))
    return MasterAddress(master_addr, master_broker.ha_server_addr) if master_broker else MasterAddress()
