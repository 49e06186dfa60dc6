"""`admin.bulk`: reads of whole tables, and batches of many changes.

Nothing is read back here. After a batch, read the whole tables again, with one request per server.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from namesrv_core.errors import QueryNotFound, TopicNotExist
from namesrv_core.protocol import broker_headers, fastjson, headers
from namesrv_core.protocol.codes import V5_0_0, RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import json_object, text_table, texts, topic_names
from nsadmin.client.caller import Caller
from nsadmin.client.queues import queue_table
from nsadmin.client.results import NotApplied, ServerResult
from nsadmin.client.retry import decoded
from nsadmin.client.routes import get_route, route_of
from nsadmin.client.topic_configs import DEFAULT_TOPIC

READING, WRITING = 15.0, 60.0
"""Seconds for whole tables and for batches of changes, if the access has a shorter timeout."""

Config = Mapping[str, Any]
"""A TopicConfig or SubscriptionGroupConfig: wire name to value."""

Values = Mapping[str, Mapping[str, str]]
"""The KV config: namespace to key to value."""

Perms = Mapping[str, Mapping[str, int]]
"""Topic to broker name to permission bits: 4 read, 2 write, 1 inherit."""


class TopicTable(NamedTuple):
    """The topics of a broker.

    Attributes:
        configs_by_topic: Topic to configuration, in the order of names.
        static_topics: The names of the static topics.
    """

    configs: Mapping[str, Config]
    static: frozenset[str]


class Wanted(NamedTuple):
    """The desired state of a topic or group.

    Attributes:
        wire_config: The complete configuration, by wire name.
        attribute_changes: Changes of attributes: "+key" to the new value, "-key" to anything.
    """

    config: Config
    attributes: Mapping[str, str]


class Value(NamedTuple):
    """A change of the KV config: the new value of a key; None deletes the key."""

    namespace: str
    key: str
    value: str | None


class Closing(NamedTuple):
    """A topic and the brokers that no longer have it.

    Attributes:
        topic: The topic.
        broker_names: The brokers whose queues to close in routes.
    """

    topic: str
    brokers: tuple[str, ...]


class Bulk:
    """`admin.bulk`: reads of whole tables, and batches of changes.

    Each method returns one ServerResult per address or per given pair, in the same order.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._reading = max(READING, caller.access.timeout)
        self._writing = max(WRITING, caller.access.timeout)

    def topics(self, addrs: Iterable[str]) -> list[ServerResult[TopicTable]]:
        """Return all topics of each broker (GET_ALL_TOPIC_CONFIG, 21)."""
        answers = self._read(addrs, RequestCode.GET_ALL_TOPIC_CONFIG)
        return [decoded(answer, _topic_table) for answer in answers]

    def groups(self, addrs: Iterable[str]) -> list[ServerResult[dict[str, Config]]]:
        """Return all groups of each broker (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201).

        Returns:
            One ServerResult per address: group name to settings, in the order of names.
        """
        answers = self._read(addrs, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
        return [decoded(answer, _group_table) for answer in answers]

    def system_topics(self, addrs: Iterable[str]) -> list[ServerResult[frozenset[str]]]:
        """Return the system topics of each broker (GET_SYSTEM_TOPIC_LIST_FROM_BROKER, 305)."""
        answers = self._read(addrs, RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER)
        return [
            decoded(answer, lambda command: frozenset(texts(json_object(command).get("topicList"))))
            for answer in answers
        ]

    def messages(self, places: Iterable[tuple[str, str]]) -> list[ServerResult[dict[int, int]]]:
        """Return the number of messages in each queue of topics (GET_TOPIC_STATS_INFO, 202).

        Args:
            topic_places: Pairs of (broker address, topic).

        Returns:
            One ServerResult per pair: queue id to number of messages.
        """
        code = RequestCode.GET_TOPIC_STATS_INFO
        calls = [(addr, request(code, headers.write(headers.TopicName(topic)))) for addr, topic in places]
        return [decoded(answer, _messages) for answer in self._caller.ask(calls, self._reading)]

    def values(self, namespaces: Sequence[str]) -> list[ServerResult[Values]]:
        """Return namespaces of the KV config from every name server (GET_KVLIST_BY_NAMESPACE, 219).

        Returns:
            One ServerResult per name server: namespace to key to value; {} for a missing namespace.
        """
        addrs = self._caller.name_servers.addrs
        code = RequestCode.GET_KVLIST_BY_NAMESPACE
        asked = [request(code, headers.write(headers.KvNamespace(name))) for name in namespaces]
        answers = iter(self._caller.ask((addr, command) for addr in addrs for command in asked))
        return [_tables(addr, {name: next(answers) for name in namespaces}) for addr in addrs]

    def routed(self, cluster: str) -> list[ServerResult[frozenset[str]]]:
        """Return the routed topics of a cluster from every name server (GET_TOPICS_BY_CLUSTER, 224)."""
        ext = headers.write(headers.ClusterName(cluster))
        answers = self._caller.ask_name_servers(RequestCode.GET_TOPICS_BY_CLUSTER, ext)
        return [decoded(answer, lambda command: frozenset(topic_names(command))) for answer in answers]

    def perms(self, topics: Sequence[str]) -> list[ServerResult[Perms]]:
        """Return the permissions of topics from every name server (GET_ROUTEINFO_BY_TOPIC, 105, per topic).

        Returns:
            One ServerResult per name server: topic to broker name to bits; {} for a topic without a route.
        """
        addrs = self._caller.name_servers.addrs
        code = RequestCode.GET_ROUTEINFO_BY_TOPIC
        asked = [request(code, get_route(topic)) for topic in topics]
        answers = iter(self._caller.ask((addr, command) for addr in addrs for command in asked))
        return [_perms(addr, {topic: next(answers) for topic in topics}) for addr in addrs]

    def close_queues(self, places: Iterable[tuple[str, Closing]]) -> list[ServerResult[Command]]:
        """Close the queues of brokers that no longer have a topic (REGISTER_TOPIC_IN_NAMESRV, 217).

        The route then lists these brokers without queues and without permission, until they restart.

        Args:
            closure_places: Pairs of (name server address, QueueClosure).

        Returns:
            One ServerResult per pair. The error is NotApplied for a name server before 5.0, where only a
            restart of the broker helps.
        """
        places = list(places)
        found = self._caller.ask(
            (addr, request(RequestCode.GET_ROUTEINFO_BY_TOPIC, get_route(closing.topic)))
            for addr, closing in places
        )
        able = [answer.then(_require_5_0) for answer in found]
        due = [place for place, answer in zip(places, able, strict=True) if answer.error is None]
        closed = iter(self._write((addr, _closing_request(closing)) for addr, closing in due))
        return [answer if answer.error is not None else next(closed) for answer in able]

    def put_topics(self, batches: Sequence[tuple[str, Sequence[Wanted]]]) -> list[ServerResult[Command]]:
        """Create or replace topics with one request per batch.

        A batch of one topic uses UPDATE_AND_CREATE_TOPIC (17), a larger one UPDATE_AND_CREATE_TOPIC_LIST (18)
        of 5.3.0 (NotSupported before). If the broker already has one of the topics exactly like this, it
        ignores the whole list, but answers success.

        Args:
            batches: Pairs of (broker address, topics).
        """
        return self._write((addr, _topics_request(items)) for addr, items in batches)

    def put_groups(self, batches: Sequence[tuple[str, Sequence[Wanted]]]) -> list[ServerResult[Command]]:
        """Create or replace groups with one request per batch.

        A batch of one group uses UPDATE_AND_CREATE_SUBSCRIPTIONGROUP (200), a larger one
        UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST (225) of 5.3.1.

        Args:
            batches: Pairs of (broker address, groups).
        """
        return self._write((addr, _groups_request(items)) for addr, items in batches)

    def delete_topics(self, places: Iterable[tuple[str, str]]) -> list[ServerResult[Command]]:
        """Delete topics and their messages on brokers (DELETE_TOPIC_IN_BROKER, 215).

        A missing topic also gives success.

        Args:
            topic_places: Pairs of (broker address, topic).
        """
        code = RequestCode.DELETE_TOPIC_IN_BROKER
        return self._write((addr, request(code, _topic(name))) for addr, name in places)

    def forget_topics(self, places: Iterable[tuple[str, str]], cluster: str) -> list[ServerResult[Command]]:
        """Remove a cluster's queues from the routes of topics (DELETE_TOPIC_IN_NAMESRV, 216).

        Args:
            topic_places: Pairs of (name server address, topic).
            cluster_name: The cluster.
        """
        code = RequestCode.DELETE_TOPIC_IN_NAMESRV
        return self._write((addr, request(code, _topic(name, cluster))) for addr, name in places)

    def delete_groups(self, places: Iterable[tuple[str, str]]) -> list[ServerResult[Command]]:
        """Delete groups and their offsets on brokers (DELETE_SUBSCRIPTIONGROUP, 207).

        A missing group also gives success.

        Args:
            group_places: Pairs of (broker address, group).
        """
        code = RequestCode.DELETE_SUBSCRIPTIONGROUP
        return self._write(
            (addr, request(code, headers.write(broker_headers.DeleteGroup(name, True))))
            for addr, name in places
        )

    def put_values(self, places: Iterable[tuple[str, Value]]) -> list[ServerResult[Command]]:
        """Write or delete KV values (PUT_KV_CONFIG, 100; DELETE_KV_CONFIG, 102).

        Args:
            value_places: Pairs of (name server address, KvValue).
        """
        return self._write((addr, _value_request(value)) for addr, value in places)

    def _read(self, addrs: Iterable[str], code: int) -> list[ServerResult[Command]]:
        return self._caller.ask([(addr, request(code)) for addr in addrs], self._reading)

    def _write(self, calls: Iterable[tuple[str, Command]]) -> list[ServerResult[Command]]:
        return self._caller.ask(calls, self._writing)


def _topic(name: str, cluster: str | None = None) -> dict[str, str]:
    return headers.write(headers.DeleteTopic(name, cluster))


def _topics_request(items: Sequence[Wanted]) -> Command:
    if len(items) > 1:
        configs = [{**item.config, "attributes": dict(item.attributes)} for item in items]
        body = fastjson.dumps({"topicConfigList": configs})
        return request(RequestCode.UPDATE_AND_CREATE_TOPIC_LIST, None, body)
    [(config, attributes)] = items
    header = broker_headers.CreateTopic(
        topic=config["topicName"],
        default_topic=DEFAULT_TOPIC,
        read_queue_nums=config["readQueueNums"],
        write_queue_nums=config["writeQueueNums"],
        perm=config["perm"],
        topic_filter_type=config["topicFilterType"],
        topic_sys_flag=config["topicSysFlag"],
        order=config["order"],
        attributes=",".join(_signed(key, value) for key, value in attributes.items()) or None,
    )
    return request(RequestCode.UPDATE_AND_CREATE_TOPIC, headers.write(header))


def _signed(key: str, value: str) -> str:
    return f"{key}={value}" if key.startswith("+") else key


def _groups_request(items: Sequence[Wanted]) -> Command:
    configs = [{**item.config, "attributes": dict(item.attributes)} for item in items]
    if len(configs) > 1:
        body = fastjson.dumps({"groupConfigList": configs})
        return request(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST, None, body)
    return request(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, None, fastjson.dumps(configs[0]))


def _value_request(value: Value) -> Command:
    if value.value is None:
        key = headers.write(headers.KvKey(value.namespace, value.key))
        return request(RequestCode.DELETE_KV_CONFIG, key)
    return request(RequestCode.PUT_KV_CONFIG, headers.write(headers.PutKvConfig(*value)))


def _topic_table(command: Command) -> TopicTable:
    body = json_object(command)
    table = body.get("topicConfigTable") or {}
    mapped = body.get("topicQueueMappingDetailMap") or {}
    return TopicTable(_configs(table), frozenset(mapped))


def _group_table(command: Command) -> dict[str, Config]:
    return _configs(json_object(command).get("subscriptionGroupTable") or {})


def _configs(table: Mapping[str, Any]) -> dict[str, Config]:
    return {name: config for name, config in sorted(table.items()) if isinstance(config, dict)}


def _tables(addr: str, answers: Mapping[str, ServerResult[Command]]) -> ServerResult[Values]:
    """Combine the namespaces of one name server. Any error other than "not found" is the overall error."""
    tables = {name: decoded(answer, text_table) for name, answer in answers.items()}
    errors = [table.error for table in tables.values() if not isinstance(table.error, QueryNotFound)]
    error = next(filter(None, errors), None)
    found = {name: table.result or {} for name, table in tables.items()}
    return ServerResult(addr, None if error else found, error)


def _perms(addr: str, answers: Mapping[str, ServerResult[Command]]) -> ServerResult[Perms]:
    routes = {topic: decoded(answer, route_of) for topic, answer in answers.items()}
    errors = [route.error for route in routes.values() if not isinstance(route.error, TopicNotExist)]
    error = next(filter(None, errors), None)
    found = {
        topic: {queue.broker_name: queue.perm or 0 for queue in route.result.queues} if route.result else {}
        for topic, route in routes.items()
    }
    return ServerResult(addr, None if error else found, error)


def _require_5_0(command: Command) -> Command:
    if command.version < V5_0_0:
        raise NotApplied(
            "a name server before 5.0 goes on sending clients there until the broker is restarted"
        )
    return command


def _closing_request(closing: Closing) -> Command:
    closed = {"readQueueNums": 0, "writeQueueNums": 0, "perm": 0, "topicSysFlag": 0}
    body = fastjson.dumps({"queueDatas": [{"brokerName": name, **closed} for name in closing.brokers]})
    ext = headers.write(headers.TopicName(closing.topic))
    return request(RequestCode.REGISTER_TOPIC_IN_NAMESRV, ext, body)


def _messages(command: Command) -> dict[int, int]:
    table = queue_table(json_object(command).get("offsetTable"))
    return {
        queue.queue_id: int(item.get("maxOffset", 0)) - int(item.get("minOffset", 0))
        for queue, item in table.items()
    }
