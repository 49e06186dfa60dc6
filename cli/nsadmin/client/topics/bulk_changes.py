"""`admin.bulk`: reads of whole tables, and batches of many changes.

Nothing is read back here. After a batch, read the whole tables again, with one request per server.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from namesrv_core.errors import QueryNotFound, TopicNotExist
from namesrv_core.protocol import broker_headers, fastjson, headers
from namesrv_core.protocol.codes import V5_0_0, RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_request
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.read_retry import decode_answer
from nsadmin.client.connection.response_bodies import (
    list_texts,
    parse_json_object,
    parse_text_table,
    parse_topic_names,
)
from nsadmin.client.message_queues import parse_queue_table
from nsadmin.client.results import NotApplied, ServerResult
from nsadmin.client.topic_routes import parse_route, route_ext_fields
from nsadmin.client.topics.topic_configs import DEFAULT_TOPIC

READ_TIMEOUT_SECONDS, WRITE_TIMEOUT_SECONDS = 15.0, 60.0
"""Seconds for whole tables and for batches of changes, if the access has a shorter timeout."""

WireConfig = Mapping[str, Any]
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
    """

    configs_by_topic: Mapping[str, WireConfig]
    static_topics: frozenset[str]


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


class BulkAdmin:
    """`admin.bulk`: reads of whole tables, and batches of changes.

    Each method returns one ServerResult per address or per given pair, in the same order.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._read_timeout_seconds = max(READ_TIMEOUT_SECONDS, caller.access.timeout)
        self._write_timeout_seconds = max(WRITE_TIMEOUT_SECONDS, caller.access.timeout)

    def list_topics(self, broker_addrs: Iterable[str]) -> list[ServerResult[BrokerTopicTable]]:
        """Return all topics of each broker (GET_ALL_TOPIC_CONFIG, 21)."""
        answers = self._send_reads(broker_addrs, RequestCode.GET_ALL_TOPIC_CONFIG)
        return [decode_answer(answer, _parse_topic_table) for answer in answers]

    def list_groups(self, broker_addrs: Iterable[str]) -> list[ServerResult[dict[str, WireConfig]]]:
        """Return all groups of each broker (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201).

        Returns:
            One ServerResult per address: group name to settings, in the order of names.
        """
        answers = self._send_reads(broker_addrs, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
        return [decode_answer(answer, _parse_group_table) for answer in answers]

    def list_system_topics(self, broker_addrs: Iterable[str]) -> list[ServerResult[frozenset[str]]]:
        """Return the system topics of each broker (GET_SYSTEM_TOPIC_LIST_FROM_BROKER, 305)."""
        answers = self._send_reads(broker_addrs, RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER)
        return [
            decode_answer(
                answer, lambda response: frozenset(list_texts(parse_json_object(response).get("topicList")))
            )
            for answer in answers
        ]

    def count_messages(self, topic_places: Iterable[tuple[str, str]]) -> list[ServerResult[dict[int, int]]]:
        """Return the number of messages in each queue of topics (GET_TOPIC_STATS_INFO, 202).

        Args:
            topic_places: Pairs of (broker address, topic).

        Returns:
            One ServerResult per pair: queue id to number of messages.
        """
        request_code = RequestCode.GET_TOPIC_STATS_INFO
        calls = [
            (broker_addr, build_request(request_code, headers.write_header(headers.TopicName(topic))))
            for broker_addr, topic in topic_places
        ]
        return [
            decode_answer(answer, _parse_message_counts)
            for answer in self._caller.send_requests(calls, self._read_timeout_seconds)
        ]

    def list_kv_values(self, namespaces: Sequence[str]) -> list[ServerResult[KvValuesByNamespace]]:
        """Return namespaces of the KV config from every name server (GET_KVLIST_BY_NAMESPACE, 219).

        Returns:
            One ServerResult per name server: namespace to key to value; {} for a missing namespace.
        """
        namesrv_addrs = self._caller.name_servers.addrs
        request_code = RequestCode.GET_KVLIST_BY_NAMESPACE
        kv_requests = [
            build_request(request_code, headers.write_header(headers.KvNamespace(namespace)))
            for namespace in namespaces
        ]
        answers = iter(
            self._caller.send_requests(
                (namesrv_addr, kv_request) for namesrv_addr in namesrv_addrs for kv_request in kv_requests
            )
        )
        return [
            _combine_namespaces(namesrv_addr, {namespace: next(answers) for namespace in namespaces})
            for namesrv_addr in namesrv_addrs
        ]

    def list_routed_topics(self, cluster_name: str) -> list[ServerResult[frozenset[str]]]:
        """Return the routed topics of a cluster from every name server (GET_TOPICS_BY_CLUSTER, 224)."""
        ext_fields = headers.write_header(headers.ClusterName(cluster_name))
        answers = self._caller.send_to_name_servers(RequestCode.GET_TOPICS_BY_CLUSTER, ext_fields)
        return [
            decode_answer(answer, lambda response: frozenset(parse_topic_names(response)))
            for answer in answers
        ]

    def get_topic_permissions(self, topics: Sequence[str]) -> list[ServerResult[PermissionsByTopic]]:
        """Return the permissions of topics from every name server (GET_ROUTEINFO_BY_TOPIC, 105, per topic).

        Returns:
            One ServerResult per name server: topic to broker name to bits; {} for a topic without a route.
        """
        namesrv_addrs = self._caller.name_servers.addrs
        request_code = RequestCode.GET_ROUTEINFO_BY_TOPIC
        route_requests = [build_request(request_code, route_ext_fields(topic)) for topic in topics]
        answers = iter(
            self._caller.send_requests(
                (namesrv_addr, route_request)
                for namesrv_addr in namesrv_addrs
                for route_request in route_requests
            )
        )
        return [
            _combine_permissions(namesrv_addr, {topic: next(answers) for topic in topics})
            for namesrv_addr in namesrv_addrs
        ]

    def close_queues(
        self, closure_places: Iterable[tuple[str, QueueClosure]]
    ) -> list[ServerResult[RemotingCommand]]:
        """Close the queues of brokers that no longer have a topic (REGISTER_TOPIC_IN_NAMESRV, 217).

        The route then lists these brokers without queues and without permission, until they restart.

        Args:
            closure_places: Pairs of (name server address, QueueClosure).

        Returns:
            One ServerResult per pair. The error is NotApplied for a name server before 5.0, where only a
            restart of the broker helps.
        """
        closure_places = list(closure_places)
        route_answers = self._caller.send_requests(
            (namesrv_addr, build_request(RequestCode.GET_ROUTEINFO_BY_TOPIC, route_ext_fields(closure.topic)))
            for namesrv_addr, closure in closure_places
        )
        capable_answers = [answer.then(_require_version_5) for answer in route_answers]
        places_to_close = [
            closure_place
            for closure_place, answer in zip(closure_places, capable_answers, strict=True)
            if answer.error is None
        ]
        closure_answers = iter(
            self._send_writes(
                (namesrv_addr, _build_closure_request(closure)) for namesrv_addr, closure in places_to_close
            )
        )
        return [answer if answer.error is not None else next(closure_answers) for answer in capable_answers]

    def put_topics(
        self, batches: Sequence[tuple[str, Sequence[DesiredConfig]]]
    ) -> list[ServerResult[RemotingCommand]]:
        """Create or replace topics with one request per batch.

        A batch of one topic uses UPDATE_AND_CREATE_TOPIC (17), a larger one UPDATE_AND_CREATE_TOPIC_LIST (18)
        of 5.3.0 (NotSupported before). If the broker already has one of the topics exactly like this, it
        ignores the whole list, but answers success.

        Args:
            batches: Pairs of (broker address, topics).
        """
        return self._send_writes(
            (broker_addr, _build_topics_request(desired_configs)) for broker_addr, desired_configs in batches
        )

    def put_groups(
        self, batches: Sequence[tuple[str, Sequence[DesiredConfig]]]
    ) -> list[ServerResult[RemotingCommand]]:
        """Create or replace groups with one request per batch.

        A batch of one group uses UPDATE_AND_CREATE_SUBSCRIPTIONGROUP (200), a larger one
        UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST (225) of 5.3.1.

        Args:
            batches: Pairs of (broker address, groups).
        """
        return self._send_writes(
            (broker_addr, _build_groups_request(desired_configs)) for broker_addr, desired_configs in batches
        )

    def delete_topics(self, topic_places: Iterable[tuple[str, str]]) -> list[ServerResult[RemotingCommand]]:
        """Delete topics and their messages on brokers (DELETE_TOPIC_IN_BROKER, 215).

        A missing topic also gives success.

        Args:
            topic_places: Pairs of (broker address, topic).
        """
        request_code = RequestCode.DELETE_TOPIC_IN_BROKER
        return self._send_writes(
            (broker_addr, build_request(request_code, _delete_topic_fields(topic_name)))
            for broker_addr, topic_name in topic_places
        )

    def forget_topics(
        self, topic_places: Iterable[tuple[str, str]], cluster_name: str
    ) -> list[ServerResult[RemotingCommand]]:
        """Remove a cluster's queues from the routes of topics (DELETE_TOPIC_IN_NAMESRV, 216).

        Args:
            topic_places: Pairs of (name server address, topic).
            cluster_name: The cluster.
        """
        request_code = RequestCode.DELETE_TOPIC_IN_NAMESRV
        return self._send_writes(
            (namesrv_addr, build_request(request_code, _delete_topic_fields(topic_name, cluster_name)))
            for namesrv_addr, topic_name in topic_places
        )

    def delete_groups(self, group_places: Iterable[tuple[str, str]]) -> list[ServerResult[RemotingCommand]]:
        """Delete groups and their offsets on brokers (DELETE_SUBSCRIPTIONGROUP, 207).

        A missing group also gives success.

        Args:
            group_places: Pairs of (broker address, group).
        """
        request_code = RequestCode.DELETE_SUBSCRIPTIONGROUP
        return self._send_writes(
            (
                broker_addr,
                build_request(
                    request_code, headers.write_header(broker_headers.DeleteGroup(group_name, True))
                ),
            )
            for broker_addr, group_name in group_places
        )

    def put_values(self, value_places: Iterable[tuple[str, KvValue]]) -> list[ServerResult[RemotingCommand]]:
        """Write or delete KV values (PUT_KV_CONFIG, 100; DELETE_KV_CONFIG, 102).

        Args:
            value_places: Pairs of (name server address, KvValue).
        """
        return self._send_writes(
            (namesrv_addr, _build_value_request(kv_value)) for namesrv_addr, kv_value in value_places
        )

    def _send_reads(
        self, broker_addrs: Iterable[str], request_code: int
    ) -> list[ServerResult[RemotingCommand]]:
        return self._caller.send_requests(
            [(broker_addr, build_request(request_code)) for broker_addr in broker_addrs],
            self._read_timeout_seconds,
        )

    def _send_writes(
        self, calls: Iterable[tuple[str, RemotingCommand]]
    ) -> list[ServerResult[RemotingCommand]]:
        return self._caller.send_requests(calls, self._write_timeout_seconds)


def _delete_topic_fields(topic_name: str, cluster_name: str | None = None) -> dict[str, str]:
    return headers.write_header(headers.DeleteTopic(topic_name, cluster_name))


def _build_topics_request(desired_configs: Sequence[DesiredConfig]) -> RemotingCommand:
    if len(desired_configs) > 1:
        wire_configs = [
            {**desired_config.wire_config, "attributes": dict(desired_config.attribute_changes)}
            for desired_config in desired_configs
        ]
        request_body = fastjson.encode_json({"topicConfigList": wire_configs})
        return build_request(RequestCode.UPDATE_AND_CREATE_TOPIC_LIST, None, request_body)
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
        attributes=",".join(
            _format_attribute(attribute_key, attribute_value)
            for attribute_key, attribute_value in attribute_changes.items()
        )
        or None,
    )
    return build_request(RequestCode.UPDATE_AND_CREATE_TOPIC, headers.write_header(topic_header))


def _format_attribute(attribute_key: str, attribute_value: str) -> str:
    return f"{attribute_key}={attribute_value}" if attribute_key.startswith("+") else attribute_key


def _build_groups_request(desired_configs: Sequence[DesiredConfig]) -> RemotingCommand:
    wire_configs = [
        {**desired_config.wire_config, "attributes": dict(desired_config.attribute_changes)}
        for desired_config in desired_configs
    ]
    if len(wire_configs) > 1:
        request_body = fastjson.encode_json({"groupConfigList": wire_configs})
        return build_request(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST, None, request_body)
    return build_request(
        RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, None, fastjson.encode_json(wire_configs[0])
    )


def _build_value_request(kv_value: KvValue) -> RemotingCommand:
    if kv_value.value is None:
        key_fields = headers.write_header(headers.KvKey(kv_value.namespace, kv_value.key))
        return build_request(RequestCode.DELETE_KV_CONFIG, key_fields)
    return build_request(RequestCode.PUT_KV_CONFIG, headers.write_header(headers.PutKvConfig(*kv_value)))


def _parse_topic_table(response: RemotingCommand) -> BrokerTopicTable:
    json_body = parse_json_object(response)
    config_table = json_body.get("topicConfigTable") or {}
    mapping_table = json_body.get("topicQueueMappingDetailMap") or {}
    return BrokerTopicTable(_sort_configs(config_table), frozenset(mapping_table))


def _parse_group_table(response: RemotingCommand) -> dict[str, WireConfig]:
    return _sort_configs(parse_json_object(response).get("subscriptionGroupTable") or {})


def _sort_configs(config_table: Mapping[str, Any]) -> dict[str, WireConfig]:
    return {
        config_name: wire_config
        for config_name, wire_config in sorted(config_table.items())
        if isinstance(wire_config, dict)
    }


def _combine_namespaces(
    namesrv_addr: str, answers: Mapping[str, ServerResult[RemotingCommand]]
) -> ServerResult[KvValuesByNamespace]:
    """Combine the namespaces of one name server. Any error other than "not found" is the overall error."""
    results_by_namespace = {
        namespace: decode_answer(answer, parse_text_table) for namespace, answer in answers.items()
    }
    errors = [
        table_result.error
        for table_result in results_by_namespace.values()
        if not isinstance(table_result.error, QueryNotFound)
    ]
    error = next(filter(None, errors), None)
    values_by_namespace = {
        namespace: table_result.result or {} for namespace, table_result in results_by_namespace.items()
    }
    return ServerResult(namesrv_addr, None if error else values_by_namespace, error)


def _combine_permissions(
    namesrv_addr: str, answers: Mapping[str, ServerResult[RemotingCommand]]
) -> ServerResult[PermissionsByTopic]:
    results_by_topic = {topic: decode_answer(answer, parse_route) for topic, answer in answers.items()}
    errors = [
        route_result.error
        for route_result in results_by_topic.values()
        if not isinstance(route_result.error, TopicNotExist)
    ]
    error = next(filter(None, errors), None)
    permissions_by_topic = {
        topic: {queue_route.broker_name: queue_route.perm or 0 for queue_route in route_result.result.queues}
        if route_result.result
        else {}
        for topic, route_result in results_by_topic.items()
    }
    return ServerResult(namesrv_addr, None if error else permissions_by_topic, error)


def _require_version_5(response: RemotingCommand) -> RemotingCommand:
    if response.version < V5_0_0:
        raise NotApplied(
            "a name server before 5.0 goes on sending clients there until the broker is restarted"
        )
    return response


def _build_closure_request(closure: QueueClosure) -> RemotingCommand:
    closed_queue = {"readQueueNums": 0, "writeQueueNums": 0, "perm": 0, "topicSysFlag": 0}
    request_body = fastjson.encode_json(
        {"queueDatas": [{"brokerName": broker_name, **closed_queue} for broker_name in closure.broker_names]}
    )
    ext_fields = headers.write_header(headers.TopicName(closure.topic))
    return build_request(RequestCode.REGISTER_TOPIC_IN_NAMESRV, ext_fields, request_body)


def _parse_message_counts(response: RemotingCommand) -> dict[int, int]:
    offset_table = parse_queue_table(parse_json_object(response).get("offsetTable"))
    return {
        message_queue.queue_id: int(offset_record.get("maxOffset", 0))
        - int(offset_record.get("minOffset", 0))
        for message_queue, offset_record in offset_table.items()
    }
