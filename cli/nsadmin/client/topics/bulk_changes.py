"""`admin.bulk`: reads of whole tables, and batches of many changes.

Nothing is read back here. After a batch, read the whole tables again, with one request per server.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import TopicNotExist
from namesrv_core.protocol import broker_headers, fastjson, headers
from namesrv_core.protocol.codes import V5_0_0, RequestCode
from namesrv_core.protocol.command import ExtFields, RemotingCommand
from namesrv_core.protocol.resource_attributes import format_changes
from nsadmin.client.brokers.list_deletions import send_group_deletions, send_topic_deletions
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import (
    decode_answer,
    parse_json_object,
    parse_topic_names,
)
from nsadmin.client.consumers.groups import parse_group_table
from nsadmin.client.name_servers.kv_config import build_value_request, read_tables
from nsadmin.client.results import NotApplied, ServerResult
from nsadmin.client.topic_routes import parse_route, route_header
from nsadmin.client.topics.queue_mappings import BrokerQueueShare, parse_share
from nsadmin.client.topics.topic_configs import DEFAULT_TOPIC
from nsadmin.client.topics.topic_traffic import accept_uncounted
from nsadmin.client.wire_configs import WireConfig, read_configs

READ_TIMEOUT_SECONDS, WRITE_TIMEOUT_SECONDS = 15.0, 60.0
"""Seconds for whole tables and for batches of changes, if the access has a shorter timeout."""

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


class BulkAdmin:
    """`admin.bulk`: reads of whole tables, and batches of changes.

    Each method returns one ServerResult per address or per given pair, in the same order.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._read_timeout_seconds = max(READ_TIMEOUT_SECONDS, caller.access.timeout)
        self._write_timeout_seconds = max(WRITE_TIMEOUT_SECONDS, caller.access.timeout)

    def list_topics(self, broker_addrs: Iterable[str]) -> list[ServerResult[BrokerTopicTable]]:
        """Return all topics of each broker (GET_ALL_TOPIC_CONFIG, 21).

        Args:
            broker_addrs: The broker addresses.

        Returns:
            One ServerResult per address: the configurations and the names of the static topics.
        """
        answers = self._send_reads(broker_addrs, RequestCode.GET_ALL_TOPIC_CONFIG)
        return [decode_answer(answer, _parse_topic_table) for answer in answers]

    def list_groups(self, broker_addrs: Iterable[str]) -> list[ServerResult[dict[str, WireConfig]]]:
        """Return all groups of each broker (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201).

        Args:
            broker_addrs: The broker addresses.

        Returns:
            One ServerResult per address: group name to settings, in the order of names.
        """
        answers = self._send_reads(broker_addrs, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
        return [decode_answer(answer, parse_group_table) for answer in answers]

    def list_system_topics(self, broker_addrs: Iterable[str]) -> list[ServerResult[frozenset[str]]]:
        """Return the system topics of each broker (GET_SYSTEM_TOPIC_LIST_FROM_BROKER, 305).

        Args:
            broker_addrs: The broker addresses.

        Returns:
            One ServerResult per address: topic names.
        """
        answers = self._send_reads(broker_addrs, RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER)
        return [
            decode_answer(answer, lambda response: frozenset(parse_json_object(response).texts("topicList")))
            for answer in answers
        ]

    def list_rates(self, stats_places: Iterable[tuple[str, str, str]]) -> list[ServerResult[float]]:
        """Return rates that brokers measure (VIEW_BROKER_STATS_DATA, 315).

        Args:
            stats_places: Tuples of (broker address, name of the statistics, key), such as
                ("10.0.0.1:10911", "TOPIC_PUT_SIZE", "payments").

        Returns:
            One ServerResult per tuple: the mean per second (messages or bytes) of the longest span that has
            samples: day, hour or minute. 0.0 if the broker never counted anything.
        """
        calls = [
            (a, make_request(RequestCode.VIEW_BROKER_STATS_DATA, broker_headers.ViewBrokerStats(name, key)))
            for a, name, key in stats_places
        ]
        return [
            decode_answer(accept_uncounted(answer), _parse_rate)
            for answer in self._caller.send_requests(calls, self._read_timeout_seconds)
        ]

    def read_bodies(
        self, request_code: int, places: Iterable[tuple[str, ExtFields]], timeout_seconds: float | None = None
    ) -> list[ServerResult[bytes]]:
        """Return the undecoded bodies of many reads of one kind, all sent at once.

        Args:
            request_code: The request code.
            places: Pairs of (server address, header fields).
            timeout_seconds: The time limit per request. Default: that of the access.

        Returns:
            One ServerResult per pair, in order.
        """
        calls = [(server_addr, make_request(request_code, ext_fields)) for server_addr, ext_fields in places]
        answers = self._caller.send_requests(calls, timeout_seconds)
        return [answer.then(lambda response: response.body) for answer in answers]

    def list_kv_values(self, namespaces: Sequence[str]) -> list[ServerResult[KvValuesByNamespace]]:
        """Return namespaces of the KV config from every name server (GET_KVLIST_BY_NAMESPACE, 219).

        Args:
            namespaces: The KV namespaces.

        Returns:
            One ServerResult per name server: namespace to key to value; {} for a missing namespace. Any other
            error makes the whole result an error.
        """
        results = read_tables(self._caller, namespaces, self._caller.name_servers.addrs)
        return [r.then(lambda tables: {n: tables.get(n, {}) for n in namespaces}) for r in results]

    def list_routed_topics(self, cluster_name: str) -> list[ServerResult[frozenset[str]]]:
        """Return the routed topics of a cluster from every name server (GET_TOPICS_BY_CLUSTER, 224).

        Args:
            cluster_name: The cluster.

        Returns:
            One ServerResult per name server: topic names.
        """
        return self._caller.read_each(
            self._caller.name_servers.addrs,
            lambda response: frozenset(parse_topic_names(response)),
            RequestCode.GET_TOPICS_BY_CLUSTER,
            headers.ClusterName(cluster_name),
        )

    def get_topic_permissions(self, topics: Sequence[str]) -> list[ServerResult[PermissionsByTopic]]:
        """Return the permissions of topics from every name server (GET_ROUTEINFO_BY_TOPIC, 105, per topic).

        Args:
            topics: The topics.

        Returns:
            One ServerResult per name server: topic to broker name to bits; {} for a topic without a route.
            Any other error makes the whole result an error.
        """
        addrs = self._caller.name_servers.addrs
        request_code = RequestCode.GET_ROUTEINFO_BY_TOPIC
        route_requests = [make_request(request_code, route_header(topic)) for topic in topics]
        answers = iter(self._caller.send_requests((addr, r) for addr in addrs for r in route_requests))
        return [_combine_permissions(a, {topic: next(answers) for topic in topics}) for a in addrs]

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
            (namesrv_addr, make_request(RequestCode.GET_ROUTEINFO_BY_TOPIC, route_header(closure.topic)))
            for namesrv_addr, closure in closure_places
        )
        capable_answers = [answer.then(_require_version_5) for answer in route_answers]
        places_to_close = [p for p, a in zip(closure_places, capable_answers, strict=True) if a.error is None]
        closure_answers = iter(
            self._send_writes((addr, _build_closure_request(closure)) for addr, closure in places_to_close)
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
            batches: Pairs of (broker address, topics), each with at least one topic.

        Returns:
            One ServerResult per batch: the broker's answer.
        """
        return self._send_writes((addr, _build_topics_request(configs)) for addr, configs in batches)

    def put_groups(
        self, batches: Sequence[tuple[str, Sequence[DesiredConfig]]]
    ) -> list[ServerResult[RemotingCommand]]:
        """Create or replace groups with one request per batch.

        A batch of one group uses UPDATE_AND_CREATE_SUBSCRIPTIONGROUP (200), a larger one
        UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST (225) of 5.3.1.

        Args:
            batches: Pairs of (broker address, groups), each with at least one group.

        Returns:
            One ServerResult per batch: the broker's answer.
        """
        return self._send_writes((addr, _build_groups_request(configs)) for addr, configs in batches)

    def delete_topics(self, topic_places: Iterable[tuple[str, str]]) -> list[ServerResult[RemotingCommand]]:
        """Delete topics and their messages on brokers.

        Brokers since 5.5.1 get lists (DELETE_TOPIC_IN_BROKER_LIST, 5002), others a request for each topic
        (DELETE_TOPIC_IN_BROKER, 215). A missing topic also gives success.

        Args:
            topic_places: Pairs of (broker address, topic).

        Returns:
            One ServerResult per pair: the broker's answer.
        """
        return send_topic_deletions(self._caller, topic_places)

    def forget_topics(
        self, topic_places: Iterable[tuple[str, str]], cluster_name: str
    ) -> list[ServerResult[RemotingCommand]]:
        """Remove a cluster's queues from the routes of topics (DELETE_TOPIC_IN_NAMESRV, 216).

        Args:
            topic_places: Pairs of (name server address, topic).
            cluster_name: The cluster.

        Returns:
            One ServerResult per pair: the name server's answer.
        """
        request_code = RequestCode.DELETE_TOPIC_IN_NAMESRV
        return self._send_writes(
            (a, make_request(request_code, headers.DeleteTopic(n, cluster_name))) for a, n in topic_places
        )

    def delete_groups(self, group_places: Iterable[tuple[str, str]]) -> list[ServerResult[RemotingCommand]]:
        """Delete groups and their offsets on brokers.

        Brokers since 5.5.1 get lists (DELETE_SUBSCRIPTION_GROUP_LIST, 5003), others a request for each group
        (DELETE_SUBSCRIPTIONGROUP, 207). A missing group also gives success.

        Args:
            group_places: Pairs of (broker address, group).

        Returns:
            One ServerResult per pair: the broker's answer.
        """
        return send_group_deletions(self._caller, group_places, clean_offset=True)

    def put_values(self, value_places: Iterable[tuple[str, KvValue]]) -> list[ServerResult[RemotingCommand]]:
        """Write or delete KV values (PUT_KV_CONFIG, 100; DELETE_KV_CONFIG, 102).

        Args:
            value_places: Pairs of (name server address, KvValue).

        Returns:
            One ServerResult per pair: the name server's answer.
        """
        return self._send_writes((addr, build_value_request(*kv_value)) for addr, kv_value in value_places)

    def _send_reads(self, addrs: Iterable[str], request_code: int) -> list[ServerResult[RemotingCommand]]:
        return self._caller.send_requests(
            [(addr, make_request(request_code)) for addr in addrs], self._read_timeout_seconds
        )

    def _send_writes(
        self, calls: Iterable[tuple[str, RemotingCommand]]
    ) -> list[ServerResult[RemotingCommand]]:
        return self._caller.send_requests(calls, self._write_timeout_seconds)


def _build_topics_request(desired_configs: Sequence[DesiredConfig]) -> RemotingCommand:
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
        attributes=format_changes(attribute_changes) or None,
    )
    return make_request(RequestCode.UPDATE_AND_CREATE_TOPIC, topic_header)


def _build_groups_request(desired_configs: Sequence[DesiredConfig]) -> RemotingCommand:
    """Build the request that creates or replaces groups on a broker."""
    wire_configs = [{**c.wire_config, "attributes": dict(c.attribute_changes)} for c in desired_configs]
    if len(wire_configs) > 1:
        request_body = fastjson.encode_json({"groupConfigList": wire_configs})
        return make_request(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST, None, request_body)
    return make_request(
        RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, None, fastjson.encode_json(wire_configs[0])
    )


def _parse_topic_table(response: RemotingCommand) -> BrokerTopicTable:
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


def _combine_permissions(
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


def _require_version_5(response: RemotingCommand) -> RemotingCommand:
    """Check by its answer that a name server is of 5.0 or later."""
    if response.version < V5_0_0:
        raise NotApplied(
            "a name server before 5.0 keeps sending clients to the deleted queues until the broker restarts"
        )
    return response


def _build_closure_request(closure: QueueClosure) -> RemotingCommand:
    """Build REGISTER_TOPIC_IN_NAMESRV (217) without queues and permission for the brokers of a closure."""
    closed_queue = {"readQueueNums": 0, "writeQueueNums": 0, "perm": 0, "topicSysFlag": 0}
    request_body = fastjson.encode_json(
        {"queueDatas": [{"brokerName": broker_name, **closed_queue} for broker_name in closure.broker_names]}
    )
    return make_request(RequestCode.REGISTER_TOPIC_IN_NAMESRV, headers.TopicName(closure.topic), request_body)


def _parse_rate(response: RemotingCommand) -> float:
    """Parse the answer to VIEW_BROKER_STATS_DATA (315)."""
    json_body = parse_json_object(response)
    span_rates = (json_body.child(f"stats{name}").number("tps", 0.0) for name in ("Day", "Hour", "Minute"))
    return next(filter(None, span_rates), 0.0)
