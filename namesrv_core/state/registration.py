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
    alike,
)
from namesrv_core.protocol.codes import MASTER_ID, Perm
from namesrv_core.protocol.registration import Registration, TopicConfig
from namesrv_core.state.foreseen import Foreseen
from namesrv_core.state.tables import Broker, BrokerGroup, LiveBroker, LiveKey, RouteTables, changes

DEFAULT_TIMEOUT = 120_000
"""A broker expires after this time without a sign of life (ms), unless it registers another timeout."""


class Master(NamedTuple):
    """The answer to a registration: the address of the group's master, for slaves."""

    addr: str | None = None
    ha_addr: str | None = None


def register(
    tables: RouteTables,
    broker: Broker,
    registration: Registration,
    *,
    channel: int,
    now: int,
    delete_missing_topics: bool = False,
    foreseen: Foreseen | None = None,
) -> tuple[Master, list[Event]]:
    """Apply a registration. Raises RequestError, without a change, if it cannot be applied completely.

    `registration_preview` is the precomputed change of topics, if there is one.
    """
    if foreseen is None:
        _check_topics(registration)
    _check_mappings(registration)
    key = (broker.cluster_name, broker.broker_addr)
    group = tables.groups.get(broker.broker_name)
    known = group.addrs if group else {}
    replaced = known.get(broker.broker_id)
    outdated = _is_outdated(tables, broker, registration, replaced)
    if replaced is None and registration.topics is not None and len(registration.topics) == 1:
        # A new broker registers all its topics. A single one is an update of a broker that is not registered.
        raise RequestError("register broker failed")

    previous = tables.live.get(key)
    events = _conflict(tables, broker, replaced, now) + gap(broker[:4], previous, now)
    before = _told(tables, broker, group)
    tables.clusters.setdefault(broker.cluster_name, {})[broker.broker_name] = None
    if group is None:
        group = tables.groups[broker.broker_name] = BrokerGroup(broker.cluster_name, broker.broker_name)
    placed = (dict(group.addrs), group.acting_master, group.zone)
    group.acting_master = broker.acting_master is True
    group.zone = broker.zone
    min_id_falls = broker.broker_id < min(group.addrs, default=0)
    for other in [i for i, addr in group.addrs.items() if addr == broker.broker_addr]:
        if other != broker.broker_id:
            del group.addrs[other]
    if outdated:
        tables.live.pop(key, None)
        tables.filters.pop(key, None)
        tables.generation += 1
        reason = f"{replaced} has a higher stateVersion"
        refused = RegistrationRefused(
            *broker[:4], reason, enable_acting_master=group.acting_master, zone_name=group.zone
        )
        return Master(), [*events, refused]
    group.addrs[broker.broker_id] = broker.broker_addr

    applied = _apply_topics(
        tables, broker, registration, foreseen, group, not replaced, delete_missing_topics
    )
    timeout = DEFAULT_TIMEOUT if broker.timeout is None else broker.timeout
    former = previous.former_channels | {previous.channel} if previous else frozenset()
    tables.live[key] = LiveBroker(
        now, timeout, registration.version, channel, broker.ha_addr, former - {channel}
    )
    if registration.filters is not None and registration.filters != tables.filters.get(key, []):
        tables.generation += 1
        if registration.filters:
            tables.filters[key] = registration.filters
        else:
            del tables.filters[key]
    if placed != (group.addrs, group.acting_master, group.zone):
        tables.generation += 1
    if replaced != broker.broker_addr or before != _told(tables, broker, group):
        events.append(_seen(tables, broker, registration, group, replaced))
    events += applied
    if min_id_falls:
        events.append(_min_id_changed(group, None, broker.ha_addr))
    return _master_of(tables, broker, group), events


def repeat(
    tables: RouteTables, broker: Broker, live: LiveBroker, *, channel: int, now: int
) -> tuple[Master, list[Event]]:
    """Apply a registration again that equals the last one. The tables are unchanged: it is a sign of life."""
    events = gap(broker[:4], live, now)
    former = live.former_channels | {live.channel}
    live.heard_at, live.channel, live.former_channels = now, channel, former - {channel}
    return _master_of(tables, broker, tables.groups[broker.broker_name]), events


def _check_topics(registration: Registration) -> None:
    for key, config in (registration.topics or {}).items():
        if config.topicName is None:
            raise BadRequest(f"the config of topic {key} has no topicName, nothing was registered")


def _check_mappings(registration: Registration) -> None:
    for key, info in registration.mappings.items():
        if info is None:
            raise BadRequest(f"the queue mapping of topic {key} is null, nothing was registered")


def _is_outdated(
    tables: RouteTables, broker: Broker, registration: Registration, replaced: str | None
) -> bool:
    """Whether another address has this broker's place with a higher stateVersion (a newer master epoch)."""
    if replaced is None or replaced == broker.broker_addr:
        return False
    holder = tables.live.get((broker.cluster_name, replaced))
    if holder is None or holder.version is None:
        return False
    return holder.version.state_version > (registration.version.state_version if registration.version else 0)


def _conflict(tables: RouteTables, broker: Broker, holder: str | None, now: int) -> list[Event]:
    """Report two addresses for one place, or two names at one address, when the second one registers."""
    if holder == broker.broker_addr:
        return []
    holders = [(broker.broker_name, holder)] if holder is not None else []
    key = (broker.cluster_name, broker.broker_addr)
    holders += [
        (group.name, key[1]) for group, _ in tables.members_at(key) if group.name != broker.broker_name
    ]
    return [
        AddressConflict(*broker[:4], name, addr, _silence(tables, (broker.cluster_name, addr), now))
        for name, addr in holders
    ]


def _silence(tables: RouteTables, key: LiveKey, now: int) -> int | None:
    """Milliseconds since the address gave a sign of life, or None if it never did."""
    live = tables.live.get(key)
    return None if live is None else now - live.heard_at


def is_silent(live: LiveBroker, now: int) -> bool:
    """Whether three quarters of the broker's timeout have passed without a sign of life."""
    return (now - live.heard_at) * 4 > live.timeout * 3


def gap(place: tuple[str, str, int, str], live: LiveBroker | None, now: int) -> list[Event]:
    """Report the end of a silence: the broker gives a sign of life after too long a time."""
    if live is None or not (live.is_silent or is_silent(live, now)):
        return []
    live.is_silent = False
    return [HeartbeatGap(*place, silent_millis=now - live.heard_at, resumed=True)]


def _told(tables: RouteTables, broker: Broker, group: BrokerGroup | None) -> tuple[object, ...]:
    """Everything that a registration can change except topics, for a comparison."""
    listed = broker.broker_name in tables.clusters.get(broker.cluster_name, ())
    if group is None:
        return (listed,)
    info = broker_info(tables, (broker.cluster_name, broker.broker_addr))
    return listed, dict(group.addrs), group.acting_master, group.zone, info


def broker_info(tables: RouteTables, key: LiveKey) -> BrokerInfo | None:
    """The stored information about the broker at an address of a cluster."""
    live = tables.live.get(key)
    if live is None:
        return None
    return BrokerInfo(live.ha_addr, live.timeout, live.version, tuple(tables.filters.get(key, ())))


def _seen(
    tables: RouteTables, broker: Broker, registration: Registration, group: BrokerGroup, replaced: str | None
) -> Event:
    topics = len(registration.topics or ())
    info = broker_info(tables, (broker.cluster_name, broker.broker_addr))
    assert info is not None
    if replaced != broker.broker_addr:
        return BrokerRegistered(*broker[:4], topics, replaced, group.acting_master, group.zone, info)
    return BrokerChanged(*broker[:4], topics, group.acting_master, group.zone, info)


def _apply_topics(
    tables: RouteTables,
    broker: Broker,
    registration: Registration,
    foreseen: Foreseen | None,
    group: BrokerGroup,
    first: bool,
    delete_missing: bool,
) -> list[Event]:
    """Apply the topics of a master, or without a master those of the slave with the smallest id."""
    if registration.topics is None:
        return []
    is_prime_slave = (
        broker.acting_master is not None
        and broker.broker_id != MASTER_ID
        and broker.broker_id == min(group.addrs)
    )
    if broker.broker_id != MASTER_ID and not is_prime_slave:
        return []
    if foreseen is not None and not foreseen.holds(tables, broker.broker_name):
        foreseen = None
    dropped: list[TopicChange | None] = []
    if delete_missing and not registration.mappings:
        gone = [topic for topic in tables.topics_of(broker.broker_name) if topic not in registration.topics]
        dropped += [tables.drop_queue(topic, broker.broker_name) for topic in gone]
    live = tables.live.get((broker.cluster_name, broker.broker_addr))
    changed = first or live is None or live.version is None or live.version != registration.version
    read_only = is_prime_slave and group.acting_master
    if foreseen is not None and not read_only:
        put = foreseen.apply(tables, new_only=not changed)
    else:
        put = alike(_set_topics(tables, broker.broker_name, registration.topics.values(), changed, read_only))
    altered = alike(dropped) + put
    events: list[Event] = []
    if changed:
        events += _set_mappings(tables, broker.broker_name, registration.mappings, altered)
    if altered:
        tables.generation += 1
        events.insert(0, TopicsChanged(broker.broker_name, "registration", altered))
    return events


def _set_mappings(
    tables: RouteTables,
    broker_name: str,
    mappings: Mapping[str, MappingInfo | None],
    altered: Iterable[TopicChanges],
) -> list[Event]:
    """Store the mappings of a new data version. A topic added or removed without one loses its old one."""
    found: list[MappingChange | None] = []
    for group in altered if tables.mappings else ():
        if group.before is None or group.after is None:
            found += [
                tables.drop_mapping(topic, broker_name) for topic in group.topics if topic not in mappings
            ]
    for topic, info in mappings.items():
        assert info is not None
        found.append(tables.set_mapping(topic, info))
        tables.generation += 1
    return _mapped(broker_name, changes(found))


def _mapped(broker_name: str, found: tuple[MappingChange, ...]) -> list[Event]:
    return [MappingsChanged(broker_name, found)] if found else []


def _set_topics(
    tables: RouteTables, broker_name: str, configs: Iterable[TopicConfig], changed: bool, read_only: bool
) -> list[TopicChange | None]:
    found: list[TopicChange | None] = []
    keep = ~int(Perm.WRITE) if read_only else -1
    queues: dict[tuple[int, int, int, int], QueueData] = {}
    for config in configs:
        topic = config.topicName
        assert topic is not None
        before = tables.queues_of(topic).get(broker_name)
        if before is not None and not changed:
            continue
        numbers = (config.readQueueNums, config.writeQueueNums, config.perm & keep, config.topicSysFlag)
        queue = queues.get(numbers)
        if queue is None:
            queue = queues[numbers] = tables.shared(QueueData(broker_name, *numbers))
        if before is not queue:
            found.append(tables.set_queue(topic, queue))
    return found


def _master_of(tables: RouteTables, broker: Broker, group: BrokerGroup) -> Master:
    addr = group.addrs.get(MASTER_ID)
    if broker.broker_id == MASTER_ID or addr is None:
        return Master()
    live = tables.live.get((broker.cluster_name, addr))
    return Master(addr, live.ha_addr) if live else Master()


class Unregistration(NamedTuple):
    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str


def is_stale(tables: RouteTables, leaving: Unregistration, channel: int) -> bool:
    """Whether an unregistration arrives on a channel that the broker has left for a newer one.

    The previous process of the broker sent it, and the next process has already registered.
    """
    live = tables.live.get((leaving.cluster_name, leaving.broker_addr))
    return live is not None and channel in live.former_channels


def unregister(tables: RouteTables, leaving: Iterable[Unregistration], reason: str) -> list[Event]:
    """Unregister brokers by their addresses. Their topics are cleaned in one pass."""
    events: list[Event] = []
    removed: set[str] = set()
    reduced: set[str] = set()
    notices: list[Event] = []
    mapped: list[Event] = []
    for broker in leaving:
        key = (broker.cluster_name, broker.broker_addr)
        live = tables.live.pop(key, None)
        tables.filters.pop(key, None)
        group = tables.groups.get(broker.broker_name)
        ids = [i for i, addr in group.addrs.items() if addr == broker.broker_addr] if group else []
        if live is not None and not ids:
            events.append(AddressForgotten(*key, reason=reason))
        if group is None:
            continue
        min_id_goes = bool(group.addrs) and broker.broker_id == min(group.addrs)
        for broker_id in ids:
            del group.addrs[broker_id]
            channel = live.channel if live else None
            events.append(BrokerUnregistered(*key_of(group, broker_id, key), reason=reason, channel=channel))
        if not group.addrs:
            mapped += _mapped(group.name, tables.drop_group(group.name))
            removed.add(group.name)
            continue
        reduced.add(group.name)
        if min_id_goes and group.acting_master:
            notices.append(_min_id_changed(group, broker.broker_addr, None))
    tables.generation += 1
    return events + _clean_topics(tables, removed, reduced - removed) + mapped + notices


def key_of(group: BrokerGroup, broker_id: int, key: LiveKey) -> tuple[str, str, int, str]:
    return key[0], group.name, broker_id, key[1]


def _clean_topics(tables: RouteTables, removed: set[str], reduced: set[str]) -> list[Event]:
    """Remove the queues of removed groups, and make those of groups that lost their master read-only."""
    headless = {
        name
        for name in reduced
        if tables.groups[name].acting_master and min(tables.groups[name].addrs) > MASTER_ID
    }
    gone = [(name, tables.change_all(name, lambda queue: None)) for name in sorted(removed)]
    read_only = [(name, tables.change_all(name, _read_only)) for name in sorted(headless)]
    return [TopicsChanged(name, "unregistration", altered) for name, altered in gone + read_only if altered]


def _read_only(queue: QueueData) -> QueueData:
    return queue._replace(perm=queue.perm & ~int(Perm.WRITE))


def _min_id_changed(group: BrokerGroup, offline_addr: str | None, ha_addr: str | None) -> MinBrokerIdChanged:
    """The event for a new smallest broker id. Its recipients are the remaining members of the group.

    If a registration lowered the id, the registering broker is no recipient, unless it is alone.
    """
    smallest = min(group.addrs)
    others = [addr for broker_id, addr in group.addrs.items() if broker_id != smallest]
    everybody = list(group.addrs.values())
    recipients = everybody if offline_addr is not None or not others else others
    return MinBrokerIdChanged(
        group.name, smallest, group.addrs[smallest], offline_addr, ha_addr, tuple(recipients)
    )
