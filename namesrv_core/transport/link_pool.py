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
        for link in self:
            link.close()
        self._links_by_addr.clear()

    def get_peer(self, server_addr: str) -> Any:
        """The socket address of the connected peer; None if there is no connection to that address."""
        link = self._links_by_addr.get(server_addr)
        # Read once, because another thread may be closing the link.
        sock = None if link is None else link.tcp_socket
        with suppress(OSError):
            return None if sock is None else sock.getpeername()

    def queue_requests(self, requests: Sequence[tuple[str, RemotingCommand]]) -> deque[ServerLink]:
        """Queue each request, with its index, in the link of its server. Return these links."""
        chosen_links: dict[str, ServerLink] = {}
        for index, (server_addr, request) in enumerate(requests):
            link = chosen_links.get(server_addr)
            if link is None:
                # Removed and inserted again, so that the least recently used links come first.
                link = chosen_links[server_addr] = (
                    self._links_by_addr.pop(server_addr)
                    if server_addr in self._links_by_addr
                    else ServerLink(server_addr)
                )
                self._links_by_addr[server_addr] = link
            link.unsent_requests.append((index, request))
        return deque(chosen_links.values())

    def close_idle_links(self, active_links: set[ServerLink], max_sockets: int) -> None:
        """Close idle connections, the least recently used first, if one more would exceed the limit."""
        idle_links = [link for link in self if link.tcp_socket and link not in active_links]
        for link in idle_links[: max(0, len(idle_links) + len(active_links) - max_sockets)]:
            link.close()
