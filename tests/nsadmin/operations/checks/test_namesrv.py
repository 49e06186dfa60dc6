"""check namesrv: who answers, and who is ready."""

from namesrv_core.protocol.codes import RequestCode
from nsadmin.operations.checks import namesrv
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from tests.support.checks import run_check
from tests.support.fake_servers import FakeNameServer, closed_port, refuse_with


def found(*addrs: str, critical: str | None = None) -> CheckFinding:
    return run_check(namesrv.CHECK, *addrs, limits=(None, critical))


def test_all_answer() -> None:
    with FakeNameServer() as server:
        finding = found(server.addr)
    assert (finding.state, finding.summary) == (CheckState.OK, "1 of 1 name servers answer")
    [failing, serving, latency] = finding.samples
    assert (failing.value, serving.value, latency.item_name) == (0, 1, server.addr)
    assert latency.value is not None
    assert 0 < latency.value < 5


def test_one_that_is_gone_is_a_warning_and_all_is_critical() -> None:
    gone = f"127.0.0.1:{closed_port()}"
    with FakeNameServer() as server:
        finding = found(server.addr, gone)
        assert found(server.addr, gone, critical="2:").state is CheckState.CRITICAL
    assert finding.state is CheckState.WARNING
    assert finding.details[0] == f"{gone}: connection refused, no server listens on this port"
    assert finding.details[2:] == (
        f"to see which brokers and consumers know no other name server: nsadmin whatIf --down-namesrv {gone}",
        "what to do: nsadmin guide run-the-name-server",
    )
    assert found(gone).state is CheckState.CRITICAL


def test_one_that_is_not_ready_does_not_serve() -> None:
    with FakeNameServer() as server:
        server.handlers[RequestCode.GET_ROUTEINFO_BY_TOPIC] = refuse_with(1, "name server not ready")
        finding = found(server.addr)
    assert finding.state is CheckState.CRITICAL
    assert finding.details[0].endswith("; it is starting and does not return routes yet")
