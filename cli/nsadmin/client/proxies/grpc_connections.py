"""Reads the connections of gRPC clients from the gRPC port of a proxy, with gRPC's Channelz service.

Proxies have no request that lists producers. Channelz has the address of every connection, so a connection
that no consumer uses is visible at least. It needs `grpcio`, which the extra `nsadmin[proxy]` installs.
"""

import re
import socket
from typing import TYPE_CHECKING, Any, NamedTuple

from namesrv_core.errors import BadSettings
from namesrv_core.transport.address import join_addr
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.results import ServerResult

if TYPE_CHECKING:
    from namesrv_core.transport.host_resolver import AddrLookup
    from nsadmin.client.connection.access_options import Tls

# Names of sockets by Netty, such as "NettyServerTransport{..., L:/127.0.0.1:8081 - R:/127.0.0.1:41110]}".
_REMOTE_PATTERN = re.compile(r" - R:[^/]{0,255}/(\S{1,255}?:\d{1,5})\]")
_LISTEN_PATTERN = re.compile(r"addresses=\[[^/]{0,255}/(\S{1,255}?):(\d{1,5})\]")


class GrpcConnections(NamedTuple):
    """The connections to the gRPC port of a proxy.

    Attributes:
        grpc_port: The port; None if not reported.
        client_addrs: The address of each client, as the proxy sees it, without this program.
    """

    grpc_port: int | None
    client_addrs: tuple[str, ...]


def is_grpc_installed() -> bool:
    """Return whether `grpcio` and its Channelz messages are installed."""
    try:
        import grpc_channelz.v1.channelz_pb2_grpc  # noqa: F401
    except ImportError:
        return False
    return True


def read_connections(
    server_addr: str, timeout_seconds: float, tls: "Tls | None" = None, find_addrs: "AddrLookup | None" = None
) -> ServerResult[GrpcConnections]:
    """Read the connections of gRPC clients (Channelz: GetServers, GetServerSockets)."""
    import grpc

    try:
        with _open_channel(server_addr, tls, find_addrs) as channel:
            return ServerResult(server_addr, _ask_channelz(channel, timeout_seconds), None)
    except grpc.RpcError as error:
        status: Any = error
        reason = f"no answer to gRPC: {status.code().name.lower().replace('_', ' ')}"
        return ServerResult(server_addr, None, CallError(server_addr, "unreachable", reason))
    except BadSettings as error:
        return ServerResult(server_addr, None, CallError(server_addr, "unreachable", str(error)))
    except CallError as error:
        return ServerResult(server_addr, None, error)


def _open_channel(server_addr: str, tls: "Tls | None", find_addrs: "AddrLookup | None") -> Any:
    import grpc

    grpc_target, channel_options = server_addr, list[tuple[str, str]]()
    if find_addrs is not None:
        family, socket_addr = find_addrs(server_addr)[0]
        grpc_target = f"unix:{socket_addr}" if family == socket.AF_UNIX else join_addr(*socket_addr)
        channel_options = [("grpc.default_authority", server_addr)]
    if tls is None:
        return grpc.insecure_channel(grpc_target, channel_options)
    if not tls.verify:
        raise BadSettings("gRPC always verifies certificates: pass --tlsCa instead of --insecure")
    if tls.key_password is not None:
        raise BadSettings("gRPC reads no keys with a password")
    certificate, key = tls.cert_file, tls.key_file or tls.cert_file
    channel_credentials = grpc.ssl_channel_credentials(
        tls.ca_file and tls.ca_file.read_bytes(),
        key and key.read_bytes(),
        certificate and certificate.read_bytes(),
    )
    if tls.server_name:
        channel_options.append(("grpc.ssl_target_name_override", tls.server_name))
    return grpc.secure_channel(grpc_target, channel_credentials, channel_options)


def _ask_channelz(channel: Any, timeout_seconds: float) -> GrpcConnections:
    from grpc_channelz.v1 import channelz_pb2, channelz_pb2_grpc

    channelz = channelz_pb2_grpc.ChannelzStub(channel)
    servers = channelz.GetServers(channelz_pb2.GetServersRequest(), timeout=timeout_seconds).server
    sockets: list[tuple[int, str]] = []
    grpc_port = None
    for server in servers:
        listen_match = _LISTEN_PATTERN.search(server.ref.name)
        grpc_port = int(listen_match[2]) if listen_match else grpc_port
        sockets += _list_sockets(channelz, server.ref.server_id, timeout_seconds)
    # Ids ascend, and this connection is the newest one.
    own_id = max((socket_id for socket_id, _ in sockets), default=None)
    remote_matches = [_REMOTE_PATTERN.search(n) for socket_id, n in sorted(sockets) if socket_id != own_id]
    return GrpcConnections(grpc_port, tuple(match[1] for match in remote_matches if match))


def _list_sockets(channelz: Any, server_id: int, timeout_seconds: float) -> list[tuple[int, str]]:
    from grpc_channelz.v1 import channelz_pb2

    sockets: list[tuple[int, str]] = []
    while True:
        start_id = sockets[-1][0] + 1 if sockets else 0
        request = channelz_pb2.GetServerSocketsRequest(server_id=server_id, start_socket_id=start_id)
        response = channelz.GetServerSockets(request, timeout=timeout_seconds)
        sockets += [(socket_ref.socket_id, socket_ref.name) for socket_ref in response.socket_ref]
        if response.end or not response.socket_ref:
            return sockets
