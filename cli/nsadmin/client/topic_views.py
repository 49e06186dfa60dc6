"""`admin.topic_views`: the answers of each name server and each broker about one topic, for comparison.

No name server answers in place of another. All requests to one name server go out together.
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
    """The answers of one name server about a topic. Each answer has its own error.

    Attributes:
        addr: The name server.
        route: The route of the topic.
        cluster_info: The registered brokers.
        default_route: The route of TBW102, whose brokers create topics automatically.
        order_conf: The order configuration of the topic; None without one.
        config: The configuration of the name server.
        zone_route: The route for a client in a zone; None if no zone was given.
        topic_names: All topic names, read only if the topic has no route; else None.
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
        """Whether the name server did not answer."""
        return is_unreachable(self.route.error)

    @property
    def has_no_route(self) -> bool:
        """Whether the name server answered that the topic has no route."""
        return is_not_found(self.route.error)


class BrokerView(NamedTuple):
    """The answers of one broker about a topic.

    Attributes:
        addr: The broker.
        config: The settings of the broker.
        topic_config: The configuration of the topic; the error is TopicNotExist if the broker has none.
    """

    addr: str
    config: ServerResult[Config]
    topic: ServerResult[TopicConfig]

    @property
    def broker_name(self) -> str | None:
        """The name that the broker reports; None if it did not answer."""
        return (self.config.result or {}).get("brokerName")


class TopicViews:
    """`admin.topic_views`: the answers of each name server and each broker about one topic."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def of_name_servers(
        self, addrs: Iterable[str], topic: str, zone: str | None = None
    ) -> list[NameServerView]:
        """Return the answers of name servers about a topic.

        Sends GET_ROUTEINFO_BY_TOPIC (105), GET_BROKER_CLUSTER_INFO (106), GET_KV_CONFIG (101) and
        GET_NAMESRV_CONFIG (319) to each; GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206) if there is no route.

        Args:
            namesrv_addrs: The name servers.
            topic: The topic.
            zone_name: Also read the route for clients in this zone.

        Returns:
            One NameServerTopicView per address, in order.
        """
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
        """Return the answers of brokers about a topic.

        Sends GET_BROKER_CONFIG (26), then GET_TOPIC_CONFIG (351) to the brokers that answered.

        Returns:
            One BrokerTopicView per address, in order.
        """
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
    """Parse a KV value; a missing key gives None instead of an error."""
    if isinstance(answer.error, QueryNotFound):
        return ServerResult(answer.addr, None, None)
    return ServerResult(
        answer.addr, None if answer.result is None else (answer.result.ext or {}).get("value"), answer.error
    )
