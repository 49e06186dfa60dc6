"""The queries on the route tables: routes of topics, cluster map and topic lists. A query changes nothing."""

import sys
from collections.abc import Iterable
from typing import NamedTuple

from namesrv_core.events import QueueData
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.bounded_cache import BoundedCache
from namesrv_core.protocol.codes import MASTER_BROKER_ID, Perm
from namesrv_core.protocol.json_bodies import (
    MappingInfo,
    broker_data_json,
    mapping_info_json,
    queue_data_json,
)
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

    With `supports_acting_master` the slave with the smallest id acts for a missing master: it gets id 0 if
    the topic's queues on its group are not writable.
    """
    queues_by_broker = tables.queues_of_topic(topic)
    broker_groups = [
        tables.broker_groups[broker_name]
        for broker_name in queues_by_broker
        if broker_name in tables.broker_groups
    ]
    if not broker_groups:
        return None
    rewrites_master = supports_acting_master and not is_member_topic(topic)
    route_members = [
        _build_route_member(broker_group, queues_by_broker[broker_group.broker_name], rewrites_master)
        for broker_group in broker_groups
    ]
    return RegisteredRoute(
        route_members,
        list(queues_by_broker.values()),
        _filter_servers_of(tables, broker_groups),
        tables.queue_mappings.get(topic),
    )


def is_member_topic(topic: str) -> bool:
    """Whether broker groups poll this topic for their members."""
    return topic.startswith(_MEMBER_TOPIC_PREFIX)


def _build_route_member(
    broker_group: RegisteredGroup, queue_data: QueueData, rewrites_master: bool
) -> RouteMember:
    broker_addrs = dict(broker_group.broker_addrs)
    if (
        rewrites_master
        and broker_addrs
        and MASTER_BROKER_ID not in broker_addrs
        and broker_group.enable_acting_master
        and not queue_data.perm & Perm.WRITE
    ):
        broker_addrs[MASTER_BROKER_ID] = broker_addrs.pop(min(broker_addrs))
    return RouteMember(
        broker_group.cluster_name,
        broker_group.broker_name,
        broker_addrs,
        broker_group.enable_acting_master,
        broker_group.zone_name,
    )


def _filter_servers_of(
    tables: RouteTables, broker_groups: list[RegisteredGroup]
) -> dict[str, list[str | None]]:
    if not tables.filter_servers:
        return {}
    addrs_and_keys = (
        (broker_addr, (broker_group.cluster_name, broker_addr))
        for broker_group in broker_groups
        for broker_addr in broker_group.broker_addrs.values()
    )
    return {
        broker_addr: tables.filter_servers[live_key]
        for broker_addr, live_key in addrs_and_keys
        if live_key in tables.filter_servers
    }


def cut_to_zone(topic_route: RegisteredRoute, zone_name: str) -> RegisteredRoute:
    """The part of a route for clients of one zone. It keeps groups without a master."""
    excluded_members = [
        route_member
        for route_member in topic_route.route_members
        if MASTER_BROKER_ID in route_member.broker_addrs
        and (route_member.zone_name or "").lower() != zone_name.lower()
    ]
    excluded_names = {route_member.broker_name for route_member in excluded_members}
    excluded_addrs = {
        broker_addr for route_member in excluded_members for broker_addr in route_member.broker_addrs.values()
    }
    return RegisteredRoute(
        [
            route_member
            for route_member in topic_route.route_members
            if route_member.broker_name not in excluded_names
        ],
        [
            queue_data
            for queue_data in topic_route.queue_datas
            if queue_data.broker_name not in excluded_names
        ],
        {
            broker_addr: filter_servers
            for broker_addr, filter_servers in topic_route.filter_servers.items()
            if broker_addr not in excluded_addrs
        },
        topic_route.queue_mappings,
    )


def encode_route_body(topic_route: RegisteredRoute, order_conf: str | None, is_standard: bool) -> bytes:
    """The body TopicRouteData."""
    queue_mappings = topic_route.queue_mappings
    member_texts = (_encode_member(route_member, is_standard) for route_member in topic_route.route_members)
    return fastjson.encode_json(
        {
            "brokerDatas": _join_encoded_list(member_texts),
            "filterServerTable": topic_route.filter_servers,
            "orderTopicConf": order_conf,
            "queueDatas": _join_encoded_list(
                _encode_queue(queue_data, is_standard) for queue_data in topic_route.queue_datas
            ),
            "topicQueueMappingByBroker": None
            if queue_mappings is None
            else mapping_infos_json(queue_mappings),
        },
        is_standard=is_standard,
    )


_member_texts: BoundedCache[tuple[object, ...], str] = BoundedCache(_MAX_CACHE_BYTES)
_queue_texts: BoundedCache[tuple[QueueData, bool], str] = BoundedCache(_MAX_CACHE_BYTES)


def _encode_member(route_member: RouteMember, is_standard: bool) -> str:
    cluster_name, broker_name, broker_addrs, enable_acting_master, zone_name = route_member
    addr_items = tuple(broker_addrs.items())
    member_key = (cluster_name, broker_name, addr_items, enable_acting_master, zone_name, is_standard)
    member_text = _member_texts.get(member_key)
    if member_text is None:
        member_text = fastjson.encode_json_text(broker_data_json(*route_member), is_standard)
        # The key has the same names as the text.
        entry_bytes = 2 * sys.getsizeof(member_text) + _ADDR_BYTES * len(addr_items) + _ENTRY_BYTES
        _member_texts.put(member_key, member_text, entry_bytes)
    return member_text


def _encode_queue(queue_data: QueueData, is_standard: bool) -> str:
    queue_text = _queue_texts.get((queue_data, is_standard))
    if queue_text is None:
        queue_text = fastjson.encode_json_text(queue_data_json(queue_data), is_standard)
        entry_bytes = 2 * sys.getsizeof(queue_text) + _ENTRY_BYTES
        _queue_texts.put((queue_data, is_standard), queue_text, entry_bytes)
    return queue_text


def _join_encoded_list(json_texts: Iterable[str]) -> fastjson.EncodedJson:
    return fastjson.EncodedJson(f"[{','.join(json_texts)}]")


def mapping_infos_json(queue_mappings: dict[str | None, MappingInfo]) -> dict[str, object]:
    return {
        "null" if broker_name is None else broker_name: mapping_info_json(mapping_info)
        for broker_name, mapping_info in queue_mappings.items()
    }


def encode_cluster_body_in_steps(tables: RouteTables) -> BodySteps:
    """The body ClusterInfo. Only the last step returns it; earlier steps encode the groups."""
    for group_index, broker_group in enumerate(list(tables.broker_groups.values())):
        if group_index % _GROUPS_PER_STEP == 0:
            yield
        _encode_group(broker_group)
    return encode_cluster_body(tables)


def encode_cluster_body(tables: RouteTables) -> bytes:
    """The body ClusterInfo."""
    return fastjson.encode_json(
        {
            "brokerAddrTable": {
                broker_group.broker_name: _encode_group(broker_group)
                for broker_group in tables.broker_groups.values()
            },
            "clusterAddrTable": {
                cluster_name: list(broker_names)
                for cluster_name, broker_names in tables.broker_names_by_cluster.items()
            },
        }
    )


def _encode_group(broker_group: RegisteredGroup) -> fastjson.EncodedJson:
    route_member = RouteMember(
        broker_group.cluster_name,
        broker_group.broker_name,
        broker_group.broker_addrs,
        broker_group.enable_acting_master,
        broker_group.zone_name,
    )
    return fastjson.EncodedJson(_encode_member(route_member, False))


def encode_member_group_body(tables: RouteTables, cluster_name: str | None, broker_name: str | None) -> bytes:
    """The body BrokerMemberGroup. Its cluster is the one in the request."""
    broker_group = tables.broker_groups.get(broker_name) if broker_name is not None else None
    broker_addrs = dict(broker_group.broker_addrs) if broker_group else {}
    group_fields = {"brokerAddrs": broker_addrs, "brokerName": broker_name, "cluster": cluster_name}
    return fastjson.encode_json({"brokerMemberGroup": group_fields})


def system_topics(tables: RouteTables) -> tuple[list[str], str | None]:
    """The system topics, which are named like clusters and brokers, and the address of one broker."""
    topic_names = dict.fromkeys(
        topic_name
        for cluster_name, broker_names in tables.broker_names_by_cluster.items()
        for topic_name in (cluster_name, *broker_names)
    )
    broker_addrs = (
        broker_addr
        for broker_group in tables.broker_groups.values()
        for broker_addr in broker_group.broker_addrs.values()
    )
    return list(topic_names), next(broker_addrs, None)
