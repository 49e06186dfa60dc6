"""`admin.topic_views`: the answers of each name server and each broker about one topic, for comparison.

No name server answers in place of another. All requests to one name server go out together.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from namesrv_core.errors import QueryNotFound
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.brokers.broker_configs import BrokerConfig, BrokerConfigs
from nsadmin.client.brokers.clusters import ClusterInfo, parse_cluster_info
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_config_items, parse_topic_names
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.results import ServerResult, is_not_found, is_unreachable
from nsadmin.client.topic_routes import TopicRoute, parse_route, route_header
from nsadmin.client.topics.topic_configs import DEFAULT_TOPIC, BrokerTopicConfig, TopicConfigs


class NameServerTopicView(NamedTuple):
    """The answers of one name server about a topic. Each answer has its own error.

    Attributes:
        addr: The name server.
        route: The route of the topic.
        cluster_info: The registered brokers.
        default_route: The route of TBW102, whose brokers create topics automatically.
        order_conf: The order configuration of the topic, or None.
        config: The settings of the name server.
        zone_route: The route for a client in a zone; None if no zone was given.
        topic_names: All topic names, read only if the topic has no route; else None.
    """

    addr: str
    route: ServerResult[TopicRoute]
    cluster_info: ServerResult[ClusterInfo]
    default_route: ServerResult[TopicRoute]
    order_conf: ServerResult[str | None]
    config: ServerResult[BrokerConfig]
    zone_route: ServerResult[TopicRoute] | None = None
    topic_names: ServerResult[tuple[str, ...]] | None = None

    @property
    def is_silent(self) -> bool:
        """Whether the name server did not answer."""
        return is_unreachable(self.route.error)

    @property
    def has_no_route(self) -> bool:
        """Whether the name server answered that the topic has no route."""
        return is_not_found(self.route.error)


class BrokerTopicView(NamedTuple):
    """The answers of one broker about a topic.

    Attributes:
        addr: The broker.
        config: The settings of the broker.
        topic_config: The settings of the topic; the error is TopicNotExist if the broker has none.
    """

    addr: str
    config: ServerResult[BrokerConfig]
    topic_config: ServerResult[BrokerTopicConfig]

    @property
    def broker_name(self) -> str | None:
        """The name that the broker reports; None if it did not answer."""
        return (self.config.result or {}).get("brokerName")


class TopicViews:
    """`admin.topic_views`: the answers of each name server and each broker about one topic."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get_name_server_views(
        self, namesrv_addrs: Iterable[str], topic: str, zone_name: str | None = None
    ) -> list[NameServerTopicView]:
        """Return the answers of name servers about a topic.

        Sends GET_ROUTEINFO_BY_TOPIC (105), GET_BROKER_CLUSTER_INFO (106), GET_KV_CONFIG (101) and
        GET_NAMESRV_CONFIG (319) to each; GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206) if there is no route.

        Args:
            namesrv_addrs: The name servers. Repeated addresses give one view.
            topic: The topic.
            zone_name: Also read the route for clients in this zone. Default: no zone.

        Returns:
            One NameServerTopicView per distinct address, in order.
        """
        view_requests = [
            make_request(RequestCode.GET_ROUTEINFO_BY_TOPIC, route_header(topic)),
            make_request(RequestCode.GET_BROKER_CLUSTER_INFO),
            make_request(RequestCode.GET_ROUTEINFO_BY_TOPIC, route_header(DEFAULT_TOPIC)),
            make_request(RequestCode.GET_KV_CONFIG, headers.KvKey(ORDER_CONF_NAMESPACE, topic)),
            make_request(RequestCode.GET_NAMESRV_CONFIG),
        ]
        if zone_name is not None:
            zone_header = headers.GetRoute(topic, True, zone_mode=True, zone_name=zone_name)
            view_requests.append(make_request(RequestCode.GET_ROUTEINFO_BY_TOPIC, zone_header))
        namesrv_addrs = list(dict.fromkeys(namesrv_addrs))
        answers = self._caller.send_requests((a, request) for a in namesrv_addrs for request in view_requests)
        requests_per_server = len(view_requests)
        views = [
            _parse_view(addr, answers[index * requests_per_server : (index + 1) * requests_per_server])
            for index, addr in enumerate(namesrv_addrs)
        ]
        return self._add_topic_names(views)

    def _add_topic_names(self, views: list[NameServerTopicView]) -> list[NameServerTopicView]:
        addrs_without_route = [view.addr for view in views if view.has_no_route]
        request_code = RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER
        name_results = self._caller.read_each(addrs_without_route, parse_topic_names, request_code)
        names_by_addr = {result.addr: result for result in name_results}
        return [view._replace(topic_names=names_by_addr.get(view.addr)) for view in views]

    def get_broker_views(self, broker_addrs: Iterable[str], topic: str) -> list[BrokerTopicView]:
        """Return the answers of brokers about a topic.

        Sends GET_BROKER_CONFIG (26), then GET_TOPIC_CONFIG (351) to the brokers that answered.

        Args:
            broker_addrs: The broker addresses. Repeated addresses give one view.
            topic: The topic.

        Returns:
            One BrokerTopicView per distinct address, in order.
        """
        config_results = BrokerConfigs(self._caller).get_each(dict.fromkeys(broker_addrs))
        answering_addrs = [result.addr for result in config_results if not is_unreachable(result.error)]
        topics_by_addr = {r.addr: r for r in TopicConfigs(self._caller).get_each(answering_addrs, topic)}
        return [
            BrokerTopicView(
                config_result.addr,
                config_result,
                topics_by_addr.get(
                    config_result.addr, ServerResult(config_result.addr, None, config_result.error)
                ),
            )
            for config_result in config_results
        ]


def _parse_view(namesrv_addr: str, answers: Sequence[ServerResult[RemotingCommand]]) -> NameServerTopicView:
    answer, cluster_answer, default_route_answer, order_conf_answer, config_answer, *zone_answers = answers
    return NameServerTopicView(
        namesrv_addr,
        decode_answer(answer, parse_route),
        decode_answer(cluster_answer, parse_cluster_info),
        decode_answer(default_route_answer, parse_route),
        _parse_optional_value(order_conf_answer),
        decode_answer(config_answer, parse_config_items),
        decode_answer(zone_answers[0], parse_route) if zone_answers else None,
    )


def _parse_optional_value(answer: ServerResult[RemotingCommand]) -> ServerResult[str | None]:
    """Parse a KV value; a missing key gives None instead of an error."""
    if isinstance(answer.error, QueryNotFound):
        return ServerResult(answer.addr, None, None)
    return ServerResult(
        answer.addr, None if answer.result is None else (answer.result.ext or {}).get("value"), answer.error
    )
