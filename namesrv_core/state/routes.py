"""Routes of topics, the cluster map, broker groups and system topics, as the tables have them."""

import sys
from collections.abc import Iterable
from typing import NamedTuple

from namesrv_core.events import QueueData
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.bounded_cache import BoundedCache
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from namesrv_core.protocol.json_bodies import (
    MappingInfo,
    broker_data_json,
    mapping_info_json,
    queue_data_json,
)
from namesrv_core.state import acting_master
from namesrv_core.state.broker_tables import RegisteredGroup
from namesrv_core.state.list_cache import BodySteps
from namesrv_core.state.route_tables import RouteTables

# Broker groups poll this topic for their members, so its route shows the real broker ids (TopicValidator).
_MEMBER_TOPIC_PREFIX = "rmq_sys_SYNC_BROKER_MEMBER_"

# Cache the JSON of members and queues: each broker is in thousands of routes, and has few different queues.
# 8 MiB are about 10,000 members or queues. The names come from peers.
_MAX_CACHE_BYTES = 8 * 1024 * 1024
_ENTRY_BYTES, _ADDR_BYTES = 400, 200
_GROUPS_PER_STEP = 64


class RouteMember(NamedTuple):
    """A broker group in a route. `broker_addrs` is keyed by broker id."""

    cluster_name: str
    broker_name: str
    broker_addrs: dict[int, str]
    enable_acting_master: bool
    zone_name: str | None


class RegisteredRoute(NamedTuple):
    """The route of a topic. `filter_servers` is by broker address, `queue_mappings` by broker name."""

    route_members: list[RouteMember]
    queue_datas: list[QueueData]
    filter_servers: dict[str, list[str | None]]
    queue_mappings: dict[str | None, MappingInfo] | None


def find_route(
    tables: RouteTables, topic: str, supports_acting_master: bool = False
) -> RegisteredRoute | None:
    """The route of a topic, or None if no known broker has queues of it.

    With `supports_acting_master` a slave acts for a missing master (see `acting_master`).
    """
    queues = tables.queues_of_topic(topic)
    groups = [tables.broker_groups[name] for name in queues if name in tables.broker_groups]
    if not groups:
        return None
    rewrites_master = supports_acting_master and not is_member_topic(topic)
    members = [_build_route_member(group, queues[group.broker_name], rewrites_master) for group in groups]
    return RegisteredRoute(
        members, list(queues.values()), _filter_servers_of(tables, groups), tables.queue_mappings.get(topic)
    )


def is_member_topic(topic: str) -> bool:
    """Whether broker groups poll this topic for their members."""
    return topic.startswith(_MEMBER_TOPIC_PREFIX)


def _build_route_member(group: RegisteredGroup, queue: QueueData, rewrites_master: bool) -> RouteMember:
    addrs = acting_master.route_addrs(group, queue) if rewrites_master else dict(group.broker_addrs)
    return RouteMember(
        group.cluster_name, group.broker_name, addrs, group.enable_acting_master, group.zone_name
    )


def _filter_servers_of(
    tables: RouteTables, broker_groups: list[RegisteredGroup]
) -> dict[str, list[str | None]]:
    if not tables.filter_servers:
        return {}
    addrs_and_keys = ((a, (g.cluster_name, a)) for g in broker_groups for a in g.broker_addrs.values())
    return {addr: tables.filter_servers[key] for addr, key in addrs_and_keys if key in tables.filter_servers}


def cut_to_zone(route: RegisteredRoute, zone_name: str) -> RegisteredRoute:
    """The part of a route for clients of one zone. It keeps groups without a master."""
    excluded = [
        member
        for member in route.route_members
        if MASTER_BROKER_ID in member.broker_addrs and (member.zone_name or "").lower() != zone_name.lower()
    ]
    excluded_names = {member.broker_name for member in excluded}
    excluded_addrs = {addr for member in excluded for addr in member.broker_addrs.values()}
    return RegisteredRoute(
        [member for member in route.route_members if member.broker_name not in excluded_names],
        [queue for queue in route.queue_datas if queue.broker_name not in excluded_names],
        {addr: servers for addr, servers in route.filter_servers.items() if addr not in excluded_addrs},
        route.queue_mappings,
    )


def encode_route_body(route: RegisteredRoute, order_conf: str | None, is_standard: bool) -> bytes:
    mappings = route.queue_mappings
    texts = (_encode_member(member, is_standard) for member in route.route_members)
    return fastjson.encode_json(
        {
            "brokerDatas": _join_encoded_list(texts),
            "filterServerTable": route.filter_servers,
            "orderTopicConf": order_conf,
            "queueDatas": _join_encoded_list(map(_encode_queue, route.queue_datas)),
            "topicQueueMappingByBroker": None if mappings is None else mapping_infos_json(mappings),
        },
        is_standard=is_standard,
    )


_member_texts: BoundedCache[tuple[object, ...], str] = BoundedCache(_MAX_CACHE_BYTES)
_queue_texts: BoundedCache[QueueData, str] = BoundedCache(_MAX_CACHE_BYTES)


def _encode_member(member: RouteMember, is_standard: bool) -> str:
    cluster_name, broker_name, addrs, enable_acting_master, zone_name = member
    items = tuple(addrs.items())
    member_key = (cluster_name, broker_name, items, enable_acting_master, zone_name, is_standard)
    text = _member_texts.get(member_key)
    if text is None:
        text = fastjson.encode_json_text(broker_data_json(*member), is_standard)
        # The key has the same names as the text.
        size = 2 * sys.getsizeof(text) + _ADDR_BYTES * len(items) + _ENTRY_BYTES
        _member_texts.put(member_key, text, size)
    return text


def _encode_queue(queue: QueueData) -> str:
    text = _queue_texts.get(queue)
    if text is None:
        # Its numbers are ints of Java, which are the same in both dialects.
        text = fastjson.encode_json_text(queue_data_json(queue))
        size = 2 * sys.getsizeof(text) + _ENTRY_BYTES
        _queue_texts.put(queue, text, size)
    return text


def _join_encoded_list(texts: Iterable[str]) -> fastjson.EncodedJson:
    return fastjson.EncodedJson(f"[{','.join(texts)}]")


def mapping_infos_json(mappings: dict[str | None, MappingInfo]) -> dict[str, object]:
    return {"null" if n is None else n: mapping_info_json(m) for n, m in mappings.items()}


def encode_cluster_body_in_steps(tables: RouteTables) -> BodySteps:
    """The body ClusterInfo. Only the last step returns it; earlier steps encode the groups."""
    for group_index, group in enumerate(list(tables.broker_groups.values())):
        if group_index % _GROUPS_PER_STEP == 0:
            yield
        _encode_group(group)
    return encode_cluster_body(tables)


def encode_cluster_body(tables: RouteTables) -> bytes:
    return fastjson.encode_json(
        {
            "brokerAddrTable": {g.broker_name: _encode_group(g) for g in tables.broker_groups.values()},
            "clusterAddrTable": {name: list(names) for name, names in tables.broker_names_by_cluster.items()},
        }
    )


def _encode_group(group: RegisteredGroup) -> fastjson.EncodedJson:
    member = RouteMember(
        group.cluster_name, group.broker_name, group.broker_addrs, group.enable_acting_master, group.zone_name
    )
    return fastjson.EncodedJson(_encode_member(member, False))


def encode_member_group_body(tables: RouteTables, cluster_name: str | None, broker_name: str | None) -> bytes:
    """The body BrokerMemberGroup. Its cluster is the one in the request."""
    group = tables.broker_groups.get(broker_name) if broker_name is not None else None
    addrs = dict(group.broker_addrs) if group else {}
    fields = {"brokerAddrs": addrs, "brokerName": broker_name, "cluster": cluster_name}
    return fastjson.encode_json({"brokerMemberGroup": fields})


def system_topics(tables: RouteTables) -> tuple[list[str], str | None]:
    """The system topics, which are named like clusters and brokers, and the address of one broker."""
    topics = dict.fromkeys(
        topic_name for name, names in tables.broker_names_by_cluster.items() for topic_name in (name, *names)
    )
    addrs = (addr for group in tables.broker_groups.values() for addr in group.broker_addrs.values())
    return list(topics), next(addrs, None)
