"""HostResolver, which resolves host names for MultiplexedClient without blocking its selector."""

import socket
from collections import deque

from namesrv_core.transport.selector_bell import SelectorBell
from namesrv_core.transport.server_link import ServerLink, SocketAddress

LookupResult = list[SocketAddress] | OSError


def resolve_host(host: str, port: int, lookup_flags: int = 0) -> list[SocketAddress]:
    """The socket addresses of a host. Raises OSError if there are none."""
    # Bytes, because Python loads its IDNA codec for every str, and an ASCII name does not need it.
    encoded_host = host.encode() if host.isascii() else host
    try:
        addr_infos = socket.getaddrinfo(encoded_host, port, type=socket.SOCK_STREAM, flags=lookup_flags)
    except UnicodeError:
        raise OSError(0, "invalid name") from None
    return [(family, sockaddr) for family, _, _, _, sockaddr in addr_infos]


class HostResolver:
    """Resolves host names in threads. A thread that has ended rings the bell of the selector."""

    def __init__(self, selector_bell: SelectorBell) -> None:
        self._selector_bell = selector_bell
        self._resolved_hosts: deque[tuple[ServerLink, LookupResult]] = deque()

    def resolve_in_thread(self, server_link: ServerLink, host: str, port: int) -> None:
        """Resolve in a thread, because getaddrinfo has no timeout and would block the other links."""
        from threading import Thread

        def resolve_and_ring() -> None:
            try:
                lookup_result: LookupResult = resolve_host(host, port)
            except OSError as error:
                lookup_result = error
            self._resolved_hosts.append((server_link, lookup_result))
            self._selector_bell.ring()

        Thread(target=resolve_and_ring, daemon=True).start()

    def take_resolved(self) -> list[tuple[ServerLink, LookupResult]]:
        """The links whose host names have been resolved since the last call, with the results."""
        resolved_links = []
        while self._resolved_hosts:
            resolved_links.append(self._resolved_hosts.popleft())
        return resolved_links
