"""The registration of brokers and its events (`RouteInfoManager#registerBroker`, `#unRegisterBroker`).

A registration is applied completely or not at all. The changes of topics of a large one are computed in steps
before: this preview is valid only until another change of that broker's queues, which `apply_registration`
checks.
"""

from collections.abc import Generator, Iterable, Mapping
from itertools import islice
from typing import NamedTuple

from namesrv_core.errors import BadRequest, RequestError
from namesrv_core.events import (
    AddressConflict,
    BrokerChanged,
    BrokerInfo,
    BrokerRegistered,
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
    merge_topic_changes,
)
from namesrv_core.protocol.codes import MASTER_BROKER_ID, Perm
from namesrv_core.protocol.registration_codec import BrokerRegistration, RegisteredTopicConfig
from namesrv_core.state import acting_master
from namesrv_core.state.broker_tables import BrokerClaim, LiveBroker, LiveKey, RegisteredGroup
from namesrv_core.state.placements import QueuePlacement, TopicMove
from namesrv_core.state.route_tables import RouteTables, filter_mapping_changes


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


_TOPICS_PER_STEP = 512


class RegistrationPreview(NamedTuple):
    """The topics whose queues a broker will change, computed when the tables had counted `move_count` moves.

    `new_placements` has the topics without a placement, and the placement that each of them gets. The caller
    may empty both collections after applying them.
    """

    broker_name: str
    topic_moves: list[TopicMove]
    new_placements: dict[str, QueuePlacement]
    move_count: int

    def is_current(self, tables: RouteTables) -> bool:
        """Whether the broker's queues have not changed since."""
        return tables.last_move_of(self.broker_name) <= self.move_count

    def apply_to_tables(self, tables: RouteTables, *, new_only: bool) -> tuple[TopicChanges, ...]:
        """Apply the moves and return the changes. With `new_only` skip topics that the broker already has."""
        applied = [m for m in self.topic_moves if m.queue_before is None] if new_only else self.topic_moves
        if applied:
            tables.apply_moves(self.broker_name, applied, self.new_placements, self.move_count)
        return merge_topic_changes(
            TopicChanges(tuple(move.topics), move.queue_before, move.queue_after) for move in applied
        )


def preview_registration(
    tables: RouteTables, broker_name: str, configs: Mapping[str, RegisteredTopicConfig]
) -> Generator[None, None, RegistrationPreview | None]:
    """Preview in steps. Return None if a topic's name differs from its key (it may occur twice)."""
    new: dict[str, QueuePlacement] = {}
    known, move_count = tables.placements_by_topic, tables.move_count
    moves_by_change: dict[tuple[QueuePlacement | None, int, int, int, int], TopicMove] = {}
    remaining = iter(configs.items())
    for _ in range(0, len(configs), _TOPICS_PER_STEP):
        yield
        for topic, config in islice(remaining, _TOPICS_PER_STEP):
            if config.topicName != topic:
                return None
            old = known.get(topic)
            key = (old, config.readQueueNums, config.writeQueueNums, config.perm, config.topicSysFlag)
            move = moves_by_change.get(key)
            if move is None:
                move = moves_by_change[key] = _plan_move(tables, old, QueueData(broker_name, *key[1:]))
            if move.new_placement is not old:
                move.topics.append(topic)
                if old is None:
                    new[topic] = move.new_placement
    return RegistrationPreview(
        broker_name, [move for move in moves_by_change.values() if move.topics], new, move_count
    )


def _plan_move(tables: RouteTables, old: QueuePlacement | None, after: QueueData) -> TopicMove:
    before = None if old is None else old.broker_queues.get(after.broker_name)
    after = tables.share_queue(after)
    return TopicMove(old, before, after, tables.placement_successors.placement_with_queue(old, after), [])


DEFAULT_TIMEOUT_MS = 120_000
"""A broker expires after this time without a sign of life (ms), unless it registers another timeout."""


class MasterAddress(NamedTuple):
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
    _check_complete(registration, registration_preview is not None)
    key = (broker.cluster_name, broker.broker_addr)
    group = tables.broker_groups.get(broker.broker_name)
    addrs = group.broker_addrs if group else {}
    replaced = addrs.get(broker.broker_id)
    is_outdated = _has_newer_holder(tables, broker, registration, replaced)
    # A new broker registers all its topics.
    if replaced is None and registration.topic_configs is not None and len(registration.topic_configs) == 1:
        raise RequestError("register broker failed")

    previous = tables.live_brokers.get(key)
    events = _detect_address_conflicts(tables, broker, replaced, now_ms) + end_heartbeat_gap(
        broker[:4], previous, now_ms
    )
    before = registered_state(tables, broker, group)
    was_listed = broker.broker_name in tables.broker_names_by_cluster.get(broker.cluster_name, ())
    group = tables.join_group(broker.cluster_name, broker.broker_name)
    group_before = (dict(group.broker_addrs), group.enable_acting_master, group.zone_name)
    group.enable_acting_master = broker.enable_acting_master is True
    group.zone_name = broker.zone_name
    min_id_falls = broker.broker_id < min(group.broker_addrs, default=0)
    _drop_previous_ids(tables, broker, group)
    if is_outdated:
        return MasterAddress(), events + _refuse_outdated_broker(tables, broker, group, replaced)
    tables.set_member(group, broker.broker_id, key)

    topic_events = _apply_topic_configs(
        tables, broker, registration, registration_preview, group, not replaced, delete_missing_topics
    )
    timeout_ms = DEFAULT_TIMEOUT_MS if broker.timeout_ms is None else broker.timeout_ms
    tables.set_live_broker(
        key, LiveBroker(now_ms, timeout_ms, registration.data_version, channel_id, broker.ha_server_addr)
    )
    _store_filter_servers(tables, key, registration.filter_servers)
    if not was_listed or group_before != (group.broker_addrs, group.enable_acting_master, group.zone_name):
        tables.generation += 1
    if replaced != broker.broker_addr or before != registered_state(tables, broker, group):
        events.append(build_registration_event(tables, broker, registration, group, replaced))
    events += topic_events
    if min_id_falls:
        events.append(build_min_id_event(group, None, broker.ha_server_addr))
    return _master_address(tables, broker, group), events


def repeat_registration(
    tables: RouteTables, broker: BrokerClaim, live: LiveBroker, *, channel_id: int, now_ms: int
) -> tuple[MasterAddress, list[Event]]:
    """Apply a registration again that equals the last one. The tables are unchanged: it is a sign of life."""
    events = end_heartbeat_gap(broker[:4], live, now_ms)
    live.heard_at_ms = now_ms
    if channel_id != live.channel_id:
        tables.change_channel((broker.cluster_name, broker.broker_addr), live, channel_id)
    return _master_address(tables, broker, tables.broker_groups[broker.broker_name]), events


def _check_complete(registration: BrokerRegistration, has_preview: bool) -> None:
    for topic, config in () if has_preview else (registration.topic_configs or {}).items():
        if config.topicName is None:
            raise BadRequest(f"the config of topic {topic} has no topicName, nothing was registered")
    for topic, mapping in registration.queue_mappings.items():
        if mapping is None:
            raise BadRequest(f"the queue mapping of topic {topic} is null, nothing was registered")


def _has_newer_holder(
    tables: RouteTables, broker: BrokerClaim, registration: BrokerRegistration, replaced: str | None
) -> bool:
    """Whether another address has this broker's place with a higher stateVersion (a newer master epoch)."""
    if replaced is None or replaced == broker.broker_addr:
        return False
    holder = tables.live_brokers.get((broker.cluster_name, replaced))
    if holder is None or holder.data_version is None:
        return False
    return holder.data_version.state_version > (
        registration.data_version.state_version if registration.data_version else 0
    )


def _drop_previous_ids(tables: RouteTables, broker: BrokerClaim, group: RegisteredGroup) -> None:
    for member_id, addr in list(group.broker_addrs.items()):
        if addr == broker.broker_addr and member_id != broker.broker_id:
            tables.drop_member(group, member_id)


def _refuse_outdated_broker(
    tables: RouteTables, broker: BrokerClaim, group: RegisteredGroup, newer_addr: str | None
) -> list[Event]:
    """Refuse a broker whose place belongs to a newer one. The refused address is no longer alive."""
    released = release_live_broker(tables, (broker.cluster_name, broker.broker_addr))
    tables.generation += 1
    refusal = RegistrationRefused(
        *broker[:4],
        f"{newer_addr} has a higher stateVersion",
        enable_acting_master=group.enable_acting_master,
        zone_name=group.zone_name,
    )
    return [refusal, *released]


def _store_filter_servers(tables: RouteTables, key: LiveKey, filter_servers: list[str | None] | None) -> None:
    if filter_servers is None or filter_servers == tables.filter_servers.get(key, []):
        return
    tables.generation += 1
    if filter_servers:
        tables.filter_servers[key] = filter_servers
    else:
        del tables.filter_servers[key]


def _detect_address_conflicts(
    tables: RouteTables, broker: BrokerClaim, current_addr: str | None, now_ms: int
) -> list[Event]:
    """Report two addresses for one place, or two names at one address, when the second one registers."""
    if current_addr == broker.broker_addr:
        return []
    holders = [(broker.broker_name, current_addr)] if current_addr is not None else []
    key = (broker.cluster_name, broker.broker_addr)
    holders += [
        (group.broker_name, key[1])
        for group, _ in tables.reported_members(key)
        if group.broker_name != broker.broker_name
    ]
    return [
        AddressConflict(*broker[:4], name, addr, _silence_ms(tables, (broker.cluster_name, addr), now_ms))
        for name, addr in holders
    ]


def _silence_ms(tables: RouteTables, key: LiveKey, now_ms: int) -> int | None:
    """Milliseconds since the address gave a sign of life, or None if it never did."""
    live = tables.live_brokers.get(key)
    return None if live is None else now_ms - live.heard_at_ms


def is_broker_silent(live: LiveBroker, now_ms: int) -> bool:
    """Whether three quarters of the broker's timeout have passed without a sign of life."""
    return (now_ms - live.heard_at_ms) * 4 > live.timeout_ms * 3


def end_heartbeat_gap(
    broker_place: tuple[str, str, int, str], live: LiveBroker | None, now_ms: int
) -> list[Event]:
    """Report the end of a silence: the broker gives a sign of life after too long a time."""
    if live is None or not (live.is_silent or is_broker_silent(live, now_ms)):
        return []
    live.is_silent = False
    return [HeartbeatGap(*broker_place, silent_millis=now_ms - live.heard_at_ms, resumed=True)]


def _apply_topic_configs(
    tables: RouteTables,
    broker: BrokerClaim,
    registration: BrokerRegistration,
    registration_preview: RegistrationPreview | None,
    group: RegisteredGroup,
    is_new: bool,
    deletes_missing: bool,
) -> list[Event]:
    """Apply the topics of a master, or without a master those of the slave with the smallest id."""
    if registration.topic_configs is None:
        return []
    is_prime_slave = acting_master.is_smallest_slave(broker, group)
    if broker.broker_id != MASTER_BROKER_ID and not is_prime_slave:
        return []
    if registration_preview is not None and not registration_preview.is_current(tables):
        registration_preview = None
    dropped: list[TopicChange | None] = []
    if deletes_missing and not registration.queue_mappings:
        missing = [
            t for t in tables.topics_of_broker(broker.broker_name) if t not in registration.topic_configs
        ]
        dropped = [tables.drop_queue(topic, broker.broker_name) for topic in missing]
    live = tables.live_brokers.get((broker.cluster_name, broker.broker_addr))
    changed = (
        is_new or live is None or live.data_version is None or live.data_version != registration.data_version
    )
    is_read_only = is_prime_slave and group.enable_acting_master
    if registration_preview is not None and not is_read_only:
        put = registration_preview.apply_to_tables(tables, new_only=not changed)
    else:
        put = group_topic_changes(
            _set_topic_queues(
                tables, broker.broker_name, registration.topic_configs.values(), changed, is_read_only
            )
        )
    changes = group_topic_changes(dropped) + put
    events: list[Event] = []
    if changed:
        events += _apply_queue_mappings(tables, broker.broker_name, registration.queue_mappings, changes)
    if changes:
        tables.generation += 1
        events.insert(0, TopicsChanged(broker.broker_name, "registration", changes))
    return events


def _apply_queue_mappings(
    tables: RouteTables,
    broker_name: str,
    mappings: Mapping[str, MappingInfo | None],
    changes: Iterable[TopicChanges],
) -> list[Event]:
    """Store the mappings of a new data version. A topic added or removed without one loses its old one."""
    mapping_changes: list[MappingChange | None] = []
    for group in changes if tables.queue_mappings else ():
        if group.before is None or group.after is None:
            mapping_changes += [
                tables.drop_mapping(topic, broker_name) for topic in group.topics if topic not in mappings
            ]
    for topic, mapping in mappings.items():
        assert mapping is not None
        mapping_changes.append(tables.set_mapping(topic, mapping))
        tables.generation += 1
    return build_mapping_events(broker_name, filter_mapping_changes(mapping_changes))


def _set_topic_queues(
    tables: RouteTables,
    broker_name: str,
    configs: Iterable[RegisteredTopicConfig],
    changed: bool,
    is_read_only: bool,
) -> list[TopicChange | None]:
    changes: list[TopicChange | None] = []
    kept_bits = ~int(Perm.WRITE) if is_read_only else -1
    shared: dict[tuple[int, int, int, int], QueueData] = {}
    for config in configs:
        topic = config.topicName
        assert topic is not None
        before = tables.queues_of_topic(topic).get(broker_name)
        if before is not None and not changed:
            continue
        numbers = (config.readQueueNums, config.writeQueueNums, config.perm & kept_bits, config.topicSysFlag)
        queue = shared.get(numbers)
        if queue is None:
            queue = shared[numbers] = tables.share_queue(QueueData(broker_name, *numbers))
        if before is not queue:
            changes.append(tables.set_queue(topic, queue))
    return changes


def _master_address(tables: RouteTables, broker: BrokerClaim, group: RegisteredGroup) -> MasterAddress:
    master_addr = group.broker_addrs.get(MASTER_BROKER_ID)
    if broker.broker_id == MASTER_BROKER_ID or master_addr is None:
        return MasterAddress()
    master = tables.live_brokers.get((broker.cluster_name, master_addr))
    return MasterAddress(master_addr, master.ha_server_addr) if master else MasterAddress()
