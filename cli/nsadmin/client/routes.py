"""Routes: which brokers have a topic, with how many queues and which permission."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import MASTER_ID, Perm
from namesrv_core.protocol.command import Command
from nsadmin.client.bodies import broker_addrs, json_object

_GLOBAL, _LOGICAL = "__global__", "__syslo__"


class QueueRoute(NamedTuple):
    """A topic on one broker group.

    `broker_addrs` is broker id (0 is the master) to "host:port". `perm` has the bits 4 read, 2 write,
    1 inherit; it and the numbers are None for a broker that the route lists without queues, and
    `cluster_name` is None for queues of a broker that has left. A static topic has `logical_queues`: those
    that are written on this broker, by id, and which of its own queues each of them is there.
    """

    broker_name: str
    cluster_name: str | None
    broker_addrs: dict[int, str]
    perm: int | None
    read_queue_nums: int | None
    write_queue_nums: int | None
    topic_sys_flag: int | None
    logical_queues: Mapping[int, int] | None = None

    @property
    def any_addr(self) -> str | None:
        """The master's address, else that of the slave with the lowest id."""
        return next(iter(self.broker_addrs.values()), None)

    @property
    def read_ids(self) -> Sequence[int]:
        """The numbers by which its queues are read."""
        return range(self.read_queue_nums or 0) if self.logical_queues is None else [*self.logical_queues]

    @property
    def write_ids(self) -> Sequence[int]:
        """The numbers by which its queues are written."""
        return range(self.write_queue_nums or 0) if self.logical_queues is None else [*self.logical_queues]

    @property
    def has_master(self) -> bool:
        """Whether there is a master now."""
        return MASTER_ID in self.broker_addrs

    @property
    def is_writable(self) -> bool:
        """Whether producers may write to it: permission, a queue, and a master to take messages."""
        may_write = (self.perm or 0) & Perm.WRITE and self.write_ids
        return bool(may_write and self.has_master)


class TopicRoute(NamedTuple):
    """Where a topic lives, in the order of broker names.

    Clients read the queues of a static topic as those of a broker that does not exist: these are `logical`,
    as (name, queue id), of whatever broker has them or even none (topicRouteData2EndpointsForStaticTopic).
    """

    queues: tuple[QueueRoute, ...]
    order_topic_conf: str | None
    logical: frozenset[tuple[str, int]] = frozenset()


def get_route(topic: str) -> dict[str, str]:
    """The ext fields of GET_ROUTEINFO_BY_TOPIC, for an answer in standard JSON."""
    return headers.write(headers.GetRoute(topic, accept_standard_json_only=True))


def route_of(command: Command) -> TopicRoute:
    """TopicRouteData."""
    body = json_object(command)
    brokers = {item["brokerName"]: item for item in body.get("brokerDatas") or ()}
    queues = {item["brokerName"]: item for item in body.get("queueDatas") or ()}
    mapped: Mapping[str, Any] = body.get("topicQueueMappingByBroker") or {}
    routes = (
        _queue_route(name, brokers.get(name, {}), queues.get(name, {}), mapped.get(name))
        for name in sorted(brokers.keys() | queues.keys())
    )
    logical = frozenset().union(*map(_as_clients_read, mapped.values()))
    return TopicRoute(tuple(routes), body.get("orderTopicConf"), logical)


def _queue_route(
    name: str, broker: Mapping[str, Any], queue: Mapping[str, Any], mapping: Mapping[str, Any] | None
) -> QueueRoute:
    return QueueRoute(
        name,
        broker.get("cluster"),
        broker_addrs(broker.get("brokerAddrs")),
        queue.get("perm"),
        queue.get("readQueueNums"),
        queue.get("writeQueueNums"),
        queue.get("topicSysFlag", queue.get("topicSynFlag")),
        None if mapping is None else _logical_queues(mapping),
    )


def _logical_queues(mapping: Mapping[str, Any]) -> dict[int, int]:
    """TopicQueueMappingInfo."""
    current: Mapping[str, Any] = mapping.get("currIdMap") or {}
    return dict(sorted((int(logical), int(own)) for logical, own in current.items()))


def _as_clients_read(mapping: Mapping[str, Any]) -> set[tuple[str, int]]:
    """TopicQueueMappingUtils#getMockBrokerName; a queue that no broker has is nevertheless there."""
    scope = mapping.get("scope") or _GLOBAL
    broker_name = _LOGICAL + (scope.removeprefix("__") if scope == _GLOBAL else scope)
    ids = {*range(int(mapping.get("totalQueues") or 0)), *_logical_queues(mapping)}
    return {(broker_name, number) for number in ids}
