"""`admin.name_server_tables`: the complete tables of one name server, for repeated polling."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from namesrv_core.errors import QueryNotFound, TopicNotExist
from namesrv_core.events import Group, MappingInfo, Member, QueueData
from namesrv_core.protocol import bodies, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import broker_addrs, config_items, json_object, texts, topic_names
from nsadmin.client.caller import Caller
from nsadmin.client.results import SameServer, ServerResult
from nsadmin.client.retry import decoded
from nsadmin.client.routes import get_route

T = TypeVar("T")
Texts = Mapping[str, str | None]


class Listed(NamedTuple):
    """The tables of a name server without the routes.

    Attributes:
        clusters: Cluster name to broker names. Broker groups without members are left out.
        groups: Broker name to its group.
        topics: The topic names in order.
        settings: Key to value of the configuration.
        kv: Namespace to key to value of the KV config. Missing namespaces are left out.
    """

    clusters: Mapping[str, Sequence[str]]
    groups: Mapping[str, Group]
    topics: Sequence[str]
    settings: Mapping[str, str]
    kv: Mapping[str, Texts]


class Queues(NamedTuple):
    """The queues of a topic.

    Attributes:
        queues: Broker name to its queues.
        mappings: For a static topic, broker name to its queue mapping.
    """

    queues: Mapping[str, QueueData]
    mappings: Mapping[str | None, MappingInfo]


NO_QUEUES = Queues({}, {})

_AT_ONCE = 1000
"""The number of undecoded routes per name server to hold in memory."""


class Tables:
    """`admin.name_server_tables`: the tables of each name server. No server answers in place of another."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def witnesses(self, answers: Sequence[ServerResult[T]]) -> list[ServerResult[T]]:
        """Replace the answer of a server that occurs under a second address by the error DuplicateServer.

        Compares the peers of the open connections, so call it after a request to these servers.

        Returns:
            One ServerResult per answer, in order.
        """
        known: dict[Any, str] = {}
        found = []
        for answer in answers:
            place = self._caller.place(answer.addr)
            first = known.setdefault(answer.addr if place is None else place, answer.addr)
            same = SameServer(f"it is {first}, by another name")
            found.append(answer if first == answer.addr else ServerResult(answer.addr, None, same))
        return found

    def listed(self, addr: str, namespaces: Sequence[str]) -> Listed:
        """Return the tables of one name server without the routes.

        Sends GET_BROKER_CLUSTER_INFO (106), GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206), GET_NAMESRV_CONFIG
        (319), and GET_KVLIST_BY_NAMESPACE (219) per namespace.

        Raises:
            RocketMQError: One of the requests failed.
        """
        return _sure(self.listed_each([addr], namespaces)[0])

    def listed_each(self, addrs: Iterable[str], namespaces: Sequence[str]) -> list[ServerResult[Listed]]:
        """Return `get_listing` of several name servers, asked at once: one ServerResult per address."""
        asked = [
            request(RequestCode.GET_BROKER_CLUSTER_INFO),
            request(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER),
            request(RequestCode.GET_NAMESRV_CONFIG),
            *(
                request(RequestCode.GET_KVLIST_BY_NAMESPACE, headers.write(headers.KvNamespace(namespace)))
                for namespace in namespaces
            ),
        ]
        addrs = list(addrs)
        answers = iter(self._caller.ask((addr, command) for addr in addrs for command in asked))
        return [
            ServerResult(addr, tuple(islice(answers, len(asked))), None).then(
                lambda of_one: _listed(of_one, namespaces)
            )
            for addr in addrs
        ]

    def route_bodies(self, addr: str, topics: Iterable[str]) -> list[ServerResult[bytes]]:
        """Return the undecoded routes of topics from one name server (GET_ROUTEINFO_BY_TOPIC, 105).

        Returns:
            One ServerResult per topic, in order: the body, for `parse_topic_queues`. The error is
            TopicNotExist for a topic without a route.
        """
        code = RequestCode.GET_ROUTEINFO_BY_TOPIC
        answers = self._caller.ask((addr, request(code, get_route(topic))) for topic in topics)
        return [answer.then(lambda command: command.body) for answer in answers]

    def queues_each(self, topics: Mapping[str, Sequence[str]]) -> dict[str, ServerResult[dict[str, Queues]]]:
        """Return the queues of topics from several name servers (GET_ROUTEINFO_BY_TOPIC, 105, per topic).

        Args:
            topics_by_addr: Name server address to the topics to read there.

        Returns:
            Name server address to a ServerResult: topic to queues. A topic without a route has no queues. One
            failed request makes the result of its server an error.
        """
        read = _QueueReader()
        found = {addr: ServerResult[dict[str, Queues]](addr, {}, None) for addr in topics}
        for begin in range(0, max(map(len, topics.values()), default=0), _AT_ONCE):
            asked = [
                (addr, topic)
                for addr, names in topics.items()
                if found[addr].error is None
                for topic in names[begin : begin + _AT_ONCE]
            ]
            code = RequestCode.GET_ROUTEINFO_BY_TOPIC
            answers = self._caller.ask((addr, request(code, get_route(topic))) for addr, topic in asked)
            for (addr, topic), answer in zip(asked, answers, strict=True):
                found[addr] = _with_queues(found[addr], topic, read(answer))
        return found


class _QueueReader:
    """Parses each distinct route body once. Most are equal, because a route does not name its topic."""

    def __init__(self) -> None:
        self._read: dict[bytes, Queues] = {}

    def __call__(self, answer: ServerResult[Command]) -> ServerResult[Queues]:
        if isinstance(answer.error, TopicNotExist):
            return ServerResult(answer.addr, NO_QUEUES, None)
        return decoded(answer, self._queues)

    def _queues(self, command: Command) -> Queues:
        body = command.body
        if body not in self._read:
            self._read[body] = queues_of(body)
        return self._read[body]


def _with_queues(
    known: ServerResult[dict[str, Queues]], topic: str, queues: ServerResult[Queues]
) -> ServerResult[dict[str, Queues]]:
    """Add the queues of one topic to the result of a name server. An error replaces the whole result."""
    if known.result is None or queues.result is None:
        return ServerResult(known.addr, None, known.error or queues.error)
    known.result[topic] = queues.result
    return known


def _listed(answers: Sequence[ServerResult[Command]], namespaces: Sequence[str]) -> Listed:
    members, topics, config, *tables = answers
    clusters, groups = _sure(decoded(members, _members))
    kv = {
        namespace: _sure(decoded(found, _table))
        for namespace, found in zip(namespaces, tables, strict=True)
        if not isinstance(found.error, QueryNotFound)
    }
    return Listed(
        clusters, groups, _sure(decoded(topics, topic_names)), _sure(decoded(config, config_items)), kv
    )


def _sure(result: ServerResult[T]) -> T:
    if result.error is not None:
        raise result.error
    assert result.result is not None
    return result.result


def _members(command: Command) -> tuple[dict[str, tuple[str, ...]], dict[str, Group]]:
    """Parse a ClusterInfo body into (cluster name to broker names, broker name to group)."""
    body = json_object(command)
    found: Mapping[str, Any] = body.get("brokerAddrTable") or {}
    groups = {name: group for name, item in found.items() if (group := _group(name, item)).members}
    listed: Mapping[str, Any] = body.get("clusterAddrTable") or {}
    names = {
        cluster: tuple(name for name in texts(each) if name in groups) for cluster, each in listed.items()
    }
    return {cluster: each for cluster, each in names.items() if each}, groups


def _group(name: str, item: Mapping[str, Any] | None) -> Group:
    """Parse a BrokerData. Acting masters and zones exist since 5.x."""
    item = item or {}
    members = tuple(Member(*pair) for pair in broker_addrs(item.get("brokerAddrs")).items())
    acting = bodies.as_bool(item.get("enableActingMaster"))
    return Group(str(item.get("cluster") or ""), name, acting, item.get("zoneName"), members)


def _table(command: Command) -> Texts:
    """Parse a KVTable body. A value may be null."""
    table: Mapping[str, Any] = json_object(command).get("table") or {}
    return {key: None if value is None else str(value) for key, value in table.items()}


def queues_of(body: bytes) -> Queues:
    """Parse the queues of a TopicRouteData body.

    Raises:
        ValueError, TypeError, KeyError: The body is not a TopicRouteData.
    """
    value = json_object(Command(0, body=body))
    queues = [_queue(item) for item in value.get("queueDatas") or ()]
    mapped: Mapping[str, Any] = value.get("topicQueueMappingByBroker") or {}
    mappings: dict[str | None, MappingInfo] = {
        name: info for name, item in mapped.items() if (info := bodies.mapping_info(item))
    }
    return Queues({queue.broker_name: queue for queue in queues}, mappings)


def _queue(item: Mapping[str, Any]) -> QueueData:
    flag = item.get("topicSysFlag", item.get("topicSynFlag", 0))
    return QueueData(
        item["brokerName"], item["readQueueNums"], item["writeQueueNums"], item["perm"], flag or 0
    )
