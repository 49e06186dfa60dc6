"""Facts about a topic as a test tells them: one name server, one broker, both well unless said otherwise."""

from collections.abc import Mapping, Sequence
from typing import Any

from namesrv_core.errors import RequestError, RocketMQError, TopicNotExist
from namesrv_core.transport.calls import CallError
from nsadmin.client.clusters import BrokerGroup, ClusterInfo
from nsadmin.client.results import ServerResult
from nsadmin.client.routes import QueueRoute, TopicRoute
from nsadmin.client.topic_configs import TopicConfig
from nsadmin.client.topic_views import BrokerView, NameServerView
from nsadmin.operations.explain.facts import Facts, Question
from nsadmin.operations.explain.findings import Finding, Step

NS, OTHER_NS = "ns-1:9876", "ns-2:9876"
MASTER, SLAVE = "h:1", "h:2"
NO_ROUTE = TopicNotExist("No topic route info")
NOT_READY = RequestError("name server not ready", 1)


def silence(addr: str) -> CallError:
    return CallError(addr, "unconnected", "connection refused")


def queue(
    name: str = "a", addrs: Mapping[int, str] | None = None, perm: int | None = 6, **more: Any
) -> QueueRoute:
    values: dict[str, Any] = {"read_queue_nums": 8, "write_queue_nums": 8, **more}
    found = {0: MASTER} if addrs is None else dict(addrs)
    return QueueRoute(name, "C" if found else None, found, perm, topic_sys_flag=0, **values)


def view(
    *queues: QueueRoute,
    addr: str = NS,
    error: RocketMQError | None = None,
    members: Mapping[str, Mapping[int, str]] | None = None,
    order: str | None = None,
    **more: Any,
) -> NameServerView:
    """A name server with these queues; with none of them it has no route. `members` are who is registered."""
    failure = error or (None if queues else NO_ROUTE)
    there = {"a": {0: MASTER}} if members is None else members
    groups = tuple(BrokerGroup("C", name, dict(addrs)) for name, addrs in there.items())
    clusters = ClusterInfo(("C",) if groups else (), groups)
    is_silent = isinstance(error, CallError)
    return NameServerView(
        addr,
        ServerResult(addr, None if failure else TopicRoute(queues, order), failure),
        ServerResult(addr, None if is_silent else clusters, error if is_silent else None),
        more.pop("default_route", ServerResult(addr, TopicRoute((queue(perm=7),), None), None)),
        ServerResult(addr, more.pop("kv", order), None),
        ServerResult(addr, {"waitSecondsForService": "45"}, None),
        **more,
    )


def broker(
    addr: str = MASTER,
    name: str = "a",
    *,
    perm: int | None = 6,
    lists: str = NS,
    error: RocketMQError | None = None,
    **config: str,
) -> BrokerView:
    """A master that has the topic with `perm`, or for None has not; with an error it tells nothing."""
    items = {"brokerName": name, "brokerId": "0", "brokerRole": "ASYNC_MASTER", "brokerPermission": "6"}
    items |= {"namesrvAddr": lists, "autoCreateTopicEnable": "true", **config}
    topic = None if perm is None else TopicConfig("T", 8, 8, perm)
    return BrokerView(
        addr,
        ServerResult(addr, None if error else items, error),
        ServerResult(addr, None if error else topic, error or (NO_ROUTE if topic is None else None)),
    )


def facts(
    views: Sequence[NameServerView],
    brokers: Sequence[BrokerView] | None = None,
    question: Any = None,
    **more: Any,
) -> Facts:
    asked = Question("T") if question is None else question
    return Facts(asked, tuple(views), (broker(),) if brokers is None else tuple(brokers), **more)


def looked(steps: Sequence[Step], id_: str, told: Facts) -> list[Finding]:
    """What one step finds; where it finds nothing, what it says then."""
    step = next(step for step in steps if step.id == id_)
    found = list(step.look(told))
    if found:
        return found
    return [Finding("ok", step.well) if isinstance(step.well, str) else step.well(told)]
