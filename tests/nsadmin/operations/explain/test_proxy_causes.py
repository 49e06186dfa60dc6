"""Causes on proxies."""

from namesrv_core.errors import RocketMQError
from nsadmin.client.results import ServerResult
from nsadmin.operations.explain.proxy_causes import find_proxy_differences
from nsadmin.operations.explain.route_diagnosis import explain_route
from tests.support.route_facts import (
    NO_ROUTE,
    make_broker_view,
    make_facts,
    make_queue_route,
    make_server_view,
    refused_connection,
)

EQUAL = ServerResult[tuple[str, ...]]("p1:8080", ("a", "b"), None)
OTHER = {"a": {0: "h:1"}, "b": {0: "h:2"}}


def found(*proxy_routes: ServerResult[tuple[str, ...]], has_route: bool = True) -> list[tuple[str, str]]:
    queues = (make_queue_route(), make_queue_route("b", {0: "h:2"})) if has_route else ()
    route_facts = make_facts([make_server_view(*queues, members=OTHER)])._replace(proxy_routes=proxy_routes)
    return [(finding.result, finding.evidence) for finding in find_proxy_differences(route_facts)]


def failed(error: RocketMQError) -> ServerResult[tuple[str, ...]]:
    return ServerResult("p2:8080", None, error)


def test_a_proxy_without_the_route_is_a_cause() -> None:
    assert found(EQUAL, failed(NO_ROUTE)) == [
        ("cause", "proxy p2:8080 has no route of the topic, but name servers have one")
    ]


def test_without_a_route_on_name_servers_the_proxy_is_not_the_cause() -> None:
    assert found(failed(NO_ROUTE), has_route=False) == []


def test_a_proxy_that_lacks_brokers_or_does_not_answer_is_a_warning() -> None:
    partial = ServerResult[tuple[str, ...]]("p1:8080", ("a",), None)
    assert found(partial, failed(refused_connection("p2:8080"))) == [
        ("warning", "the route of proxy p1:8080 lacks b"),
        ("warning", "proxy p2:8080 gives its clients no route: connection refused"),
    ]


def test_the_step_exists_only_if_there_are_proxies() -> None:
    route_facts = make_facts(
        [make_server_view(make_queue_route(), make_queue_route("b", {0: "h:2"}), members=OTHER)],
        [make_broker_view()],
    )
    ids = {explanation.cause_id for explanation in explain_route(route_facts)}
    assert "proxyRoute" not in ids
    with_proxies = route_facts._replace(proxy_routes=(EQUAL, EQUAL._replace(addr="p3:8080")))
    [explanation] = [item for item in explain_route(with_proxies) if item.cause_id == "proxyRoute"]
    assert explanation.finding.evidence == "all 2 proxies have the brokers that name servers have"
