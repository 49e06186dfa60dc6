"""What an audit sees of servers on loopback, and that it changes nothing there."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin import Access, AdminClient, Tls
from nsadmin.client.access.certificates import NoTls, ServerCertificates
from nsadmin.client.connection.change_codes import CHANGE_CODES
from nsadmin.client.proxies import grpc_connections
from nsadmin.client.proxies.grpc_connections import GrpcConnections
from nsadmin.client.results import ServerResult
from nsadmin.operations.security.observer import AuditClients, AuditedServer, observe_servers
from tests.support.certificates import Authority
from tests.support.proxies import FakeProxy
from tests.support.servers import FakeBroker, FakeNameServer, closed_port, refuse_with


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture
def exit_stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def told_by(server: FakeBroker, **settings: str) -> None:
    """Have a broker tell these settings."""
    text = "".join(f"{key}={value}\n" for key, value in settings.items())
    server.handlers[RequestCode.GET_BROKER_CONFIG] = lambda asked: build_reply(asked, body=text.encode())


def knowing(broker: FakeBroker) -> FakeNameServer:
    return FakeNameServer({"DefaultCluster": {"broker-a": {0: broker.addr}}})


def seen(ends: ExitStack, *addrs: str, own: Access | None = None) -> dict[str, AuditedServer]:
    """By address; `own` is how this client reaches them, as anybody does if None."""
    own = own or Access(timeout=2.0)
    ways = (own, Access(timeout=2.0), Access(timeout=2.0, tls=Tls(verify=False)))
    eyes = AuditClients(*(ends.enter_context(AdminClient(addrs, access=access)) for access in ways))
    return {server.addr: server for server in observe_servers(eyes, 1000.0).audited_servers}


def test_an_open_cluster_in_plain_text(exit_stack: ExitStack) -> None:
    broker = exit_stack.enter_context(FakeBroker())
    server = exit_stack.enter_context(knowing(broker))
    listening = exit_stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    told_by(broker, haListenPort=str(listening.getsockname()[1]))
    servers_by_addr = seen(exit_stack, server.addr)
    one, other = servers_by_addr[server.addr], servers_by_addr[broker.addr]
    assert (one.kind, one.answers_plain_text, one.speaks_tls, one.lists_brokers, one.is_ours) == (
        "name server",
        True,
        False,
        True,
        False,
    )
    assert one.settings == one.public_settings == server.config
    assert one.version == other.version
    assert (other.kind, other.answers_plain_text, other.has_open_replication) == ("broker", True, True)
    assert other.public_settings is not None
    assert not CHANGE_CODES.intersection(broker.asked_codes() + server.asked_codes())


def test_a_port_of_replication_that_is_closed(exit_stack: ExitStack) -> None:
    broker = exit_stack.enter_context(FakeBroker())
    server = exit_stack.enter_context(knowing(broker))
    told_by(broker, haListenPort=str(closed_port()))
    assert seen(exit_stack, server.addr)[broker.addr].has_open_replication is False
    told_by(broker, haListenPort="none")
    assert seen(exit_stack, server.addr)[broker.addr].has_open_replication is None


def test_a_server_behind_tls_is_asked_through_it(exit_stack: ExitStack, authority: Authority) -> None:
    server = exit_stack.enter_context(FakeNameServer(tls=authority.issue("ns").for_servers()))
    audited_server = seen(exit_stack, server.addr, own=Access(timeout=2.0, tls=Tls(Path(authority.ca))))[
        server.addr
    ]
    assert (audited_server.answers_plain_text, audited_server.speaks_tls, audited_server.lists_brokers) == (
        False,
        True,
        True,
    )
    assert audited_server.certificate is not None
    assert (audited_server.certificate.subject_name, audited_server.certificate.is_self_signed) == (
        "ns",
        False,
    )
    assert audited_server.public_settings == server.config


def test_ours_is_known_whoever_issued_its_certificate(exit_stack: ExitStack, authority: Authority) -> None:
    server = exit_stack.enter_context(FakeNameServer(tls=authority.issue("ns").for_servers()))

    def telling(asked: RemotingCommand) -> RemotingCommand:
        answer = server._cluster_info(asked)
        answer.ext = {"heartbeats": "{}"}
        return answer

    server.handlers[RequestCode.GET_BROKER_CLUSTER_INFO] = telling
    assert seen(exit_stack, server.addr)[server.addr].is_ours


def test_one_that_refuses_tells_its_version_all_the_same(exit_stack: ExitStack) -> None:
    server = exit_stack.enter_context(FakeNameServer())
    for code in (RequestCode.GET_NAMESRV_CONFIG, RequestCode.GET_BROKER_CLUSTER_INFO):
        server.handlers[code] = refuse_with(16, "who are you?")
    audited_server = seen(exit_stack, server.addr)[server.addr]
    assert (
        audited_server.settings,
        audited_server.public_settings,
        audited_server.lists_brokers,
        audited_server.error,
    ) == (None, None, False, None)
    assert audited_server.version is not None


def test_one_that_is_not_there(exit_stack: ExitStack) -> None:
    addr = f"127.0.0.1:{closed_port()}"
    assert seen(exit_stack, addr)[addr].error == "connection refused, no server listens on this port"


def test_both_ports_of_a_proxy(exit_stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    broker = exit_stack.enter_context(FakeBroker())
    server = exit_stack.enter_context(knowing(broker))
    open_proxy, closed_proxy = (exit_stack.enter_context(FakeProxy(is_local=True)) for _ in range(2))
    closed_proxy.handlers[203] = refuse_with(1, "username cannot be null.")
    gone = f"127.0.0.1:{closed_port()}"
    answer = ServerResult("", GrpcConnections(8081, ("10.0.0.1:5",)), None)
    monkeypatch.setattr(grpc_connections, "is_grpc_installed", lambda: True)
    monkeypatch.setattr(grpc_connections, "read_connections", lambda addr, *_: answer)
    monkeypatch.setattr(
        ServerCertificates,
        "get_own",
        lambda self, addrs: [ServerResult(addr, None, NoTls("no")) for addr in addrs],
    )
    access = Access(timeout=2.0, proxies=(open_proxy.addr, closed_proxy.addr))
    servers_by_addr = seen(exit_stack, server.addr, own=access)
    opened, closed, grpc_port = (
        servers_by_addr[addr] for addr in (open_proxy.addr, closed_proxy.addr, "10.0.0.7:8081")
    )
    assert (opened.kind, opened.version, opened.public_settings) == ("proxy", "V5_5_0", {})
    assert (opened.answers_plain_text, opened.speaks_tls) == (True, False)
    assert closed.public_settings is None
    assert (grpc_port.answers_plain_text, grpc_port.speaks_tls, grpc_port.lists_connections) == (
        True, False, True,
    )  # fmt: skip
    monkeypatch.setattr(grpc_connections, "is_grpc_installed", lambda: False)
    servers_by_addr = seen(exit_stack, server.addr, own=access._replace(proxies=(gone, open_proxy.addr)))
    assert servers_by_addr[gone].error is not None
    assert servers_by_addr["10.0.0.7:8081"].answers_plain_text is None
