"""Causes on proxies: clients of a proxy get its route, not that of a name server."""

from collections.abc import Iterator

from namesrv_core.errors import TopicNotExist
from nsadmin.client.results import error_text
from nsadmin.operations.explain.facts import RouteFacts
from nsadmin.operations.explain.findings import Advice, CauseCheck, CauseFinding, join_names, ok_finding

_LIST_ADVICE = Advice(
    "wait 20 seconds, until the proxy reads routes again; then compare namesrvAddr in its rmq-proxy.json "
    "with the name servers"
)


def find_proxy_differences(facts: RouteFacts) -> Iterator[CauseFinding]:
    routed_brokers = {queue.broker_name for _, route in facts.views_with_route() for queue in route.queues}
    for proxy_addr, broker_names, error in facts.proxy_routes:
        if isinstance(error, TopicNotExist):
            if routed_brokers:
                evidence = f"proxy {proxy_addr} has no route of the topic, but name servers have one"
                yield CauseFinding("cause", evidence, _LIST_ADVICE)
        elif error is not None:
            evidence = f"proxy {proxy_addr} gives its clients no route: {error_text(error)}"
            yield CauseFinding("warning", evidence)
        elif missing_names := sorted(routed_brokers.difference(broker_names or ())):
            evidence = f"the route of proxy {proxy_addr} lacks {join_names(missing_names)}"
            yield CauseFinding("warning", evidence, _LIST_ADVICE)


def equal_proxy_routes(facts: RouteFacts) -> CauseFinding:
    count = len(facts.proxy_routes)
    proxies_text = "the proxy has" if count == 1 else f"all {count} proxies have"
    return ok_finding(f"{proxies_text} the brokers that name servers have")


PROXY_CHECKS = (
    CauseCheck(
        "proxyRoute",
        equal_proxy_routes,
        find_proxy_differences,
        applies=lambda route_facts: bool(route_facts.proxy_routes),
    ),
)
