"""`admin.broker_routes`: read and restore the routes that name servers have for one broker's topics.

No name server answers in place of another, because name servers do not synchronize.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.events import QueueData
from namesrv_core.protocol import fastjson, headers, json_bodies
from namesrv_core.protocol.codes import V5_0_0, RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.brokers.clusters import BrokerAddrGroup, parse_cluster_info
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_topic_names
from nsadmin.client.results import NotFound, ServerResult, is_not_found
from nsadmin.client.topic_routes import TopicRoute, parse_route, route_header


class BrokerRouteView(NamedTuple):
    """One broker as one name server knows it.

    Attributes:
        broker_group: The addresses of the broker; None if it is not registered.
        routes_by_topic: Topic to route, for topics that have queues on the broker.
        can_register_topics: Whether the name server answers REGISTER_TOPIC_IN_NAMESRV (217); 4.x does not.
        other_names: Other broker names with an address of this broker, such as its former name.
    """

    broker_group: BrokerAddrGroup | None
    routes_by_topic: Mapping[str, TopicRoute]
    can_register_topics: bool
    other_names: tuple[str, ...] = ()


class BrokerRoutes:
    """`admin.broker_routes`: the routes of one broker's topics. It parses an unchanged route only once."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._routes_by_place: dict[tuple[str, str], tuple[bytes, TopicRoute]] = {}

    def get_each(self, broker_name: str) -> list[ServerResult[BrokerRouteView]]:
        """Return the routes of a broker's topics from every name server.

        Sends GET_BROKER_CLUSTER_INFO (106), GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206) and, per topic,
        GET_ROUTEINFO_BY_TOPIC (105).

        Args:
            broker_name: The broker name.

        Returns:
            One ServerResult per name server; one failed request makes its result an error.
        """
        return self._add_routes(self._read_views(broker_name), broker_name)

    def get_topic_permissions(self, broker_name: str) -> list[ServerResult[dict[str, int]]]:
        """Return the permission of each topic of a broker on every name server; see `get_each`.

        Args:
            broker_name: The broker name.

        Returns:
            One ServerResult per name server: topic to permission bits (4 read, 2 write, 1 inherit), in order.
            The error is NotFound if the broker is not registered there.
        """

        def require_registered(view: BrokerRouteView) -> BrokerRouteView:
            if view.broker_group is None:
                raise NotFound(f'no broker "{broker_name}" is registered here')
            return view

        def list_permissions(view: BrokerRouteView) -> dict[str, int]:
            return {
                topic: queue.perm
                for topic, route in view.routes_by_topic.items()
                for queue in route.queues
                if queue.broker_name == broker_name and queue.perm is not None
            }

        registered_views = [view.then(require_registered) for view in self._read_views(broker_name)]
        return [view.then(list_permissions) for view in self._add_routes(registered_views, broker_name)]

    def _read_views(self, broker_name: str) -> list[ServerResult[BrokerRouteView]]:
        return self._caller.read_each(
            self._caller.name_servers.addrs,
            lambda response: _parse_known_broker(response, broker_name),
            RequestCode.GET_BROKER_CLUSTER_INFO,
        )

    def _add_routes(
        self, views: Sequence[ServerResult[BrokerRouteView]], broker_name: str
    ) -> list[ServerResult[BrokerRouteView]]:
        routes_by_addr = self._read_all_routes(view.addr for view in views if view.error is None)
        return [_join_view(view, routes_by_addr.get(view.addr), broker_name) for view in views]

    def _read_all_routes(
        self, namesrv_addrs: Iterable[str]
    ) -> dict[str, ServerResult[dict[str, TopicRoute]]]:
        """The routes of all topics that name servers list, without those deleted in the meantime."""
        topic_lists = self._caller.read_each(
            namesrv_addrs, parse_topic_names, RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER
        )
        routes_by_addr = self._read_routes({addr: topics or () for addr, topics, _ in topic_lists})
        for addr, _, error in topic_lists:
            if error is not None:
                routes_by_addr[addr] = ServerResult(addr, None, error)
        return routes_by_addr

    def _read_routes(
        self, topics_by_addr: Mapping[str, Iterable[str]]
    ) -> dict[str, ServerResult[dict[str, TopicRoute]]]:
        server_topics = [(addr, topic) for addr, topics in topics_by_addr.items() for topic in topics]
        request_code = RequestCode.GET_ROUTEINFO_BY_TOPIC
        answers = self._caller.send_requests(
            (a, make_request(request_code, route_header(topic))) for a, topic in server_topics
        )
        routes_by_addr: dict[str, ServerResult[dict[str, TopicRoute]]] = {
            namesrv_addr: ServerResult(namesrv_addr, {}, None) for namesrv_addr in topics_by_addr
        }
        for (namesrv_addr, topic), answer in zip(server_topics, answers, strict=True):
            route = decode_answer(answer, partial(self._parse_remembered, (namesrv_addr, topic)))
            if route.error is not None and not is_not_found(route.error):
                routes_by_addr[namesrv_addr] = ServerResult(namesrv_addr, None, route.error)
                continue
            routes_by_topic = routes_by_addr[namesrv_addr].result
            if routes_by_topic is not None and route.result is not None:
                routes_by_topic[topic] = route.result
        return routes_by_addr

    def _parse_remembered(self, server_topic: tuple[str, str], response: RemotingCommand) -> TopicRoute:
        known_body, route = self._routes_by_place.get(server_topic, (b"", None))
        if route is None or known_body != response.body:
            route = parse_route(response)
            self._routes_by_place[server_topic] = response.body, route
        return route

    def restore_queues(
        self, namesrv_addr: str, queues_by_topic: Mapping[str, QueueData]
    ) -> dict[str, RocketMQError | None]:
        """Restore queues in the routes of one name server (REGISTER_TOPIC_IN_NAMESRV, 217).

        Queues of other brokers stay. The request would create an unknown topic, so this reads the routes
        first (GET_ROUTEINFO_BY_TOPIC, 105), and leaves out a topic that the broker no longer has there. Only
        for name servers of 5.x. They always answer success, so read the routes again afterwards.

        Args:
            namesrv_addr: The name server address.
            queues_by_topic: Topic to the queues to restore.

        Returns:
            Topic to its error, None after a success. If a route cannot be read, each topic has that error.
        """
        routes = self._read_routes({namesrv_addr: queues_by_topic})[namesrv_addr]
        if routes.result is None:
            return dict.fromkeys(queues_by_topic, routes.error)
        listed = {
            topic: queue
            for topic, queue in queues_by_topic.items()
            if topic in routes.result and _has_queues(routes.result[topic], queue.broker_name)
        }
        request_code = RequestCode.REGISTER_TOPIC_IN_NAMESRV
        answers = self._caller.send_requests(
            (namesrv_addr, make_request(request_code, headers.TopicName(topic), _encode_route(queue)))
            for topic, queue in listed.items()
        )
        return {topic: answer.error for topic, answer in zip(listed, answers, strict=True)}


def _has_queues(route: TopicRoute, broker_name: str) -> bool:
    """Return whether the broker has queues of the topic."""
    return any(r.broker_name == broker_name and r.perm is not None for r in route.queues)


def _parse_known_broker(response: RemotingCommand, name: str) -> BrokerRouteView:
    broker_groups = parse_cluster_info(response).broker_groups
    broker_group = next((g for g in broker_groups if g.broker_name == name and g.broker_addrs), None)
    own_addrs = set(broker_group.broker_addrs.values()) if broker_group else set()
    other_names = {
        other_group.broker_name
        for other_group in broker_groups
        if other_group.broker_name != name and not own_addrs.isdisjoint(other_group.broker_addrs.values())
    }
    return BrokerRouteView(broker_group, {}, response.version >= V5_0_0, tuple(sorted(other_names)))


def _join_view(
    view_result: ServerResult[BrokerRouteView],
    route_results: ServerResult[dict[str, TopicRoute]] | None,
    broker_name: str,
) -> ServerResult[BrokerRouteView]:
    if route_results is not None and route_results.error is not None:
        return ServerResult(view_result.addr, None, route_results.error)
    routes = (route_results and route_results.result) or {}
    routes_by_topic = {topic: route for topic, route in routes.items() if _has_queues(route, broker_name)}
    return view_result.then(lambda route_view: route_view._replace(routes_by_topic=routes_by_topic))


def _encode_route(queue_data: QueueData) -> bytes:
    """Encode a TopicRouteData. The name server reads only its queues."""
    return fastjson.encode_json(
        {"brokerDatas": [], "filterServerTable": {}, "queueDatas": [json_bodies.queue_data_json(queue_data)]}
    )
