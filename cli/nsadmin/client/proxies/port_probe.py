"""Asks the remoting ports of proxies for their release and mode."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import RequestCode, version_text
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.proxies.client_heartbeats import HEARTBEAT_TOPIC
from nsadmin.client.topic_routes import parse_route, route_header

_EVERY_CODE = range(1 << 31)


class PortAnswer(NamedTuple):
    """The answer of the remoting port of a proxy.

    Attributes:
        version: The release, such as "V5_5_0"; None after an error.
        mode: "cluster" or "local"; None if the proxy has no route of the topics, or denies it.
        own_addr: The address that a proxy in cluster mode gives remoting clients.
        grpc_addr: The address for gRPC clients; known for a proxy in local mode.
        error: Why it did not answer.
    """

    version: str | None
    mode: str | None
    own_addr: str | None
    grpc_addr: str | None
    error: RocketMQError | None


def probe_ports(caller: Caller, proxy_addrs: Iterable[str], topics: Iterable[str]) -> dict[str, PortAnswer]:
    """Ask each proxy for routes (GET_ROUTEINFO_BY_TOPIC, 105), all at once.

    In a route of a proxy, all brokers have the address of the proxy (ProxyTopicRouteData upstream). It is the
    address for remoting clients in cluster mode, and for gRPC clients in local mode. A response has the
    release of the proxy.
    """
    proxy_addrs = list(dict.fromkeys(proxy_addrs))
    asked_topics = [HEARTBEAT_TOPIC, *topics]
    answers = caller.send_requests(
        [
            (proxy_addr, make_request(RequestCode.GET_ROUTEINFO_BY_TOPIC, route_header(topic)))
            for proxy_addr in proxy_addrs
            for topic in asked_topics
        ],
        accepted_codes=_EVERY_CODE,
    )
    count = len(asked_topics)
    return {
        proxy_addr: _read_answers(
            proxy_addr,
            [answer.result for answer in answers[index * count : (index + 1) * count]],
            next((answer.error for answer in answers[index * count : (index + 1) * count]), None),
        )
        for index, proxy_addr in enumerate(proxy_addrs)
    }


def _read_answers(
    proxy_addr: str, responses: Sequence[RemotingCommand | None], error: RocketMQError | None
) -> PortAnswer:
    known_responses = [response for response in responses if response is not None]
    if not known_responses:
        return PortAnswer(None, None, None, None, error)
    version = version_text(known_responses[0].version)
    for response in known_responses:
        route_addr = _find_route_addr(response)
        if route_addr is not None:
            is_cluster = route_addr.rpartition(":")[2] == proxy_addr.rpartition(":")[2]
            if is_cluster:
                return PortAnswer(version, "cluster", route_addr, None, None)
            return PortAnswer(version, "local", None, route_addr, None)
    return PortAnswer(version, None, None, None, None)


def _find_route_addr(response: RemotingCommand) -> str | None:
    """Return the only address in a route; None without a route or with several addresses."""
    if response.code != 0 or not response.body:
        return None
    try:
        queue_routes = parse_route(response).queues
    except (ValueError, TypeError, AttributeError, KeyError):
        return None
    addrs = {addr for queue_route in queue_routes for addr in queue_route.broker_addrs.values()}
    return addrs.pop() if len(addrs) == 1 else None
