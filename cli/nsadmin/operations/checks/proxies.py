"""Checks that proxies answer, know the brokers of the cluster, and have consumers."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError, TopicNotExist
from nsadmin.client import AdminClient
from nsadmin.client.proxies.proxies import ProxyList, ProxyStatus
from nsadmin.client.results import ServerResult, error_text
from nsadmin.console.phrases import NO_PROXY, abbreviate_names, count_noun, format_utc_second
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, CheckState
from nsadmin.operations.checks.listed_brokers import BrokerListing
from nsadmin.operations.checks.looks import Look, compare_look

_MAX_SHOWN = 4
_LIST_ADVICE = "compare namesrvAddr in its rmq-proxy.json with the name servers"


class ProxyObservation(NamedTuple):
    """The proxies, and the route of each broker's own topic at those that answer, by broker name.

    `earlier` has the proxies that answered before.
    """

    listing: BrokerListing
    proxy_list: ProxyList
    routes: Mapping[str, Sequence[ServerResult[tuple[str, ...]]]]
    earlier: Look | None = None

    @property
    def has_proxies(self) -> bool:
        """Whether a proxy is known now, or was."""
        return bool(self.proxy_list.proxies or (self.earlier and self.earlier.figures))

    @property
    def failing(self) -> list[ProxyStatus]:
        return [proxy for proxy in self.proxy_list.proxies if proxy.is_answering is False]

    @property
    def serving(self) -> list[ProxyStatus]:
        """The proxies that answer, and those of which only their connections to brokers are known."""
        return [proxy for proxy in self.proxy_list.proxies if proxy.is_answering is not False]


def observe(admin: AdminClient, scope: CheckScope) -> ProxyObservation:
    """Find the proxies, and ask those in cluster mode for a route to each broker."""
    listing = listed_brokers.observe_listing(admin, scope.cluster_name)
    proxy_list = admin.proxies.list_proxies(scope.cluster_name)
    seen = ProxyObservation(listing, proxy_list, {})
    if not proxy_list.errors:
        look = Look(admin.clock_ms, {proxy.proxy_addr: 1.0 for proxy in seen.serving})
        seen = seen._replace(earlier=compare_look(scope, "proxies", look))
    scope.skip_if(not seen.has_proxies and not proxy_list.errors, NO_PROXY)
    # A proxy in local mode only knows the broker that it contains.
    asked_addrs = [proxy.proxy_addr for proxy in seen.serving if proxy.is_answering and proxy.mode != "local"]
    broker_names = sorted({group.broker_name for group in listing.broker_groups}) if asked_addrs else []
    return seen._replace(
        routes={name: admin.proxies.get_topic_routes(name, asked_addrs) for name in broker_names}
    )


def judge(scale: CheckScale, seen: ProxyObservation) -> CheckFinding:
    """Judge the proxies. If fewer answer than earlier, it is at least a warning."""
    failing, serving = seen.failing, seen.serving
    failures = [
        *(f"{server}: {error_text(error)}" for server, error in seen.proxy_list.errors.items()),
        *seen.listing.failure_lines,
    ]
    if not seen.has_proxies:
        return scale.make_unknown_finding(NO_PROXY, failures)
    route_lines = _describe_routes(seen)
    gone_lines = _describe_gone(seen)
    idle = [proxy for proxy in serving if not proxy.consumer_count and not proxy.connection_addrs]
    consumers = {p.proxy_addr: p.consumer_count for p in seen.proxy_list.proxies}
    summary = f"{len(serving)} of {len(seen.proxy_list.proxies)} known proxies answer"
    if gone_lines:
        summary += f", and {len(gone_lines)} left"
    if route_lines:
        summary += f", {len(route_lines)} with other routes than name servers"
    if idle:
        shown = abbreviate_names([proxy.proxy_addr for proxy in idle], _MAX_SHOWN)
        summary += f"; no consumer is known of {shown}"
    return scale.make_finding(
        summary,
        {
            "failing": len(failing),
            "serving": len(serving),
            "otherRoutes": len(route_lines),
            "idle": len(idle),
            "consumers": {addr: count for addr, count in consumers.items() if count is not None},
        },
        [*map(_describe_failing, failing), *gone_lines, *route_lines],
        doubts=failures,
        minimum_state=CheckState.WARNING if gone_lines or route_lines else CheckState.OK,
    )


def _describe_failing(proxy: ProxyStatus) -> str:
    reason = error_text(proxy.error) if proxy.error is not None else "no answer"
    consumers = f"; {count_noun(proxy.consumer_count, 'consumer')} used it" if proxy.consumer_count else ""
    return f"proxy {proxy.proxy_addr}: {reason}{consumers}"


def _describe_gone(seen: ProxyObservation) -> list[str]:
    """The proxies of the earlier look that nobody knows, unless as many new ones took their place."""
    if seen.earlier is None or len(seen.serving) + len(seen.failing) >= len(seen.earlier.figures):
        return []
    known_addrs = {proxy.proxy_addr for proxy in seen.proxy_list.proxies}
    return [
        f"proxy {addr} answered at {format_utc_second(seen.earlier.at_ms)}, and left"
        for addr in sorted(seen.earlier.figures.keys() - known_addrs)
    ]


def _describe_routes(seen: ProxyObservation) -> list[str]:
    """A line per proxy that does not know a broker, or gives no routes."""
    missing: dict[str, list[str]] = {}
    errors: dict[str, RocketMQError] = {}
    for broker_name, results in seen.routes.items():
        for proxy_addr, broker_names, error in results:
            if error is not None and not isinstance(error, TopicNotExist):
                errors[proxy_addr] = error
            elif broker_name not in (broker_names or ()):
                missing.setdefault(proxy_addr, []).append(broker_name)
    return [
        *(f"proxy {addr} gives its clients no routes: {error_text(error)}" for addr, error in errors.items()),
        *(
            f"proxy {addr} does not know {abbreviate_names(names, _MAX_SHOWN)}: {_LIST_ADVICE}"
            for addr, names in missing.items()
            if addr not in errors
        ),
    ]


CHECK = Check(
    "proxies",
    (
        CheckMeasure("failing", "known proxies that do not answer", warning="0"),
        CheckMeasure("serving", "proxies that answer, or are connected to brokers", critical="1:"),
        CheckMeasure("otherRoutes", "proxies that do not know all brokers"),
        CheckMeasure("idle", "proxies of which no consumer is known"),
        CheckMeasure("consumers", "connected consumers, of a proxy in cluster mode", label_name="proxy"),
    ),
    observe,
    judge,
    warning_when="a proxy does not answer, does not know a broker, or left so that fewer remain",
    critical_when="no proxy answers",
    remedy="nsadmin proxy list",
    takes_cluster=True,
    warning_help="Proxies that may be down. Default: 0.",
    critical_help="Proxies that must answer. Default: 1: (at least one).",
    help="""Check whether the proxies of RocketMQ 5 answer, and know the brokers that name servers list.

    Proxies in cluster mode are found by the heartbeats of their consumers and by their connections to
    brokers. Name proxies in local mode, and proxies without consumers, with --proxies. The check remembers
    proxies for an hour: one that leaves is a warning if fewer remain.

    Examples:
        # The state is unknown without a known proxy (exit code 3)
        nsadmin check proxies
    """,
)
