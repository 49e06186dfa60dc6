"""`admin.name_server_tables`: the complete tables of one name server, for repeated polling."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from namesrv_core.errors import QueryNotFound, TopicNotExist
from namesrv_core.events import Group, MappingInfo, Member, QueueData
from namesrv_core.protocol import headers, json_bodies
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import (
    decode_answer,
    parse_broker_addrs,
    parse_config_items,
    parse_json_object,
    parse_topic_names,
)
from nsadmin.client.results import DuplicateServer, ServerResult
from nsadmin.client.topic_routes import route_header

T = TypeVar("T")
NullableTexts = Mapping[str, str | None]


class NameServerListing(NamedTuple):
    """The tables of a name server without the routes.

    Attributes:
        clusters: Cluster name to broker names. Broker groups without members are omitted.
        groups: Broker name to its group.
        topics: The topic names in order.
        settings: Key to value of the configuration.
        kv: Namespace to key to value of the KV config. Missing namespaces are omitted.
    """

    clusters: Mapping[str, Sequence[str]]
    groups: Mapping[str, Group]
    topics: Sequence[str]
    settings: Mapping[str, str]
    kv: Mapping[str, NullableTexts]


class TopicQueues(NamedTuple):
    """The queues of a topic.

    Attributes:
        queues: Broker name to its queues.
        mappings: For a static topic, broker name to its queue mapping.
    """

    queues: Mapping[str, QueueData]
    mappings: Mapping[str | None, MappingInfo]


NO_TOPIC_QUEUES = TopicQueues({}, {})

_ROUTES_AT_ONCE = 1000
"""The number of undecoded routes per name server to hold in memory."""


class NameServerTables:
    """`admin.name_server_tables`: the tables of each name server. No server answers in place of another."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def mark_duplicate_servers(self, answers: Sequence[ServerResult[T]]) -> list[ServerResult[T]]:
        """Replace the answer of a server that occurs under a second address by the error DuplicateServer.

        Compares the peers of the open connections, so call it after a request to these servers.

        Args:
            answers: The results of a request, one per address.

        Returns:
            One ServerResult per answer, in order.
        """
        addrs_by_peer: dict[Any, str] = {}
        marked_answers = []
        for answer in answers:
            peer = self._caller.get_peer(answer.addr)
            first_addr = addrs_by_peer.setdefault(answer.addr if peer is None else peer, answer.addr)
            duplicate_error = DuplicateServer(f"same name server as {first_addr}")
            marked_answers.append(
                answer if first_addr == answer.addr else ServerResult(answer.addr, None, duplicate_error)
            )
        return marked_answers

    def describe_peer(self, namesrv_addr: str) -> str | None:
        """Return the host and the port that the open connection to a name server leads to.

        Args:
            namesrv_addr: The name server address. Call this after a request to it.

        Returns:
            The address, such as "10.0.0.1:9876"; None without an open connection. Two names of one server
            have the same one.
        """
        peer = self._caller.get_peer(namesrv_addr)
        return None if peer is None else f"{peer[0]}:{peer[1]}"

    def get_listing(self, namesrv_addr: str, namespaces: Sequence[str]) -> NameServerListing:
        """Return the tables of one name server without the routes.

        Sends GET_BROKER_CLUSTER_INFO (106), GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206), GET_NAMESRV_CONFIG
        (319), and GET_KVLIST_BY_NAMESPACE (219) per namespace.

        Args:
            namesrv_addr: The name server address.
            namespaces: The namespaces of the KV config to read; () for none.

        Returns:
            The tables. A missing namespace does not cause an error.

        Raises:
            RocketMQError: One of the requests failed.
        """
        return self.get_listing_each([namesrv_addr], namespaces)[0].value()

    def get_listing_each(
        self, namesrv_addrs: Iterable[str], namespaces: Sequence[str]
    ) -> list[ServerResult[NameServerListing]]:
        """Return `get_listing` of several name servers, asked at once: one ServerResult per address.

        Args:
            namesrv_addrs: The name server addresses.
            namespaces: The namespaces of the KV config to read; () for none.

        Returns:
            The results in order. One failed request makes the result of its server an error.
        """
        listing_requests = [
            make_request(RequestCode.GET_BROKER_CLUSTER_INFO),
            make_request(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER),
            make_request(RequestCode.GET_NAMESRV_CONFIG),
            *(make_request(RequestCode.GET_KVLIST_BY_NAMESPACE, headers.KvNamespace(n)) for n in namespaces),
        ]
        namesrv_addrs = list(namesrv_addrs)
        answers = iter(self._caller.send_requests((a, r) for a in namesrv_addrs for r in listing_requests))
        return [
            ServerResult(namesrv_addr, tuple(islice(answers, len(listing_requests))), None).then(
                lambda server_answers: _parse_listing(server_answers, namespaces)
            )
            for namesrv_addr in namesrv_addrs
        ]

    def get_route_bodies(self, namesrv_addr: str, topics: Iterable[str]) -> list[ServerResult[bytes]]:
        """Return the undecoded routes of topics from one name server (GET_ROUTEINFO_BY_TOPIC, 105).

        Args:
            namesrv_addr: The name server address.
            topics: The topics.

        Returns:
            One ServerResult per topic, in order: the body, for `parse_topic_queues`. The error is
            TopicNotExist for a topic without a route.
        """
        request_code = RequestCode.GET_ROUTEINFO_BY_TOPIC
        answers = self._caller.send_requests(
            (namesrv_addr, make_request(request_code, route_header(topic))) for topic in topics
        )
        return [answer.then(lambda response: response.body) for answer in answers]

    def get_queues_each(
        self, topics_by_addr: Mapping[str, Sequence[str]]
    ) -> dict[str, ServerResult[dict[str, TopicQueues]]]:
        """Return the queues of topics from several name servers (GET_ROUTEINFO_BY_TOPIC, 105, per topic).

        Args:
            topics_by_addr: Name server address to the topics to read there.

        Returns:
            Name server address to a ServerResult: topic to queues. A topic without a route has no queues. One
            failed request makes the result of its server an error.
        """
        # Most routes have equal bodies, because a route does not name its topic.
        parse_once = cache(parse_topic_queues)

        def parse_answer(answer: ServerResult[RemotingCommand]) -> ServerResult[TopicQueues]:
            if isinstance(answer.error, TopicNotExist):
                return ServerResult(answer.addr, NO_TOPIC_QUEUES, None)
            return decode_answer(answer, lambda response: parse_once(response.body))

        queues_by_addr = {a: ServerResult[dict[str, TopicQueues]](a, {}, None) for a in topics_by_addr}
        for batch_start in range(0, max(map(len, topics_by_addr.values()), default=0), _ROUTES_AT_ONCE):
            batch_places = [
                (namesrv_addr, topic)
                for namesrv_addr, topic_names in topics_by_addr.items()
                if queues_by_addr[namesrv_addr].error is None
                for topic in topic_names[batch_start : batch_start + _ROUTES_AT_ONCE]
            ]
            request_code = RequestCode.GET_ROUTEINFO_BY_TOPIC
            answers = self._caller.send_requests(
                (addr, make_request(request_code, route_header(topic))) for addr, topic in batch_places
            )
            for (namesrv_addr, topic), answer in zip(batch_places, answers, strict=True):
                queues_by_addr[namesrv_addr] = _add_topic_queues(
                    queues_by_addr[namesrv_addr], topic, parse_answer(answer)
                )
        return queues_by_addr


def _add_topic_queues(
    known_queues: ServerResult[dict[str, TopicQueues]], topic: str, topic_queues: ServerResult[TopicQueues]
) -> ServerResult[dict[str, TopicQueues]]:
    """Add the queues of one topic to the result of a name server. An error replaces the whole result."""
    if known_queues.result is None or topic_queues.result is None:
        return ServerResult(known_queues.addr, None, known_queues.error or topic_queues.error)
    known_queues.result[topic] = topic_queues.result
    return known_queues


def _parse_listing(
    answers: Sequence[ServerResult[RemotingCommand]], namespaces: Sequence[str]
) -> NameServerListing:
    members_answer, topics_answer, config_answer, *table_answers = answers
    clusters, broker_groups = decode_answer(members_answer, _parse_members).value()
    kv_tables = {
        namespace: decode_answer(table_answer, _parse_kv_table).value()
        for namespace, table_answer in zip(namespaces, table_answers, strict=True)
        if not isinstance(table_answer.error, QueryNotFound)
    }
    return NameServerListing(
        clusters,
        broker_groups,
        decode_answer(topics_answer, parse_topic_names).value(),
        decode_answer(config_answer, parse_config_items).value(),
        kv_tables,
    )


def _parse_members(response: RemotingCommand) -> tuple[dict[str, tuple[str, ...]], dict[str, Group]]:
    """Parse a ClusterInfo body into (cluster name to broker names, broker name to group)."""
    json_body = parse_json_object(response)
    broker_groups = {
        broker_name: broker_group
        for broker_name, broker_data in json_body.child("brokerAddrTable").sorted_children()
        if (broker_group := _parse_broker_group(broker_name, broker_data)).members
    }
    cluster_table = json_body.child("clusterAddrTable")
    brokers_by_cluster = {
        name: tuple(broker_name for broker_name in cluster_table.texts(name) if broker_name in broker_groups)
        for name in cluster_table.members
    }
    return {cluster_name: names for cluster_name, names in brokers_by_cluster.items() if names}, broker_groups


def _parse_broker_group(broker_name: str, broker_data: JsonObject) -> Group:
    """Parse a BrokerData. Acting masters and zones exist since 5.x."""
    broker_addrs = parse_broker_addrs(broker_data.child("brokerAddrs"))
    return Group(
        broker_data.text("cluster", ""),
        broker_name,
        broker_data.flag("enableActingMaster"),
        broker_data.text("zoneName", None),
        tuple(Member(*id_and_addr) for id_and_addr in broker_addrs.items()),
    )


def _parse_kv_table(response: RemotingCommand) -> NullableTexts:
    """Parse a KVTable body. A value may be null."""
    kv_table = parse_json_object(response).child("table")
    return {key: kv_table.text(key, None) for key in kv_table.members}


def parse_topic_queues(route_body: bytes) -> TopicQueues:
    """Parse the queues of a TopicRouteData body."""
    route_data = parse_json_object(RemotingCommand(0, body=route_body))
    queue_records = [_parse_queue_data(queue_item) for queue_item in route_data.children("queueDatas")]
    mappings_by_broker: dict[str | None, MappingInfo] = {
        broker_name: mapping_info
        for broker_name, route_item in route_data.child("topicQueueMappingByBroker").members.items()
        if (mapping_info := json_bodies.parse_mapping_info(route_item))
    }
    return TopicQueues({record.broker_name: record for record in queue_records}, mappings_by_broker)


def _parse_queue_data(queue_item: JsonObject) -> QueueData:
    return QueueData(
        queue_item.text("brokerName"),
        queue_item.integer("readQueueNums"),
        queue_item.integer("writeQueueNums"),
        queue_item.integer("perm"),
        queue_item.integer("topicSysFlag", queue_item.integer("topicSynFlag", 0)),
    )
