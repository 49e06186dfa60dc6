"""Topic views: what each name server tells about one topic, and what brokers do, for who compares them.

Law: one name server never stands in for another, and all of one is asked in one round.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from namesrv_core.errors import QueryNotFound
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import config_items, topic_names
from nsadmin.client.broker_configs import BrokerConfigs, Config
from nsadmin.client.caller import Caller
from nsadmin.client.clusters import ClusterInfo, cluster_info
from nsadmin.client.order_conf import NAMESPACE
from nsadmin.client.results import ServerResult, is_not_found, is_unreachable
from nsadmin.client.retry import decoded
from nsadmin.client.routes import TopicRoute, get_route, route_of
from nsadmin.client.topic_configs import DEFAULT_TOPIC, TopicConfig, TopicConfigs


class NameServerView(NamedTuple):
    """What one name server tells; each answer has an error of its own.

    `default_route` is that of the topic whose brokers create topics by themselves. `order_conf` is the
    topic's entry, None where there is none. `zone_route` is what a client of a zone gets, None where nobody
    asked. `names` are all topics, asked of a server that has no route; else None.
    """

    addr: str
    route: ServerResult[TopicRoute]
    members: ServerResult[ClusterInfo]
    default_route: ServerResult[TopicRoute]
    order_conf: ServerResult[str | None]
    config: ServerResult[Config]
    zone_route: ServerResult[TopicRoute] | None = None
    names: ServerResult[tuple[str, ...]] | None = None

    @property
    def is_silent(self) -> bool:
        """Whether it could not be reached."""
        return is_unreachable(self.route.error)

    @property
    def has_no_route(self) -> bool:
        """Whether it says that there is none, which is an answer."""
        return is_not_found(self.route.error)


class BrokerView(NamedTuple):
    """What one broker process tells: its settings, and how it has the topic (TopicNotExist: it has not)."""

    addr: str
    config: ServerResult[Config]
    topic: ServerResult[TopicConfig]

    @property
    def broker_name(self) -> str | None:
        """What it calls itself."""
        return (self.config.result or {}).get("brokerName")


class TopicViews:
    """`admin.topic_views`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def of_name_servers(
        self, addrs: Iterable[str], topic: str, zone: str | None = None
    ) -> list[NameServerView]:
        """What these name servers tell of a topic, and to a client of a `zone`, in their order."""
        asked = [
            request(RequestCode.GET_ROUTEINFO_BY_TOPIC, get_route(topic)),
            request(RequestCode.GET_BROKER_CLUSTER_INFO),
            request(RequestCode.GET_ROUTEINFO_BY_TOPIC, get_route(DEFAULT_TOPIC)),
            request(RequestCode.GET_KV_CONFIG, headers.write(headers.KvKey(NAMESPACE, topic))),
            request(RequestCode.GET_NAMESRV_CONFIG),
        ]
        if zone is not None:
            of_zone = headers.GetRoute(topic, True, zone_mode=True, zone_name=zone)
            asked.append(request(RequestCode.GET_ROUTEINFO_BY_TOPIC, headers.write(of_zone)))
        addrs = list(dict.fromkeys(addrs))
        answers = self._caller.ask((addr, command) for addr in addrs for command in asked)
        width = len(asked)
        views = [_view(addr, answers[at * width : (at + 1) * width]) for at, addr in enumerate(addrs)]
        return self._with_names(views)

    def _with_names(self, views: list[NameServerView]) -> list[NameServerView]:
        lacking = [view.addr for view in views if view.has_no_route]
        code = RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER
        found = {answer.addr: decoded(answer, topic_names) for answer in self._caller.ask_each(lacking, code)}
        return [view._replace(names=found.get(view.addr)) for view in views]

    def of_brokers(self, addrs: Iterable[str], topic: str) -> list[BrokerView]:
        """What the brokers at these addresses tell, in their order; a silent one is not asked twice."""
        configs = BrokerConfigs(self._caller).each(dict.fromkeys(addrs))
        willing = [found.addr for found in configs if not is_unreachable(found.error)]
        topics = {found.addr: found for found in TopicConfigs(self._caller).each(willing, topic)}
        return [
            BrokerView(found.addr, found, topics.get(found.addr, ServerResult(found.addr, None, found.error)))
            for found in configs
        ]


def _view(addr: str, answers: Sequence[ServerResult[Command]]) -> NameServerView:
    route, members, default_route, order_conf, config, *zone = answers
    return NameServerView(
        addr,
        decoded(route, route_of),
        decoded(members, cluster_info),
        decoded(default_route, route_of),
        _or_none(order_conf),
        decoded(config, config_items),
        decoded(zone[0], route_of) if zone else None,
    )


def _or_none(answer: ServerResult[Command]) -> ServerResult[str | None]:
    """A value that may be missing."""
    if isinstance(answer.error, QueryNotFound):
        return ServerResult(answer.addr, None, None)
    return ServerResult(
        answer.addr, None if answer.result is None else (answer.result.ext or {}).get("value"), answer.error
    )
