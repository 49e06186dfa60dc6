"""Probes of a server over a short connection: its TLS certificates, and whether it accepts connections."""

import socket
from typing import Any

from namesrv_core.errors import RocketMQError
from namesrv_core.transport.address import split_addr
from namesrv_core.transport.exchange import CallError
from namesrv_core.transport.host_resolver import AddrLookup
from namesrv_core.transport.tls_client import TlsClient, TlsConnection

_CHUNK_BYTES = 64 * 1024
_TUNNEL_CHECK_SECONDS = 1.0


def fetch_certificates(
    server_addr: str, tls_client: TlsClient, timeout_seconds: float, find_addrs: AddrLookup | None = None
) -> list[dict[str, Any]]:
    """Fetch the server's certificate chain, its own certificate first; empty if it does not use TLS.

    `find_addrs` replaces the resolution of the host name.

    Raises CallError if the server cannot be reached or does not answer in time.
    """
    try:
        with _open_socket(server_addr, timeout_seconds, find_addrs) as tcp_socket:
            tls_connection = tls_client.create_connection(split_addr(server_addr)[0])
            _run_handshake(tcp_socket, tls_connection)
    except TimeoutError:
        raise CallError(server_addr, "timeout", f"no answer within {timeout_seconds:g} s") from None
    except (OSError, ValueError) as error:
        raise CallError(server_addr, "unconnected", str(getattr(error, "strerror", None) or error)) from None
    return tls_connection.presented_certificates()


def can_connect(server_addr: str, timeout_seconds: float, find_addrs: AddrLookup | None = None) -> bool:
    """Whether the address accepts a connection in time. The connection is closed at once.

    The local end of a tunnel (`find_addrs`) always accepts. If the server refuses, it closes soon.
    """
    try:
        with _open_socket(server_addr, timeout_seconds, find_addrs) as tcp_socket:
            if find_addrs is None:
                return True
            tcp_socket.settimeout(min(timeout_seconds, _TUNNEL_CHECK_SECONDS))
            return bool(tcp_socket.recv(1))
    except TimeoutError:
        return find_addrs is not None
    except (OSError, ValueError, CallError):
        return False


def _open_socket(server_addr: str, timeout_seconds: float, find_addrs: AddrLookup | None) -> socket.socket:
    if find_addrs is None:
        return socket.create_connection(split_addr(server_addr), timeout_seconds)
    family, socket_addr = find_addrs(server_addr)[0]
    tunnel_socket = socket.socket(family, socket.SOCK_STREAM)
    try:
        tunnel_socket.settimeout(timeout_seconds)
        tunnel_socket.connect(socket_addr)
    except BaseException:
        tunnel_socket.close()
        raise
    return tunnel_socket


def _run_handshake(tcp_socket: socket.socket, tls_connection: TlsConnection) -> None:
    """Run the handshake until it succeeds or fails. Both leave the certificates that the server presented."""
    received_bytes = b""
    while not tls_connection.is_ready:
        try:
            tls_connection.feed_bytes(received_bytes)
        except RocketMQError:
            return
        tcp_socket.sendall(tls_connection.drain_outgoing())
        if not tls_connection.is_ready:
            received_bytes = tcp_socket.recv(_CHUNK_BYTES)
            if not received_bytes:
                return
