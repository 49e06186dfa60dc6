"""The permissions that name servers have for the topics of one broker, read from the routes of all topics."""

from collections.abc import Iterable
from typing import Any

from namesrv_core.protocol.codes import RequestCode
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_topic_names
from nsadmin.client.results import ServerResult, is_not_found
from nsadmin.client.topic_routes import TopicRoute, parse_route, route_header

PermissionResult = ServerResult[dict[str, int]]


def read_topic_permissions(
    caller: Caller, server_results: Iterable[ServerResult[Any]], broker_name: str
) -> list[PermissionResult]:
    """Read the permission of each topic of a broker from name servers.

    Sends GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206), then GET_ROUTEINFO_BY_TOPIC (105) per topic.
    """
    server_results = list(server_results)
    addrs = [result.addr for result in server_results if result.error is None]
    topic_lists = caller.read_each(addrs, parse_topic_names, RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
    server_topics = [(addr, topic) for addr, topics, _ in topic_lists for topic in topics or ()]
    route_answers = caller.send_requests(
        (a, make_request(RequestCode.GET_ROUTEINFO_BY_TOPIC, route_header(t))) for a, t in server_topics
    )
    addr_permissions: dict[str, PermissionResult] = {
        topic_list.addr: topic_list.then(lambda _: {}) for topic_list in topic_lists
    }
    for (namesrv_addr, topic), answer in zip(server_topics, route_answers, strict=True):
        addr_permissions[namesrv_addr] = _add_topic(
            addr_permissions[namesrv_addr], topic, decode_answer(answer, parse_route), broker_name
        )
    return [addr_permissions.get(r.addr, ServerResult(r.addr, None, r.error)) for r in server_results]


def _add_topic(
    permission_result: PermissionResult, topic: str, route_result: ServerResult[TopicRoute], broker_name: str
) -> PermissionResult:
    """Add the permission of one topic. A topic that was deleted in the meantime is omitted."""
    if route_result.error is not None and not is_not_found(route_result.error):
        return ServerResult(permission_result.addr, None, route_result.error)
    if permission_result.result is not None and route_result.result is not None:
        for queue_route in route_result.result.queues:
            if queue_route.broker_name == broker_name and queue_route.perm is not None:
                permission_result.result[topic] = queue_route.perm
    return permission_result
