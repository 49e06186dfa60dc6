"""The rules of the security audit for proxies."""

from nsadmin.operations.checks.findings import CheckState
from nsadmin.operations.security.observer import BROKER, PROXY, AuditedServer
from nsadmin.operations.security.rules import find_problems


def names(audited_server: AuditedServer) -> list[str]:
    return [problem.check_name for problem in find_problems(audited_server, 0)]


def test_a_proxy_that_answers_without_credentials_is_open() -> None:
    proxy = AuditedServer(PROXY, "proxy p", "127.0.0.1:8080", settings={}, public_settings={})
    assert names(proxy) == ["openProxy"]
    assert names(proxy._replace(public_settings=None)) == []
    states = {
        item.check_name: item.check_state for item in find_problems(proxy._replace(addr="8.8.8.8:1"), 0)
    }
    assert states == {"openProxy": CheckState.CRITICAL, "publicAddress": CheckState.WARNING}


def test_a_grpc_port_in_plain_text_that_lists_connections() -> None:
    port = AuditedServer(
        PROXY, "proxy p (gRPC)", "127.0.0.1:8081", settings={}, answers_plain_text=True, speaks_tls=True,
        lists_connections=True,
    )  # fmt: skip
    assert names(port) == ["plainText", "openConnections"]
    assert names(port._replace(speaks_tls=False)) == ["noTls", "openConnections"]


def test_brokers_have_rules_of_their_own() -> None:
    broker = AuditedServer(BROKER, "b", "127.0.0.1:1", settings={}, public_settings={})
    assert "openProxy" not in names(broker)
