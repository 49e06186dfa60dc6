"""The queries on the route tables: routes of topics, cluster map and topic lists. A query changes nothing."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from namesrv_core.events import QueueData
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.bodies import MappingInfo, broker_data, mapping_json, queue_data
from namesrv_core.protocol.codes import MASTER_ID, TOPIC_SYS_FLAG_UNIT, TOPIC_SYS_FLAG_UNIT_SUB, Perm
from namesrv_core.state.tables import BrokerGroup, RouteTables

# Broker groups poll this topic for their members, so its route shows the real broker ids (TopicValidator).
_MEMBER_TOPIC_PREFIX = "rmq_sys_SYNC_BROKER_MEMBER_"

_REMEMBERED = 16_384


class Member(NamedTuple):
    """A broker group in a route. `broker_addrs` is keyed by broker id."""

    cluster: str
    name: str
    addrs: dict[int, str]
    acting_master: bool
    zone: str | None


class Route(NamedTuple):
    """The route of a topic. `filter_servers` is by broker address, `queue_mappings` by broker name."""

    members: list[Member]
    queues: list[QueueData]
    filters: dict[str, list[str | None]]
    mappings: dict[str | None, MappingInfo] | None


def route(tables: RouteTables, topic: str, acting_masters: bool = False) -> Route | None:
    """The route of a topic, or None if no known broker has queues of it.

    With `supports_acting_master` the slave with the smallest id acts for a missing master: it gets id 0 if
    the topic's queues on its group are not writable.
    """
    queues = tables.queues_of(topic)
    groups = [tables.groups[name] for name in queues if name in tables.groups]
    if not groups:
        return None
    rewrite = acting_masters and not is_of_members(topic)
    members = [_member(group, queues[group.name], rewrite) for group in groups]
    return Route(members, list(queues.values()), _filters(tables, groups), tables.mappings.get(topic))


def is_of_members(topic: str) -> bool:
    """Whether broker groups poll this topic for their members."""
    return topic.startswith(_MEMBER_TOPIC_PREFIX)


def _member(group: BrokerGroup, queue: QueueData, rewrite: bool) -> Member:
    addrs = dict(group.addrs)
    if rewrite and addrs and MASTER_ID not in addrs and group.acting_master and not queue.perm & Perm.WRITE:
        addrs[MASTER_ID] = addrs.pop(min(addrs))
    return Member(group.cluster, group.name, addrs, group.acting_master, group.zone)


def _filters(tables: RouteTables, groups: list[BrokerGroup]) -> dict[str, list[str | None]]:
    if not tables.filters:
        return {}
    found = ((addr, (group.cluster, addr)) for group in groups for addr in group.addrs.values())
    return {addr: tables.filters[key] for addr, key in found if key in tables.filters}


def in_zone(found: Route, zone: str) -> Route:
    """The part of a route for clients of one zone. It keeps groups without a master."""
    out = [
        member
        for member in found.members
        if MASTER_ID in member.addrs and (member.zone or "").lower() != zone.lower()
    ]
    names = {member.name for member in out}
    addrs = {addr for member in out for addr in member.addrs.values()}
    return Route(
        [member for member in found.members if member.name not in names],
        [queue for queue in found.queues if queue.broker_name not in names],
        {addr: servers for addr, servers in found.filters.items() if addr not in addrs},
        found.mappings,
    )


def route_body(found: Route, order_conf: str | None, standard: bool) -> bytes:
    """The body TopicRouteData."""
    mappings = found.mappings
    members = (
        _member_text(*member[:2], tuple(member.addrs.items()), *member[3:], standard)
        for member in found.members
    )
    return fastjson.dumps(
        {
            "brokerDatas": _list(members),
            "filterServerTable": found.filters,
            "orderTopicConf": order_conf,
            "queueDatas": _list(_queue_text(queue, standard) for queue in found.queues),
            "topicQueueMappingByBroker": None if mappings is None else mapping_bodies(mappings),
        },
        standard=standard,
    )


# Cache the JSON of members and queues: each broker is in thousands of routes, and has few different queues.


@lru_cache(_REMEMBERED)
def _member_text(
    cluster: str,
    name: str,
    addrs: tuple[tuple[int, str], ...],
    acting_master: bool,
    zone: str | None,
    standard: bool,
) -> str:
    return fastjson.text(broker_data(cluster, name, dict(addrs), acting_master, zone), standard)


@lru_cache(_REMEMBERED)
def _queue_text(queue: QueueData, standard: bool) -> str:
    return fastjson.text(queue_data(queue), standard)


def _list(texts: Iterable[str]) -> fastjson.Ready:
    return fastjson.Ready(f"[{','.join(texts)}]")


def mapping_bodies(mappings: dict[str | None, MappingInfo]) -> dict[str, object]:
    return {name or "null": mapping_json(info) for name, info in mappings.items()}


def cluster_body(tables: RouteTables) -> bytes:
    """The body ClusterInfo."""
    groups = tables.groups.values()
    return fastjson.dumps(
        {
            "brokerAddrTable": {
                group.name: broker_data(
                    group.cluster, group.name, group.addrs, group.acting_master, group.zone
                )
                for group in groups
            },
            "clusterAddrTable": {cluster: list(names) for cluster, names in tables.clusters.items()},
        }
    )


def member_group_body(tables: RouteTables, cluster: str | None, broker_name: str | None) -> bytes:
    """The body BrokerMemberGroup. Its cluster is the one in the request."""
    group = tables.groups.get(broker_name) if broker_name is not None else None
    members = dict(group.addrs) if group else {}
    fields = {"brokerAddrs": members, "brokerName": broker_name, "cluster": cluster}
    return fastjson.dumps({"brokerMemberGroup": fields})


def topics_of_cluster(tables: RouteTables, cluster: str | None) -> list[str]:
    """The topics with queues on a broker of the cluster."""
    names = tables.clusters.get(cluster, {}) if cluster is not None else {}
    known = tables.topics.items()
    return [topic for topic, placement in known if not names.keys().isdisjoint(placement.queues)]


def system_topics(tables: RouteTables) -> tuple[list[str], str | None]:
    """The system topics, which are named like clusters and brokers, and the address of one broker."""
    names = dict.fromkeys(
        name for cluster, brokers in tables.clusters.items() for name in (cluster, *brokers)
    )
    addrs = (addr for group in tables.groups.values() for addr in group.addrs.values())
    return list(names), next(addrs, None)


def unit_topics(tables: RouteTables) -> list[str]:
    return [topic for topic, flags in _sys_flags(tables) if flags & TOPIC_SYS_FLAG_UNIT]


def unit_sub_topics(tables: RouteTables) -> list[str]:
    return [topic for topic, flags in _sys_flags(tables) if flags & TOPIC_SYS_FLAG_UNIT_SUB]


def unit_sub_ununit_topics(tables: RouteTables) -> list[str]:
    both = TOPIC_SYS_FLAG_UNIT | TOPIC_SYS_FLAG_UNIT_SUB
    return [topic for topic, flags in _sys_flags(tables) if flags & both == TOPIC_SYS_FLAG_UNIT_SUB]


def _sys_flags(tables: RouteTables) -> Iterator[tuple[str, int]]:
    """Each topic with the sysFlag of its first broker."""
    known = tables.topics.items()
    return ((topic, next(iter(placement.queues.values())).topic_sys_flag) for topic, placement in known)
