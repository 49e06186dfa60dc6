"""Connections to the gRPC port of a proxy."""

import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from nsadmin.client.connection.access_options import Tls
from nsadmin.client.proxies import grpc_connections
from nsadmin.client.proxies.grpc_connections import GrpcConnections, read_connections
from tests.support.certificates import Authority
from tests.support.fake_servers import closed_port

grpc = pytest.importorskip("grpc")
channelz_pb2 = pytest.importorskip("grpc_channelz.v1.channelz_pb2")


@pytest.fixture
def sockets() -> dict[int, str]:
    """Names by id, as Netty writes them; the newest one is that of the client itself."""
    return {
        4: "NettyServerTransport{logId=4, channel=[id: 0x1, L:/10.0.0.9:8081 - R:/10.0.0.1:5]}",
        7: "NettyServerTransport{logId=7, channel=[id: 0x2, L:/10.0.0.9:8081 - R:/10.0.0.2:6]}",
        9: "NettyServerTransport{logId=9, channel=[id: 0x3, L:/10.0.0.9:8081 - R:/10.0.0.3:7]}",
    }


@pytest.fixture
def proxy(sockets: dict[int, str]) -> Iterator[str]:
    """A server with the Channelz service, as a proxy of 5.5.0 answers; two sockets a page."""
    from grpc_channelz.v1 import channelz_pb2_grpc

    class Channelz(channelz_pb2_grpc.ChannelzServicer):  # type: ignore[misc]
        def GetServers(self, request: Any, context: Any) -> Any:
            name = "ServerImpl{logId=2, transportServer=NettyServer{logId=1, addresses=[/10.0.0.9:8081]}}"
            ref = channelz_pb2.ServerRef(server_id=2, name=name)
            return channelz_pb2.GetServersResponse(server=[channelz_pb2.Server(ref=ref)], end=True)

        def GetServerSockets(self, request: Any, context: Any) -> Any:
            assert request.server_id == 2
            later = sorted(number for number in sockets if number >= request.start_socket_id)
            refs = [channelz_pb2.SocketRef(socket_id=number, name=sockets[number]) for number in later[:2]]
            return channelz_pb2.GetServerSocketsResponse(socket_ref=refs, end=len(later) <= 2)

    server = grpc.server(ThreadPoolExecutor(2))
    channelz_pb2_grpc.add_ChannelzServicer_to_server(Channelz(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None).wait()


def test_every_connection_but_our_own(proxy: str) -> None:
    assert read_connections(proxy, 5).value() == GrpcConnections(8081, ("10.0.0.1:5", "10.0.0.2:6"))


def test_without_a_server_the_error_is_that_of_a_server_that_does_not_answer() -> None:
    error = read_connections(f"127.0.0.1:{closed_port()}", 5).error
    assert str(error).endswith("no answer to gRPC: unavailable")


@pytest.mark.parametrize(
    ("tls", "reason"),
    [
        (Tls(verify=False), "gRPC always verifies certificates"),
        (Tls(key_password="p"), "gRPC reads no keys with a password"),
    ],
)
def test_tls_settings_that_grpc_does_not_have(tls: Tls, reason: str) -> None:
    error = read_connections("127.0.0.1:1", 5, tls).error
    assert re.search(reason, str(error))


def test_plain_text_is_no_tls(proxy: str, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    assert read_connections(proxy, 2, Tls(ca_file=authority.ca)).error is not None


def test_the_extra_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert grpc_connections.is_grpc_installed()
    monkeypatch.setitem(sys.modules, "grpc_channelz.v1.channelz_pb2_grpc", None)
    assert not grpc_connections.is_grpc_installed()
