"""HttpSlots, which bounds the open HTTP connections, altogether and for each address.

A new connection is always admitted, so a probe is answered however many connections others hold. If there are
too many, the connection that is missed least is closed.
"""

from collections import Counter
from enum import IntEnum
from typing import Protocol

MAX_CONNECTIONS = 64
MAX_CONNECTIONS_PER_HOST = 32


class HttpPhase(IntEnum):
    """What a connection is doing, in the order in which connections are closed to make room."""

    IDLE = 0
    SENDS_REQUEST = 1
    READS_RESPONSE = 2
    AWAITS_RESPONSE = 3


class SlotHolder(Protocol):
    """A connection that can be closed to make room."""

    peer_host: str

    def current_phase(self) -> HttpPhase:
        """What the connection is doing."""

    def close(self) -> None:
        """Close the connection after its pending response."""

    def abort(self) -> None:
        """Close the connection at once."""


class HttpSlots:
    """The open connections, ordered by the time at which they last began or ended a request."""

    def __init__(
        self, max_connections: int = MAX_CONNECTIONS, max_connections_per_host: int = MAX_CONNECTIONS_PER_HOST
    ) -> None:
        self._max_connections = max_connections
        self._max_connections_per_host = max_connections_per_host
        self._counts_by_host: Counter[str] = Counter()
        # A dict is an ordered set: its oldest item comes first.
        self._holders: dict[SlotHolder, None] = {}

    def list_holders(self) -> list[SlotHolder]:
        """The open connections."""
        return list(self._holders)

    def admit_holder(self, new_holder: SlotHolder) -> None:
        """Add a connection. If there are too many now, close another one."""
        self._holders[new_holder] = None
        self._counts_by_host[new_holder.peer_host] += 1
        if self._counts_by_host[new_holder.peer_host] > self._max_connections_per_host:
            crowded_hosts = {new_holder.peer_host}
        elif len(self._holders) > self._max_connections:
            largest = max(self._counts_by_host.values())
            crowded_hosts = {host for host, count in self._counts_by_host.items() if count == largest}
        else:
            return
        closed_holder = min(
            (
                holder
                for holder in self._holders
                if holder is not new_holder and holder.peer_host in crowded_hosts
            ),
            # If several have the same phase, `min` takes the first, which is the oldest.
            key=lambda holder: holder.current_phase(),
        )
        self.release_holder(closed_holder)
        closed_holder.abort()

    def renew_holder(self, holder: SlotHolder) -> None:
        """Note that a connection began or ended a request."""
        if holder in self._holders:
            del self._holders[holder]
            self._holders[holder] = None

    def release_holder(self, holder: SlotHolder) -> None:
        """Remove a connection. It may have been removed before."""
        if holder not in self._holders:
            return
        del self._holders[holder]
        self._counts_by_host[holder.peer_host] -= 1
        if not self._counts_by_host[holder.peer_host]:
            del self._counts_by_host[holder.peer_host]
