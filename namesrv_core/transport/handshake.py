"""Handshake: the certificates that a TLS server shows, over a connection of its own that is closed again."""

import socket
from typing import Any

from namesrv_core.errors import RocketMQError
from namesrv_core.transport.address import split_addr
from namesrv_core.transport.exchange import CallError
from namesrv_core.transport.tls import TlsClient, TlsConnection

_CHUNK = 64 * 1024


def shown(addr: str, client: TlsClient, timeout: float) -> list[dict[str, Any]]:
    """What the certificates tell, the server's own first; nothing where it speaks no TLS.

    CallError where it cannot be reached, or says nothing within `timeout` seconds.
    """
    try:
        host, port = split_addr(addr)
        with socket.create_connection((host, port), timeout) as sock:
            connection = client.connection(host)
            _talk(sock, connection)
    except TimeoutError:
        raise CallError(addr, "timeout", f"no answer within {timeout:g} s") from None
    except (OSError, ValueError) as error:
        raise CallError(addr, "unconnected", str(getattr(error, "strerror", None) or error)) from None
    return connection.shown()


def takes_connections(addr: str, timeout: float) -> bool:
    """Whether somebody accepts a connection there within `timeout` seconds; it is closed at once."""
    try:
        socket.create_connection(split_addr(addr), timeout).close()
    except (OSError, ValueError):
        return False
    return True


def _talk(sock: socket.socket, connection: TlsConnection) -> None:
    """Until the handshake is done or has failed; what the server has shown by then is known."""
    data = b""
    while not connection.is_ready:
        try:
            connection.feed(data)
        except RocketMQError:
            return
        sock.sendall(connection.drain())
        if not connection.is_ready:
            data = sock.recv(_CHUNK)
            if not data:
                return
