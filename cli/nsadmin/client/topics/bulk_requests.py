"""Records of bulk changes, the requests that are built from them, and the parsers of their answers."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import QueryNotFound, TopicNotExist
from namesrv_core.protocol import broker_headers, fastjson, headers
from namesrv_core.protocol.codes import V5_0_0, RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_json_object, parse_text_table
from nsadmin.client.message_queues import parse_queue_table
from nsadmin.client.results import NotApplied, ServerResult
from nsadmin.client.topic_routes import parse_route
from nsadmin.client.topics.queue_mappings import BrokerQueueShare, parse_share
from nsadmin.client.topics.topic_configs import DEFAULT_TOPIC
from nsadmin.client.wire_configs import WireConfig as WireConfig
from nsadmin.client.wire_configs import read_configs

"""A TopicConfig or SubscriptionGroupConfig: wire name to value."""


KvValuesByNamespace = Mapping[str, Mapping[str, str]]
"""The KV config: namespace to key to value."""


PermissionsByTopic = Mapping[str, Mapping[str, int]]
"""Topic to broker name to permission bits: 4 read, 2 write, 1 inherit."""


class BrokerTopicTable(NamedTuple):
    """The topics of a broker.

    Attributes:
        configs_by_topic: Topic to configuration, in the order of names.
        static_topics: The names of the static topics.
        queue_shares: Static topic to the broker's share, without topics that have no configuration.
    """

    configs_by_topic: Mapping[str, WireConfig]
    static_topics: frozenset[str]
    queue_shares: Mapping[str, BrokerQueueShare]


class DesiredConfig(NamedTuple):
    """The desired state of a topic or group.

    Attributes:
        wire_config: The complete configuration, by wire name.
        attribute_changes: Changes of attributes: "+key" to the new value, "-key" to anything.
    """

    wire_config: WireConfig
    attribute_changes: Mapping[str, str]


class KvValue(NamedTuple):
    """A change of the KV config: the new value of a key; None deletes the key."""

    namespace: str
    key: str
    value: str | None


class QueueClosure(NamedTuple):
    """A topic and the brokers that no longer have it.

    Attributes:
        topic: The topic.
        broker_names: The brokers whose queues to close in routes.
    """

    topic: str
    broker_names: tuple[str, ...]


def build_topics_request(desired_configs: Sequence[DesiredConfig]) -> RemotingCommand:
    """Build the request that creates or replaces topics on a broker."""
    if len(desired_configs) > 1:
        wire_configs = [{**c.wire_config, "attributes": dict(c.attribute_changes)} for c in desired_configs]
        request_body = fastjson.encode_json({"topicConfigList": wire_configs})
        return make_request(RequestCode.UPDATE_AND_CREATE_TOPIC_LIST, None, request_body)
    [(wire_config, attribute_changes)] = desired_configs
    topic_header = broker_headers.CreateTopic(
        topic=wire_config["topicName"],
        default_topic=DEFAULT_TOPIC,
        read_queue_nums=wire_config["readQueueNums"],
        write_queue_nums=wire_config["writeQueueNums"],
        perm=wire_config["perm"],
        topic_filter_type=wire_config["topicFilterType"],
        topic_sys_flag=wire_config["topicSysFlag"],
        order=wire_config["order"],
        attributes=",".join(_format_attribute(key, v) for key, v in attribute_changes.items()) or None,
    )
    return make_request(RequestCode.UPDATE_AND_CREATE_TOPIC, topic_header)


def _format_attribute(attribute_key: str, attribute_value: str) -> str:
    return f"{attribute_key}={attribute_value}" if attribute_key.startswith("+") else attribute_key


def build_groups_request(desired_configs: Sequence[DesiredConfig]) -> RemotingCommand:
    """Build the request that creates or replaces groups on a broker."""
    wire_configs = [{**c.wire_config, "attributes": dict(c.attribute_changes)} for c in desired_configs]
    if len(wire_configs) > 1:
        request_body = fastjson.encode_json({"groupConfigList": wire_configs})
        return make_request(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST, None, request_body)
    return make_request(
        RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, None, fastjson.encode_json(wire_configs[0])
    )


def build_value_request(kv_value: KvValue) -> RemotingCommand:
    """Build PUT_KV_CONFIG (100), or DELETE_KV_CONFIG (102) for the value None."""
    if kv_value.value is None:
        key_fields = headers.KvKey(kv_value.namespace, kv_value.key)
        return make_request(RequestCode.DELETE_KV_CONFIG, key_fields)
    return make_request(RequestCode.PUT_KV_CONFIG, headers.PutKvConfig(*kv_value))


def parse_topic_table(response: RemotingCommand) -> BrokerTopicTable:
    """Parse the answer to GET_ALL_TOPIC_CONFIG (21)."""
    json_body = parse_json_object(response)
    table = json_body.child("topicConfigTable")
    mapping_table = json_body.child("topicQueueMappingDetailMap").members
    queue_shares = {
        topic: parse_share({**table.child(topic).members, "mappingDetail": mapping_detail})
        for topic, mapping_detail in sorted(mapping_table.items())
        if topic in table
    }
    return BrokerTopicTable(dict(sorted(read_configs(table).items())), frozenset(mapping_table), queue_shares)


def parse_group_table(response: RemotingCommand) -> dict[str, WireConfig]:
    """Parse the answer to GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201)."""
    group_configs = read_configs(parse_json_object(response).child("subscriptionGroupTable"))
    return dict(sorted(group_configs.items()))


def combine_namespaces(
    namesrv_addr: str, answers: Mapping[str, ServerResult[RemotingCommand]]
) -> ServerResult[KvValuesByNamespace]:
    """Combine the namespaces of one name server. Any error other than "not found" is the overall error."""
    results_by_namespace = {namespace: decode_answer(a, parse_text_table) for namespace, a in answers.items()}
    errors = [r.error for r in results_by_namespace.values() if not isinstance(r.error, QueryNotFound)]
    error = next(filter(None, errors), None)
    values_by_namespace = {n: table_result.result or {} for n, table_result in results_by_namespace.items()}
    return ServerResult(namesrv_addr, None if error else values_by_namespace, error)


def combine_permissions(
    namesrv_addr: str, answers: Mapping[str, ServerResult[RemotingCommand]]
) -> ServerResult[PermissionsByTopic]:
    """Combine the routes of topics on one name server."""
    results_by_topic = {topic: decode_answer(answer, parse_route) for topic, answer in answers.items()}
    errors = [r.error for r in results_by_topic.values() if not isinstance(r.error, TopicNotExist)]
    error = next(filter(None, errors), None)
    permissions_by_topic = {
        topic: {queue_route.broker_name: queue_route.perm or 0 for queue_route in route_result.result.queues}
        if route_result.result
        else {}
        for topic, route_result in results_by_topic.items()
    }
    return ServerResult(namesrv_addr, None if error else permissions_by_topic, error)


def require_version_5(response: RemotingCommand) -> RemotingCommand:
    """Check by its answer that a name server is of 5.0 or later."""
    if response.version < V5_0_0:
        raise NotApplied("a name server before 5.0 continues to send clients there until the broker restarts")
    return response


def build_closure_request(closure: QueueClosure) -> RemotingCommand:
    """Build REGISTER_TOPIC_IN_NAMESRV (217) without queues and permission for the brokers of a closure."""
    closed_queue = {"readQueueNums": 0, "writeQueueNums": 0, "perm": 0, "topicSysFlag": 0}
    request_body = fastjson.encode_json(
        {"queueDatas": [{"brokerName": broker_name, **closed_queue} for broker_name in closure.broker_names]}
    )
    ext_fields = headers.TopicName(closure.topic)
    return make_request(RequestCode.REGISTER_TOPIC_IN_NAMESRV, ext_fields, request_body)


class QueueBounds(NamedTuple):
    """The oldest offset of a queue, and the offset of its next message."""

    min_offset: int
    max_offset: int


def parse_queue_bounds(response: RemotingCommand) -> dict[int, QueueBounds]:
    """Parse the answer to GET_TOPIC_STATS_INFO (202)."""
    offset_table = parse_queue_table(parse_json_object(response).members.get("offsetTable"), JsonObject)
    return {
        queue.queue_id: QueueBounds(offsets.integer("minOffset"), offsets.integer("maxOffset"))
        for queue, offsets in offset_table.items()
    }


def parse_rate(response: RemotingCommand) -> float:
    """Parse the answer to VIEW_BROKER_STATS_DATA (315)."""
    json_body = parse_json_object(response)
    span_rates = (json_body.child(f"stats{name}").number("tps", 0.0) for name in ("Day", "Hour", "Minute"))
    return next(filter(None, span_rates), 0.0)
