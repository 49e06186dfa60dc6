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
        with _open_socket(server_addr, timeout_seconds, find_addrs) as sock:
            tls = tls_client.create_connection(split_addr(server_addr)[0])
            _run_handshake(sock, tls)
    except TimeoutError:
        raise CallError(server_addr, "timeout", f"no answer within {timeout_seconds:g} s") from None
    except (OSError, ValueError) as error:
        raise CallError(server_addr, "unconnected", str(getattr(error, "strerror", None) or error)) from None
    return tls.presented_certificates()


def can_connect(server_addr: str, timeout_seconds: float, find_addrs: AddrLookup | None = None) -> bool:
    """Whether the address accepts a connection in time. The connection is closed at once.

    The local end of a tunnel (`find_addrs`) always accepts. If the server refuses, it closes soon.
    """
    try:
        with _open_socket(server_addr, timeout_seconds, find_addrs) as sock:
            if find_addrs is None:
                return True
            sock.settimeout(min(timeout_seconds, _TUNNEL_CHECK_SECONDS))
            return bool(sock.recv(1))
    except TimeoutError:
        return find_addrs is not None
    except (OSError, ValueError, CallError):
        return False


def _open_socket(server_addr: str, timeout_seconds: float, find_addrs: AddrLookup | None) -> socket.socket:
    if find_addrs is None:
        return socket.create_connection(split_addr(server_addr), timeout_seconds)
    family, addr = find_addrs(server_addr)[0]
    tunnel = socket.socket(family, socket.SOCK_STREAM)
    try:
        tunnel.settimeout(timeout_seconds)
        tunnel.connect(addr)
    except BaseException:
        tunnel.close()
        raise
    return tunnel


def _run_handshake(sock: socket.socket, tls: TlsConnection) -> None:
    """Run the handshake until it succeeds or fails. Both leave the certificates that the server presented."""
    received = b""
    while not tls.is_ready:
        try:
            tls.feed_bytes(received)
        except RocketMQError:
            return
        sock.sendall(tls.drain_outgoing())
        if not tls.is_ready:
            received = sock.recv(_CHUNK_BYTES)
            if not received:
                return
