"""`admin.broker_routes`: the routes that each name server has for the topics of one broker, and their restore.

No name server answers in place of another, because name servers do not synchronize.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from namesrv_core.events import QueueData
from namesrv_core.protocol import bodies, fastjson, headers
from namesrv_core.protocol.codes import V5_0_0, RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import topic_names
from nsadmin.client.caller import Caller
from nsadmin.client.clusters import BrokerGroup, cluster_info
from nsadmin.client.results import ServerResult, is_not_found
from nsadmin.client.retry import decoded
from nsadmin.client.routes import TopicRoute, get_route, route_of


class Known(NamedTuple):
    """One broker as one name server knows it.

    Attributes:
        broker_group: The addresses of the broker; None if it is not registered.
        routes_by_topic: Topic to route, for topics that have queues on the broker.
        can_register_topics: Whether the name server answers REGISTER_TOPIC_IN_NAMESRV (217); 4.x does not.
    """

    group: BrokerGroup | None
    topics: Mapping[str, TopicRoute]
    may_register: bool


class BrokerRoutes:
    """`admin.broker_routes`: the routes of one broker's topics. It parses an unchanged route only once."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._remembered: dict[tuple[str, str], tuple[bytes, TopicRoute]] = {}

    def each(self, broker_name: str) -> list[ServerResult[Known]]:
        """Return the routes of a broker's topics from every name server.

        Sends GET_BROKER_CLUSTER_INFO (106), GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206) and, per topic,
        GET_ROUTEINFO_BY_TOPIC (105).

        Returns:
            One ServerResult per name server; one failed request makes its result an error.
        """
        answers = self._caller.ask_name_servers(RequestCode.GET_BROKER_CLUSTER_INFO)
        groups = [decoded(answer, lambda command: _known(command, broker_name)) for answer in answers]
        willing = [found.addr for found in groups if found.error is None]
        code = RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER
        lists = {answer.addr: decoded(answer, topic_names) for answer in self._caller.ask_each(willing, code)}
        routes = self._routes({addr: found.result or () for addr, found in lists.items()}, broker_name)
        return [_joined(found, lists.get(found.addr), routes.get(found.addr)) for found in groups]

    def _routes(
        self, names: Mapping[str, Iterable[str]], broker_name: str
    ) -> dict[str, ServerResult[dict[str, TopicRoute]]]:
        places = [(addr, topic) for addr, topics in names.items() for topic in topics]
        code = RequestCode.GET_ROUTEINFO_BY_TOPIC
        answers = self._caller.ask((addr, request(code, get_route(topic))) for addr, topic in places)
        found: dict[str, ServerResult[dict[str, TopicRoute]]] = {
            addr: ServerResult(addr, {}, None) for addr in names
        }
        for (addr, topic), answer in zip(places, answers, strict=True):
            route = decoded(answer, lambda command, place=(addr, topic): self._read(place, command))  # type: ignore[misc]
            if route.error is not None and not is_not_found(route.error):
                found[addr] = ServerResult(addr, None, route.error)
                continue
            table = found[addr].result
            if table is not None and route.result is not None and _has(route.result, broker_name):
                table[topic] = route.result
        return found

    def _read(self, place: tuple[str, str], command: Command) -> TopicRoute:
        body, route = self._remembered.get(place, (b"", None))
        if route is None or body != command.body:
            route = route_of(command)
            self._remembered[place] = command.body, route
        return route

    def put_back(self, addr: str, queues: Mapping[str, QueueData]) -> list[ServerResult[str]]:
        """Restore queues in the routes of one name server (REGISTER_TOPIC_IN_NAMESRV, 217).

        Queues of other brokers stay. Only for name servers of 5.x, and for topics that they have: the request
        creates an unknown topic. They always answer success, so read the routes again afterwards.

        Args:
            namesrv_addr: The name server.
            queues_by_topic: Topic to the queues to restore.

        Returns:
            One ServerResult per topic, in order: the topic.
        """
        code = RequestCode.REGISTER_TOPIC_IN_NAMESRV
        calls = [
            (addr, request(code, headers.write(headers.TopicName(topic)), _route_data(queue)))
            for topic, queue in queues.items()
        ]
        answers = self._caller.ask(calls)
        return [
            answer.then(lambda _, name=topic: name)  # type: ignore[misc]
            for topic, answer in zip(queues, answers, strict=True)
        ]


def _has(route: TopicRoute, broker_name: str) -> bool:
    """Return whether the broker has queues of the topic."""
    return any(queue.broker_name == broker_name and queue.perm is not None for queue in route.queues)


def _known(command: Command, broker_name: str) -> Known:
    groups = cluster_info(command).groups
    group = next((item for item in groups if item.broker_name == broker_name and item.broker_addrs), None)
    return Known(group, {}, command.version >= V5_0_0)


def _joined(
    known: ServerResult[Known],
    names: ServerResult[tuple[str, ...]] | None,
    routes: ServerResult[dict[str, TopicRoute]] | None,
) -> ServerResult[Known]:
    for part in (known, names, routes):
        if part is not None and part.error is not None:
            return ServerResult(known.addr, None, part.error)
    topics = (routes and routes.result) or {}
    return known.then(lambda found: found._replace(topics=topics))


def _route_data(queue: QueueData) -> bytes:
    """Encode a TopicRouteData. The name server reads only its queues."""
    return fastjson.dumps(
        {"brokerDatas": [], "filterServerTable": {}, "queueDatas": [bodies.queue_data(queue)]}
    )
