"""TopicRoute: the brokers of a topic, with their queues and permissions."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import MASTER_ID, Perm
from namesrv_core.protocol.command import Command
from nsadmin.client.bodies import broker_addrs, json_object

_GLOBAL, _LOGICAL = "__global__", "__syslo__"


class QueueRoute(NamedTuple):
    """A topic on one broker group.

    Attributes:
        broker_name: The name of the broker group.
        cluster_name: The cluster; None for queues of a broker that is no longer registered.
        broker_addrs: Broker id (0 is the master) to "host:port", in the order of ids.
        perm: Permission bits: 4 read, 2 write, 1 inherit. None if the route lists the broker without queues.
        read_queue_nums: The number of read queues; None like `perm`.
        write_queue_nums: The number of write queues; None like `perm`.
        topic_sys_flag: The flags of the topic; None like `perm`.
        logical_queues: For a static topic, the logical queues that are written on this broker: logical
            queue id to the id of the broker's own queue. None for other topics.
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
        """The master's address, else that of the slave with the lowest id; None without an address."""
        return next(iter(self.broker_addrs.values()), None)

    @property
    def read_ids(self) -> Sequence[int]:
        """The ids of the queues that clients read here; logical ids for a static topic."""
        return range(self.read_queue_nums or 0) if self.logical_queues is None else [*self.logical_queues]

    @property
    def write_ids(self) -> Sequence[int]:
        """The ids of the queues that clients write here; logical ids for a static topic."""
        return range(self.write_queue_nums or 0) if self.logical_queues is None else [*self.logical_queues]

    @property
    def has_master(self) -> bool:
        """Whether the broker group has a master now."""
        return MASTER_ID in self.broker_addrs

    @property
    def is_writable(self) -> bool:
        """Whether producers can write here: write permission, at least one queue, and a master."""
        may_write = (self.perm or 0) & Perm.WRITE and self.write_ids
        return bool(may_write and self.has_master)


class TopicRoute(NamedTuple):
    """The route of a topic.

    Attributes:
        queues: One QueueRoute per broker group, in the order of broker names.
        order_topic_conf: The order configuration, "broker-a:4;broker-b:4"; None without one.
        logical_queues: For a static topic, its queues as clients address them: pairs of (mock broker name,
            queue id), also queues that no broker has now (topicRouteData2EndpointsForStaticTopic upstream).
    """

    queues: tuple[QueueRoute, ...]
    order_topic_conf: str | None
    logical: frozenset[tuple[str, int]] = frozenset()


def get_route(topic: str) -> dict[str, str]:
    """Return the header fields of GET_ROUTEINFO_BY_TOPIC (105) that request an answer in standard JSON."""
    return headers.write(headers.GetRoute(topic, accept_standard_json_only=True))


def route_of(command: Command) -> TopicRoute:
    """Parse the body of a route answer (TopicRouteData)."""
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
    """Parse the current queue ids of a TopicQueueMappingInfo."""
    current: Mapping[str, Any] = mapping.get("currIdMap") or {}
    return dict(sorted((int(logical), int(own)) for logical, own in current.items()))


def _as_clients_read(mapping: Mapping[str, Any]) -> set[tuple[str, int]]:
    """List all queues as clients address them (TopicQueueMappingUtils#getMockBrokerName)."""
    scope = mapping.get("scope") or _GLOBAL
    broker_name = _LOGICAL + (scope.removeprefix("__") if scope == _GLOBAL else scope)
    ids = {*range(int(mapping.get("totalQueues") or 0)), *_logical_queues(mapping)}
    return {(broker_name, number) for number in ids}
