"""Facts about a topic as a test tells them: one name server, one broker, both well unless said otherwise."""

from collections.abc import Mapping, Sequence
from typing import Any

from namesrv_core.errors import RequestError, RocketMQError, TopicNotExist
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.brokers.clusters import BrokerAddrGroup, ClusterInfo
from nsadmin.client.results import ServerResult
from nsadmin.client.topic_routes import QueueRoute, TopicRoute
from nsadmin.client.topics.topic_configs import BrokerTopicConfig
from nsadmin.client.topics.topic_views import BrokerTopicView, NameServerTopicView
from nsadmin.operations.explain.facts import RouteFacts, RouteQuestion
from nsadmin.operations.explain.findings import CauseCheck, CauseFinding

NS, OTHER_NS = "ns-1:9876", "ns-2:9876"
MASTER, SLAVE = "h:1", "h:2"
NO_ROUTE = TopicNotExist("No topic route info")
NOT_READY = RequestError("name server not ready", 1)


def refused_connection(addr: str) -> CallError:
    return CallError(addr, "unconnected", "connection refused")


def make_queue_route(
    name: str = "a", addrs: Mapping[int, str] | None = None, perm: int | None = 6, **more: Any
) -> QueueRoute:
    values: dict[str, Any] = {"read_queue_nums": 8, "write_queue_nums": 8, **more}
    broker_addrs = {0: MASTER} if addrs is None else dict(addrs)
    return QueueRoute(name, "C" if broker_addrs else None, broker_addrs, perm, topic_sys_flag=0, **values)


def make_server_view(
    *queues: QueueRoute,
    addr: str = NS,
    error: RocketMQError | None = None,
    members: Mapping[str, Mapping[int, str]] | None = None,
    order: str | None = None,
    **more: Any,
) -> NameServerTopicView:
    """A name server with these queues; with none of them it has no route. `members` are who is registered."""
    failure = error or (None if queues else NO_ROUTE)
    there = {"a": {0: MASTER}} if members is None else members
    groups = tuple(BrokerAddrGroup("C", name, dict(addrs)) for name, addrs in there.items())
    clusters = ClusterInfo(("C",) if groups else (), groups)
    is_silent = isinstance(error, CallError)
    return NameServerTopicView(
        addr,
        ServerResult(addr, None if failure else TopicRoute(queues, order), failure),
        ServerResult(addr, None if is_silent else clusters, error if is_silent else None),
        more.pop("default_route", ServerResult(addr, TopicRoute((make_queue_route(perm=7),), None), None)),
        ServerResult(addr, more.pop("kv", order), None),
        ServerResult(addr, {"waitSecondsForService": "45"}, None),
        **more,
    )


def make_broker_view(
    addr: str = MASTER,
    name: str = "a",
    *,
    perm: int | None = 6,
    lists: str = NS,
    error: RocketMQError | None = None,
    **config: str,
) -> BrokerTopicView:
    """A master that has the topic with `perm`, or for None has not; with an error it tells nothing."""
    items = {"brokerName": name, "brokerId": "0", "brokerRole": "ASYNC_MASTER", "brokerPermission": "6"}
    items |= {"namesrvAddr": lists, "autoCreateTopicEnable": "true", **config}
    topic = None if perm is None else BrokerTopicConfig("T", 8, 8, perm)
    return BrokerTopicView(
        addr,
        ServerResult(addr, None if error else items, error),
        ServerResult(addr, None if error else topic, error or (NO_ROUTE if topic is None else None)),
    )


def make_facts(
    views: Sequence[NameServerTopicView],
    brokers: Sequence[BrokerTopicView] | None = None,
    question: Any = None,
    **more: Any,
) -> RouteFacts:
    asked = RouteQuestion("T") if question is None else question
    return RouteFacts(
        asked, tuple(views), (make_broker_view(),) if brokers is None else tuple(brokers), **more
    )


def run_check(steps: Sequence[CauseCheck[RouteFacts]], id_: str, told: RouteFacts) -> list[CauseFinding]:
    """What one step finds; where it finds nothing, what it says then."""
    step = next(step for step in steps if step.id == id_)
    findings = list(step.find_problems(told))
    if findings:
        return findings
    return [CauseFinding("ok", step.all_clear) if isinstance(step.all_clear, str) else step.all_clear(told)]
