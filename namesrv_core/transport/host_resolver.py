"""HostResolver, which finds the socket addresses of servers without blocking MultiplexedClient's selector."""

import socket
from collections import deque
from collections.abc import Callable
from math import inf

from namesrv_core.transport.address import explain_invalid_addr, split_addr
from namesrv_core.transport.exchange import CallError
from namesrv_core.transport.selector_bell import SelectorBell
from namesrv_core.transport.server_link import ServerLink, SocketAddress

LookupResult = list[SocketAddress] | CallError
AddrLookup = Callable[[str], list[SocketAddress]]
"""Takes a server address. Returns the socket addresses to connect to, within its own time limit. Raises
CallError. A tunnel returns the local end of the way to the server."""


def resolve_host(host: str, port: int, lookup_flags: int = 0) -> list[SocketAddress]:
    """The socket addresses of a host. Raises OSError if there are none."""
    # Bytes, because Python loads its IDNA codec for every str, and an ASCII name does not need it.
    encoded = host.encode() if host.isascii() else host
    try:
        infos = socket.getaddrinfo(encoded, port, type=socket.SOCK_STREAM, flags=lookup_flags)
    except UnicodeError:
        raise OSError(0, "invalid name") from None
    return [(family, sockaddr) for family, _, _, _, sockaddr in infos]


class HostResolver:
    """Resolves host names in threads. A thread that has ended rings the bell of the selector.

    With `find_addrs`, that function finds the addresses of all servers.
    """

    def __init__(self, selector_bell: SelectorBell, find_addrs: AddrLookup | None = None) -> None:
        self._bell = selector_bell
        self._find_addrs = find_addrs
        self._resolved_hosts: deque[tuple[ServerLink, LookupResult]] = deque()

    def resolve_at_once(self, link: ServerLink) -> list[SocketAddress]:
        """The socket addresses of a numeric address. For others, returns [] and resolves in a thread.

        Raises CallError.
        """
        if self._find_addrs is not None:
            # The opening of a tunnel may include a login. The request's time begins after it.
            link.deadline = link.attempt_ends_at = inf
            self._resolve_in_thread(link, self._find_addrs)
            return []
        try:
            host, port = split_addr(link.server_addr)
        except ValueError:
            reason = explain_invalid_addr(link.server_addr)
            raise CallError(link.server_addr, "unresolvable", reason) from None
        try:
            return resolve_host(host, port, socket.AI_NUMERICHOST)
        except OSError:
            self._resolve_in_thread(link, _resolve_server)
            return []

    def _resolve_in_thread(self, link: ServerLink, find_addrs: AddrLookup) -> None:
        """Resolve in a thread, because getaddrinfo has no timeout and would block the other links."""
        from threading import Thread

        def resolve_and_ring() -> None:
            try:
                result: LookupResult = find_addrs(link.server_addr)
            except CallError as error:
                result = error
            self._resolved_hosts.append((link, result))
            self._bell.ring()

        Thread(target=resolve_and_ring, daemon=True).start()

    def take_resolved(self) -> list[tuple[ServerLink, LookupResult]]:
        """The links whose host names have been resolved since the last call, with the results."""
        resolved_links = []
        while self._resolved_hosts:
            resolved_links.append(self._resolved_hosts.popleft())
        return resolved_links


def _resolve_server(server_addr: str) -> list[SocketAddress]:
    try:
        return resolve_host(*split_addr(server_addr))
    except OSError as error:
        reason = f"the host name does not resolve: {error.strerror}"
        raise CallError(server_addr, "unresolvable", reason) from None
