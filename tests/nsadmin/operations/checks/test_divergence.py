"""check divergence: drift counts, and it takes two."""

from nsadmin import AdminClient
from nsadmin.operations.checks import divergence
from nsadmin.operations.checks.divergence import ServerComparison
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.divergence.observer import DivergenceObserver
from tests.support.fake_servers import FakeNameServer


def found(*addrs: str, settle: int = 0) -> CheckFinding:
    """With a clock that stands still: what differs is drift with `settle` 0, else new."""
    with AdminClient(addrs, timeout=5) as admin:
        comparison = DivergenceObserver(admin, lambda: 0, settle_ms=settle).observe_once()
        return divergence.judge(divergence.CHECK.make_scale(), ServerComparison(comparison))


def values(finding: CheckFinding) -> list[float | None]:
    """drift, routes, young, missing."""
    return [sample.value for sample in finding.samples]


def test_they_agree(first_server: FakeNameServer, second_server: FakeNameServer) -> None:
    finding = found(first_server.addr, second_server.addr)
    assert (finding.state, finding.summary) == (
        CheckState.OK,
        "2 of 2 name servers agree (KV namespaces: ORDER_TOPIC_CONFIG)",
    )
    assert values(finding) == [0, 0, 0, 0]


def test_namespaces_that_a_name_server_lists_are_compared(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    first_server.kv["DEPLOYMENT"] = {"stage": "canary"}
    assert found(first_server.addr, second_server.addr).state is CheckState.OK
    first_server.config["kvNamespaces"] = '["DEPLOYMENT"]'
    finding = found(first_server.addr, second_server.addr)
    assert finding.state is CheckState.WARNING
    assert finding.summary == (
        "1 difference between 2 name servers (KV namespaces: DEPLOYMENT, ORDER_TOPIC_CONFIG)"
    )


def test_queues_that_differ_are_critical(first_server: FakeNameServer, second_server: FakeNameServer) -> None:
    second_server.routes = {"T": {"broker-a": 4}}
    finding = found(first_server.addr, second_server.addr)
    assert finding.state is CheckState.CRITICAL
    assert finding.summary == "1 difference between 2 name servers (KV namespaces: ORDER_TOPIC_CONFIG)"
    assert finding.details[0].startswith(
        f"topic T of broker-a: perm: rw- on {first_server.addr}, r-- on {second_server.addr}; "
    )
    assert values(finding) == [1, 1, 0, 0]


def test_kv_config_that_differs_is_a_warning(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    for server in (first_server, second_server):
        server.kv["ORDER_TOPIC_CONFIG"] = {"T": "broker-a:8"}
    second_server.kv["ORDER_TOPIC_CONFIG"] = {f"T{n}": "broker-a:4" for n in range(3)}
    finding = found(first_server.addr, second_server.addr)
    assert finding.state is CheckState.WARNING
    assert values(finding) == [4, 0, 0, 0]
    assert any("and 2 more" in line for line in finding.details)


def test_what_may_go_by_itself_does_not_count(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    second_server.routes = {"T": {"broker-a": 4}}
    finding = found(first_server.addr, second_server.addr, settle=60_000)
    assert finding.state is CheckState.OK
    assert finding.summary == (
        "2 of 2 name servers agree (KV namespaces: ORDER_TOPIC_CONFIG), and 1 difference younger than two "
        "heartbeats"
    )
    assert values(finding) == [0, 0, 1, 0]


def test_it_takes_two(first_server: FakeNameServer, second_server: FakeNameServer, dead_addr: str) -> None:
    assert found(first_server.addr).state is CheckState.UNKNOWN
    alone = found(first_server.addr, dead_addr)
    failure = f"name server {dead_addr}: connection refused, no server listens on this port"
    assert (alone.state, alone.summary) == (
        CheckState.UNKNOWN,
        "1 of 2 name servers answered: a comparison needs two",
    )
    assert alone.details == (failure,)
    partly = found(first_server.addr, second_server.addr, dead_addr)
    assert (partly.state, partly.summary) == (
        CheckState.UNKNOWN,
        f"{failure}; 2 of 3 name servers agree (KV namespaces: ORDER_TOPIC_CONFIG)",
    )
    second_server.routes = {"T": {"broker-a": 4}}
    assert found(first_server.addr, second_server.addr, dead_addr).state is CheckState.CRITICAL
