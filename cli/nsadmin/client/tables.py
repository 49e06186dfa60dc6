"""Tables: all that one name server tells of what it knows, for who looks at it again and again."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from namesrv_core.errors import QueryNotFound
from namesrv_core.events import Group, MappingInfo, Member, QueueData
from namesrv_core.protocol import bodies, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import broker_addrs, config_items, json_object, texts, topic_names
from nsadmin.client.caller import Caller
from nsadmin.client.results import ServerResult
from nsadmin.client.retry import decoded
from nsadmin.client.routes import get_route

T = TypeVar("T")
Texts = Mapping[str, str | None]


class Listed(NamedTuple):
    """What a name server tells at once: who is there, names of topics, settings, KV config by namespace.

    A group without members is left out, and so is a namespace that is not there.
    """

    clusters: Mapping[str, Sequence[str]]
    groups: Mapping[str, Group]
    topics: Sequence[str]
    settings: Mapping[str, str]
    kv: Mapping[str, Texts]


class Queues(NamedTuple):
    """A topic's queues, and those of a static topic, by broker name."""

    queues: Mapping[str, QueueData]
    mappings: Mapping[str | None, MappingInfo]


class Tables:
    """`admin.tables`: one name server is asked, and no other instead of it."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def listed(self, addr: str, namespaces: Sequence[str]) -> Listed:
        """All but the routes. RocketMQError if one of the answers is missing, naming the request."""
        asked = [
            request(RequestCode.GET_BROKER_CLUSTER_INFO),
            request(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER),
            request(RequestCode.GET_NAMESRV_CONFIG),
            *(
                request(RequestCode.GET_KVLIST_BY_NAMESPACE, headers.write(headers.KvNamespace(namespace)))
                for namespace in namespaces
            ),
        ]
        members, topics, config, *tables = self._caller.ask((addr, command) for command in asked)
        clusters, groups = _sure(decoded(members, _members))
        kv = {
            namespace: _sure(decoded(found, _table))
            for namespace, found in zip(namespaces, tables, strict=True)
            if not isinstance(found.error, QueryNotFound)
        }
        return Listed(
            clusters, groups, _sure(decoded(topics, topic_names)), _sure(decoded(config, config_items)), kv
        )

    def route_bodies(self, addr: str, topics: Iterable[str]) -> list[ServerResult[bytes]]:
        """The route of each topic as it came; `queues_of` reads it. TopicNotExist for one without."""
        code = RequestCode.GET_ROUTEINFO_BY_TOPIC
        answers = self._caller.ask((addr, request(code, get_route(topic))) for topic in topics)
        return [answer.then(lambda command: command.body) for answer in answers]


def _sure(result: ServerResult[T]) -> T:
    if result.error is not None:
        raise result.error
    assert result.result is not None
    return result.result


def _members(command: Command) -> tuple[dict[str, tuple[str, ...]], dict[str, Group]]:
    """ClusterInfo."""
    body = json_object(command)
    found: Mapping[str, Any] = body.get("brokerAddrTable") or {}
    groups = {name: group for name, item in found.items() if (group := _group(name, item)).members}
    listed: Mapping[str, Any] = body.get("clusterAddrTable") or {}
    names = {
        cluster: tuple(name for name in texts(each) if name in groups) for cluster, each in listed.items()
    }
    return {cluster: each for cluster, each in names.items() if each}, groups


def _group(name: str, item: Mapping[str, Any] | None) -> Group:
    """BrokerData; acting masters and zones are of 5.x."""
    item = item or {}
    members = tuple(Member(*pair) for pair in broker_addrs(item.get("brokerAddrs")).items())
    acting = bodies.as_bool(item.get("enableActingMaster"))
    return Group(str(item.get("cluster") or ""), name, acting, item.get("zoneName"), members)


def _table(command: Command) -> Texts:
    """KVTable; a value may be null."""
    table: Mapping[str, Any] = json_object(command).get("table") or {}
    return {key: None if value is None else str(value) for key, value in table.items()}


def queues_of(body: bytes) -> Queues:
    """TopicRouteData, but for the brokers' addresses. ValueError, TypeError, KeyError for what is none."""
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
