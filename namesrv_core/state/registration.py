"""Registration and unregistration of brokers (`RouteInfoManager#registerBroker`, `#unRegisterBroker`).

A registration is applied completely or not at all.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from namesrv_core.errors import BadRequest, RequestError
from namesrv_core.events import (
    AddressConflict,
    AddressForgotten,
    BrokerChanged,
    BrokerInfo,
    BrokerRegistered,
    BrokerUnregistered,
    Event,
    HeartbeatGap,
    MappingChange,
    MappingInfo,
    MappingsChanged,
    MinBrokerIdChanged,
    QueueData,
    RegistrationRefused,
    TopicChange,
    TopicChanges,
    TopicsChanged,
    group_topic_changes,
)
from namesrv_core.protocol.codes import MASTER_BROKER_ID, Perm
from namesrv_core.protocol.registration_codec import BrokerRegistration, RegisteredTopicConfig
from namesrv_core.state.registration_preview import RegistrationPreview
from namesrv_core.state.route_tables import (
    BrokerClaim,
    LiveBroker,
    LiveKey,
    RegisteredGroup,
    RouteTables,
    filter_mapping_changes,
)

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
    if (
        replaced_addr is None
        and registration.topic_configs is not None
        and len(registration.topic_configs) == 1
    ):
        # A new broker registers all its topics. A single one is an update of a broker that is not registered.
        raise RequestError("register broker failed")

    previous_broker = tables.live_brokers.get(live_key)
    events = _detect_address_conflicts(tables, broker, replaced_addr, now_ms) + end_heartbeat_gap(
        broker[:4], previous_broker, now_ms
    )
    state_before = _registered_state(tables, broker, broker_group)
    tables.broker_names_by_cluster.setdefault(broker.cluster_name, {})[broker.broker_name] = None
    if broker_group is None:
        broker_group = tables.broker_groups[broker.broker_name] = RegisteredGroup(
            broker.cluster_name, broker.broker_name
        )
    group_before = (
        dict(broker_group.broker_addrs),
        broker_group.enable_acting_master,
        broker_group.zone_name,
    )
    broker_group.enable_acting_master = broker.enable_acting_master is True
    broker_group.zone_name = broker.zone_name
    min_id_falls = broker.broker_id < min(broker_group.broker_addrs, default=0)
    for other_id in [
        member_id
        for member_id, member_addr in broker_group.broker_addrs.items()
        if member_addr == broker.broker_addr
    ]:
        if other_id != broker.broker_id:
            del broker_group.broker_addrs[other_id]
    if is_outdated:
        tables.live_brokers.pop(live_key, None)
        tables.filter_servers.pop(live_key, None)
        tables.generation += 1
        refusal_reason = f"{replaced_addr} has a higher stateVersion"
        refusal_event = RegistrationRefused(
            *broker[:4],
            refusal_reason,
            enable_acting_master=broker_group.enable_acting_master,
            zone_name=broker_group.zone_name,
        )
        return MasterAddress(), [*events, refusal_event]
    broker_group.broker_addrs[broker.broker_id] = broker.broker_addr

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
    former_channel_ids = (
        previous_broker.former_channel_ids | {previous_broker.channel_id} if previous_broker else frozenset()
    )
    tables.live_brokers[live_key] = LiveBroker(
        now_ms,
        timeout_ms,
        registration.data_version,
        channel_id,
        broker.ha_server_addr,
        former_channel_ids - {channel_id},
    )
    if registration.filter_servers is not None and registration.filter_servers != tables.filter_servers.get(
        live_key, []
    ):
        tables.generation += 1
        if registration.filter_servers:
            tables.filter_servers[live_key] = registration.filter_servers
        else:
            del tables.filter_servers[live_key]
    if group_before != (broker_group.broker_addrs, broker_group.enable_acting_master, broker_group.zone_name):
        tables.generation += 1
    if replaced_addr != broker.broker_addr or state_before != _registered_state(tables, broker, broker_group):
        events.append(_build_registration_event(tables, broker, registration, broker_group, replaced_addr))
    events += topic_events
    if min_id_falls:
        events.append(_build_min_id_event(broker_group, None, broker.ha_server_addr))
    return _master_address(tables, broker, broker_group), events


def repeat_registration(
    tables: RouteTables, broker: BrokerClaim, live_broker: LiveBroker, *, channel_id: int, now_ms: int
) -> tuple[MasterAddress, list[Event]]:
    """Apply a registration again that equals the last one. The tables are unchanged: it is a sign of life."""
    events = end_heartbeat_gap(broker[:4], live_broker, now_ms)
    former_channel_ids = live_broker.former_channel_ids | {live_broker.channel_id}
    live_broker.heard_at_ms, live_broker.channel_id, live_broker.former_channel_ids = (
        now_ms,
        channel_id,
        former_channel_ids - {channel_id},
    )
    return _master_address(tables, broker, tables.broker_groups[broker.broker_name]), events


def _check_topic_names(registration: BrokerRegistration) -> None:
    for table_key, topic_config in (registration.topic_configs or {}).items():
        if topic_config.topicName is None:
            raise BadRequest(f"the config of topic {table_key} has no topicName, nothing was registered")


def _check_queue_mappings(registration: BrokerRegistration) -> None:
    for table_key, mapping_info in registration.queue_mappings.items():
        if mapping_info is None:
            raise BadRequest(f"the queue mapping of topic {table_key} is null, nothing was registered")


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
        for broker_group, _ in tables.members_at_addr(live_key)
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


def _registered_state(
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


def _build_registration_event(
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
    return _build_mapping_events(broker_name, filter_mapping_changes(mapping_changes))


def _build_mapping_events(broker_name: str, mapping_changes: tuple[MappingChange, ...]) -> list[Event]:
    return [MappingsChanged(broker_name, mapping_changes)] if mapping_changes else []


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
            mapping_events += _build_mapping_events(
                broker_group.broker_name, tables.drop_group(broker_group.broker_name)
            )
            removed_groups.add(broker_group.broker_name)
            continue
        reduced_groups.add(broker_group.broker_name)
        if min_id_goes and broker_group.enable_acting_master:
            min_id_events.append(_build_min_id_event(broker_group, leaving_broker.broker_addr, None))
    tables.generation += 1
    return (
        events
        + _clean_topic_queues(tables, removed_groups, reduced_groups - removed_groups)
        + mapping_events
        + min_id_events
    )


def place_of_broker(
    broker_group: RegisteredGroup, broker_id: int, live_key: LiveKey
) -> tuple[str, str, int, str]:
    return live_key[0], broker_group.broker_name, broker_id, live_key[1]


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


def _build_min_id_event(
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
