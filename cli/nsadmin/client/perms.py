"""The permissions that name servers have for the topics of one broker, read from the routes of all topics."""

from collections.abc import Iterable
from typing import Any

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import request
from nsadmin.client.bodies import topic_names
from nsadmin.client.caller import Caller
from nsadmin.client.results import ServerResult, is_not_found
from nsadmin.client.retry import decoded
from nsadmin.client.routes import TopicRoute, get_route, route_of

Perms = ServerResult[dict[str, int]]


def perms(caller: Caller, servers: Iterable[ServerResult[Any]], broker_name: str) -> list[Perms]:
    """Read the permission of each topic of a broker from name servers.

    Sends GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206), then GET_ROUTEINFO_BY_TOPIC (105) per topic.

    Args:
        caller: The connections.
        server_results: One ServerResult per name server; one with an error is not asked and keeps its error.
        broker_name: The broker.

    Returns:
        One ServerResult per name server, in order: topic to permission bits (4 read, 2 write, 1 inherit).
    """
    servers = list(servers)
    willing = [found.addr for found in servers if found.error is None]
    answers = caller.ask_each(willing, RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
    lists = [decoded(answer, topic_names) for answer in answers]
    places = [(addr, topic) for addr, topics, _ in lists for topic in topics or ()]
    routes = caller.ask(
        (addr, request(RequestCode.GET_ROUTEINFO_BY_TOPIC, get_route(topic))) for addr, topic in places
    )
    found: dict[str, Perms] = {names.addr: names.then(lambda _: {}) for names in lists}
    for (addr, topic), answer in zip(places, routes, strict=True):
        found[addr] = _with_topic(found[addr], topic, decoded(answer, route_of), broker_name)
    return [found.get(server.addr, ServerResult(server.addr, None, server.error)) for server in servers]


def _with_topic(perms: Perms, topic: str, route: ServerResult[TopicRoute], broker_name: str) -> Perms:
    """Add the permission of one topic. A topic that was deleted in the meantime is left out."""
    if route.error is not None and not is_not_found(route.error):
        return ServerResult(perms.addr, None, route.error)
    if perms.result is not None and route.result is not None:
        for queue in route.result.queues:
            if queue.broker_name == broker_name and queue.perm is not None:
                perms.result[topic] = queue.perm
    return perms
