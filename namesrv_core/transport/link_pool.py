"""LinkPool, MultiplexedClient's links by server address, the least recently used first."""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.server_link import ServerLink


class LinkPool:
    """Keeps a link for each server, whether it has an open connection or not."""

    def __init__(self) -> None:
        self._links_by_addr: dict[str, ServerLink] = {}

    def __iter__(self) -> Iterator[ServerLink]:
        return iter(self._links_by_addr.values())

    def close(self) -> None:
        for server_link in self:
            server_link.close()
        self._links_by_addr.clear()

    def get_peer(self, server_addr: str) -> Any:
        """The socket address of the connected peer; None if there is no connection to that address."""
        server_link = self._links_by_addr.get(server_addr)
        # Read once, because another thread may be closing the link.
        tcp_socket = None if server_link is None else server_link.tcp_socket
        with suppress(OSError):
            return None if tcp_socket is None else tcp_socket.getpeername()

    def queue_requests(self, addressed_requests: Sequence[tuple[str, RemotingCommand]]) -> deque[ServerLink]:
        """Queue each request, with its index, in the link of its server. Return these links."""
        chosen_links: dict[str, ServerLink] = {}
        for request_index, (server_addr, request) in enumerate(addressed_requests):
            server_link = chosen_links.get(server_addr)
            if server_link is None:
                # Removed and inserted again, so that the least recently used links come first.
                server_link = chosen_links[server_addr] = (
                    self._links_by_addr.pop(server_addr)
                    if server_addr in self._links_by_addr
                    else ServerLink(server_addr)
                )
                self._links_by_addr[server_addr] = server_link
            server_link.unsent_requests.append((request_index, request))
        return deque(chosen_links.values())

    def close_idle_links(self, active_links: set[ServerLink], max_sockets: int) -> None:
        """Close idle connections, the least recently used first, if one more would exceed the limit."""
        idle_links = [
            server_link for server_link in self if server_link.tcp_socket and server_link not in active_links
        ]
        for server_link in idle_links[: max(0, len(idle_links) + len(active_links) - max_sockets)]:
            server_link.close()
