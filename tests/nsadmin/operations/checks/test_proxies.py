"""check proxies: those that do not answer, left, or do not know a broker."""

from collections.abc import Mapping, Sequence

import pytest

from namesrv_core.errors import TopicNotExist
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.proxies.heartbeat_reader import ProxyHeartbeats
from nsadmin.client.proxies.proxies import ProxyList, ProxyStatus
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.operations.checks.check import CheckNotApplicable, CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.listed_brokers import BrokerListing
from nsadmin.operations.checks.looks import Look
from nsadmin.operations.checks.proxies import CHECK, ProxyObservation
from tests.support.checks import run_check
from tests.support.fake_servers import FakeNameServer

LISTING = BrokerListing([BrokerAddrGroup("C", "broker-a", {0: "a:1"})], {"ns:1": []}, {})
FIRST = ProxyStatus("p1:8080", mode="cluster", is_answering=True, consumer_count=2)
SECOND = ProxyStatus("p2:8080", mode="cluster", is_answering=True, consumer_count=1)
DOWN = SECOND._replace(is_answering=False, error=NotFound("connection refused"))


def judge(
    *proxies: ProxyStatus,
    earlier: Look | None = None,
    routes: Mapping[str, Sequence[ServerResult[tuple[str, ...]]]] = {},
) -> CheckFinding:
    proxy_list = ProxyList(proxies, {}, ProxyHeartbeats())
    known: dict[str, Sequence[ServerResult[tuple[str, ...]]]] = {
        "broker-a": [ServerResult(p.proxy_addr, ("broker-a",), None) for p in proxies],
        **routes,
    }
    return CHECK.judge(CHECK.make_scale(), ProxyObservation(LISTING, proxy_list, known, earlier))


def test_proxies_that_answer_are_ok() -> None:
    finding = judge(FIRST, SECOND)
    assert (finding.state, finding.summary) == (CheckState.OK, "2 of 2 known proxies answer")
    finding = judge(FIRST, SECOND._replace(consumer_count=0))
    assert (finding.state, finding.summary) == (
        CheckState.OK,
        "2 of 2 known proxies answer; no consumer is known of p2:8080",
    )


def test_a_killed_proxy_is_a_warning_and_no_proxy_is_critical() -> None:
    finding = judge(FIRST, DOWN)
    assert (finding.state, finding.details) == (
        CheckState.WARNING,
        ("proxy p2:8080: connection refused; 1 consumer used it",),
    )
    assert judge(DOWN).state is CheckState.CRITICAL


def test_a_proxy_that_left_is_a_warning_unless_another_took_its_place() -> None:
    earlier = Look(0, {"p1:8080": 1.0, "p2:8080": 1.0})
    finding = judge(FIRST, earlier=earlier)
    assert (finding.state, finding.details) == (
        CheckState.WARNING,
        ("proxy p2:8080 answered at 1970-01-01T00:00:00Z, and left",),
    )
    assert judge(FIRST, SECOND._replace(proxy_addr="p3:8080"), earlier=earlier).state is CheckState.OK


def test_a_proxy_that_does_not_know_a_broker_has_other_routes() -> None:
    results: dict[str, list[ServerResult[tuple[str, ...]]]] = {
        "broker-b": [
            ServerResult("p1:8080", None, TopicNotExist("no route")),
            ServerResult("p2:8080", None, NotFound("no answer")),
        ]
    }
    finding = judge(FIRST, SECOND, routes=results)
    assert (finding.state, finding.details) == (
        CheckState.WARNING,
        (
            "proxy p2:8080 gives its clients no routes: no answer",
            "proxy p1:8080 does not know broker-b: compare namesrvAddr in its rmq-proxy.json with the name "
            "servers",
        ),
    )


def test_without_a_known_proxy_the_state_is_unknown(first_server: FakeNameServer) -> None:
    first_server.clusters = {}
    assert run_check(CHECK, first_server.addr).state is CheckState.UNKNOWN
    with pytest.raises(CheckNotApplicable, match="no proxy found"):
        run_check(CHECK, first_server.addr, scope=CheckScope(is_part=True))
