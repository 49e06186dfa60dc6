"""TopicRoute: the brokers of a topic, with their queues and permissions."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import MASTER_BROKER_ID, Perm
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.json_object import JsonObject, to_integer
from nsadmin.client.connection.response_bodies import parse_broker_addrs, parse_json_object

_GLOBAL_SCOPE, _LOGICAL_BROKER_PREFIX = "__global__", "__syslo__"


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
    def read_queue_ids(self) -> Sequence[int]:
        """The ids of the queues that clients read here; logical ids for a static topic."""
        return range(self.read_queue_nums or 0) if self.logical_queues is None else [*self.logical_queues]

    @property
    def write_queue_ids(self) -> Sequence[int]:
        """The ids of the queues that clients write here; logical ids for a static topic."""
        return range(self.write_queue_nums or 0) if self.logical_queues is None else [*self.logical_queues]

    @property
    def has_master(self) -> bool:
        """Whether the broker group has a master now."""
        return MASTER_BROKER_ID in self.broker_addrs

    @property
    def is_writable(self) -> bool:
        """Whether producers can write here: write permission, at least one queue, and a master."""
        may_write = (self.perm or 0) & Perm.WRITE and self.write_queue_ids
        return bool(may_write and self.has_master)


class TopicRoute(NamedTuple):
    """The route of a topic.

    Attributes:
        queues: One QueueRoute per broker group, in the order of broker names.
        order_topic_conf: The order configuration, "broker-a:4;broker-b:4", or None.
        logical_queues: For a static topic, its queues as clients address them: pairs of (mock broker name,
            queue id), also queues that no broker has now (topicRouteData2EndpointsForStaticTopic upstream).
    """

    queues: tuple[QueueRoute, ...]
    order_topic_conf: str | None
    logical_queues: frozenset[tuple[str, int]] = frozenset()


def route_ext_fields(topic: str) -> dict[str, str]:
    """Return the header fields of GET_ROUTEINFO_BY_TOPIC (105) that request an answer in standard JSON.

    Args:
        topic: The topic.
    """
    return headers.write_header(headers.GetRoute(topic, accept_standard_json_only=True))


def parse_route(response: RemotingCommand) -> TopicRoute:
    """Parse the body of a route answer (TopicRouteData).

    Args:
        response: The answer to GET_ROUTEINFO_BY_TOPIC (105).

    Returns:
        The route; without queues for an empty body.

    Raises:
        ValueError: The body is not a route.
    """
    json_body = parse_json_object(response)
    brokers_by_name = {item.text("brokerName"): item for item in json_body.children("brokerDatas")}
    queues_by_name = {item.text("brokerName"): item for item in json_body.children("queueDatas")}
    mappings_by_name = dict(json_body.child("topicQueueMappingByBroker").sorted_children())
    no_data = JsonObject(None)
    queue_routes = (
        _parse_queue_route(
            broker_name,
            brokers_by_name.get(broker_name, no_data),
            queues_by_name.get(broker_name, no_data),
            mappings_by_name.get(broker_name),
        )
        for broker_name in sorted(brokers_by_name.keys() | queues_by_name.keys())
    )
    logical_queues = frozenset().union(*map(_list_client_queues, mappings_by_name.values()))
    return TopicRoute(tuple(queue_routes), json_body.text("orderTopicConf", None), logical_queues)


def _parse_queue_route(
    broker_name: str,
    broker_data: JsonObject,
    queue_data: JsonObject,
    queue_mapping: JsonObject | None,
) -> QueueRoute:
    return QueueRoute(
        broker_name,
        broker_data.text("cluster", None),
        parse_broker_addrs(broker_data.child("brokerAddrs")),
        queue_data.integer("perm", None),
        queue_data.integer("readQueueNums", None),
        queue_data.integer("writeQueueNums", None),
        queue_data.integer("topicSysFlag", queue_data.integer("topicSynFlag", None)),
        None if queue_mapping is None else _parse_logical_queues(queue_mapping),
    )


def _parse_logical_queues(queue_mapping: JsonObject) -> dict[int, int]:
    """Parse the current queue ids of a TopicQueueMappingInfo."""
    current_ids = queue_mapping.child("currIdMap")
    return dict(
        sorted(
            (to_integer(logical_id, "a logical queue"), current_ids.integer(logical_id))
            for logical_id in current_ids.members
        )
    )


def _list_client_queues(queue_mapping: JsonObject) -> set[tuple[str, int]]:
    """List all queues as clients address them (TopicQueueMappingUtils#getMockBrokerName)."""
    scope = queue_mapping.text("scope", "") or _GLOBAL_SCOPE
    broker_name = _LOGICAL_BROKER_PREFIX + (scope.removeprefix("__") if scope == _GLOBAL_SCOPE else scope)
    queue_ids = {*range(queue_mapping.integer("totalQueues", 0)), *_parse_logical_queues(queue_mapping)}
    return {(broker_name, queue_id) for queue_id in queue_ids}
