"""TopicRoute: the brokers of a topic, with their queues and permissions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import MASTER_BROKER_ID, Perm
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.json_object import JsonObject, to_integer
from nsadmin.client.connection.response_bodies import parse_broker_addrs, parse_json_object
from nsadmin.client.results import NotFound, OverReadLimit

MAX_LISTED_QUEUES = 100_000
"""More queues of a topic are not listed one by one: a registration can claim any number."""

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
    def master_addr(self) -> str | None:
        """The address of the master; None if the broker group has none now."""
        return self.broker_addrs.get(MASTER_BROKER_ID)

    @property
    def has_master(self) -> bool:
        """Whether the broker group has a master now."""
        return self.master_addr is not None

    @property
    def is_writable(self) -> bool:
        """Whether producers can write here: write permission, at least one queue, and a master."""
        return bool((self.perm or 0) & Perm.WRITE and self.write_queue_ids and self.has_master)


class LogicalQueues(NamedTuple):
    """The queues of a static topic that a scope has.

    Attributes:
        total_queues: The number of queues, which count from 0.
        mapped_ids: The ids of queues that brokers have now.
    """

    total_queues: int
    mapped_ids: frozenset[int]


class TopicRoute(NamedTuple):
    """The route of a topic.

    Attributes:
        queues: One QueueRoute per broker group, in the order of broker names.
        order_topic_conf: The order configuration, "broker-a:4;broker-b:4", or None.
        logical_queues_by_scope: For a static topic, the mock broker name of each scope to its queues.
    """

    queues: tuple[QueueRoute, ...]
    order_topic_conf: str | None
    logical_queues_by_scope: Mapping[str, LogicalQueues] = {}

    def list_logical_queues(self) -> list[tuple[str, int]]:
        """List the queues of a static topic as clients address them: pairs of (mock broker name, queue id).

        Queues that no broker has now are among them (topicRouteData2EndpointsForStaticTopic upstream).

        Raises:
            OverReadLimit: There are more than MAX_LISTED_QUEUES.
        """
        require_countable(logical.total_queues for logical in self.logical_queues_by_scope.values())
        return [
            (broker_name, queue_id)
            for broker_name, logical in sorted(self.logical_queues_by_scope.items())
            for queue_id in sorted({*range(logical.total_queues), *logical.mapped_ids})
        ]


def list_read_queues(
    queue_routes: Iterable[QueueRoute], queue_id: int | None = None
) -> list[tuple[QueueRoute, int]]:
    """List the queues that clients read, broker by broker."""
    return _list_queues([(queue_route, queue_route.read_queue_ids) for queue_route in queue_routes], queue_id)


def missing_read_queue(topic: str, queue_routes: Iterable[QueueRoute], queue_id: int) -> NotFound:
    """The error of a topic without this queue on any of the brokers."""
    queue_count = max((len(queue_route.read_queue_ids) for queue_route in queue_routes), default=0)
    held = f"queues 0 to {queue_count - 1}" if queue_count else "no read queues"
    return NotFound(f"{topic} has no queue {queue_id}: it has {held}")


def list_write_queues(queue_routes: Iterable[QueueRoute]) -> list[tuple[QueueRoute, int]]:
    """List the queues that clients write, broker by broker."""
    return _list_queues([(queue_route, queue_route.write_queue_ids) for queue_route in queue_routes], None)


def _list_queues(
    ids_of_routes: Sequence[tuple[QueueRoute, Sequence[int]]], queue_id: int | None
) -> list[tuple[QueueRoute, int]]:
    if queue_id is not None:
        return [(queue_route, queue_id) for queue_route, queue_ids in ids_of_routes if queue_id in queue_ids]
    require_countable(len(queue_ids) for _, queue_ids in ids_of_routes)
    return [(queue_route, listed_id) for queue_route, queue_ids in ids_of_routes for listed_id in queue_ids]


def require_countable(queue_counts: Iterable[int]) -> None:
    """Check that so many queues of a topic can be listed one by one."""
    queue_count = sum(queue_counts)
    if queue_count > MAX_LISTED_QUEUES:
        raise OverReadLimit(
            f"the route has {queue_count} queues, more than the {MAX_LISTED_QUEUES} that nsadmin lists"
        )


def route_header(topic: str) -> headers.GetRoute:
    """The header of GET_ROUTEINFO_BY_TOPIC (105) that requests an answer in standard JSON."""
    return headers.GetRoute(topic, accept_standard_json_only=True)


def parse_route(response: RemotingCommand) -> TopicRoute:
    """Parse the body of a route answer (TopicRouteData)."""
    json_body = parse_json_object(response)
    brokers_by_name = {item.text("brokerName"): item for item in json_body.children("brokerDatas")}
    queues_by_name = {item.text("brokerName"): item for item in json_body.children("queueDatas")}
    mappings_by_name = dict(json_body.child("topicQueueMappingByBroker").sorted_children())
    no_data = JsonObject(None)
    queue_routes = (
        _parse_queue_route(
            n, brokers_by_name.get(n, no_data), queues_by_name.get(n, no_data), mappings_by_name.get(n)
        )
        for n in sorted(brokers_by_name.keys() | queues_by_name.keys())
    )
    return TopicRoute(
        tuple(queue_routes), json_body.text("orderTopicConf", None), _parse_scopes(mappings_by_name.values())
    )


def _parse_queue_route(
    broker_name: str, broker_data: JsonObject, queue_data: JsonObject, queue_mapping: JsonObject | None
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


def _parse_scopes(queue_mappings: Iterable[JsonObject]) -> dict[str, LogicalQueues]:
    """Parse the logical queues by mock broker name (TopicQueueMappingUtils#getMockBrokerName)."""
    queues_by_scope: dict[str, LogicalQueues] = {}
    for queue_mapping in queue_mappings:
        scope = queue_mapping.text("scope", "") or _GLOBAL_SCOPE
        broker_name = _LOGICAL_BROKER_PREFIX + (scope.removeprefix("__") if scope == _GLOBAL_SCOPE else scope)
        earlier = queues_by_scope.get(broker_name, LogicalQueues(0, frozenset()))
        queues_by_scope[broker_name] = LogicalQueues(
            max(earlier.total_queues, queue_mapping.integer("totalQueues", 0)),
            earlier.mapped_ids | _parse_logical_queues(queue_mapping).keys(),
        )
    return queues_by_scope
