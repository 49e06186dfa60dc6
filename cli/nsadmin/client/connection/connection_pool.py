"""The connections of clients: Pool shares them, ThreadSafeConnections lends them to the calls of threads.

Rule: one thread at a time uses a MultiplexedClient, and only that thread ends its requests. Others wake it.
"""

import os
from _thread import RLock
from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError, Exchange, ExchangeObserver, MultiplexedClient
from nsadmin.client.connection.access_options import Access, Tls
from nsadmin.client.results import ClientClosed

if TYPE_CHECKING:
    from threading import Condition

    from namesrv_core.transport.tls_client import TlsClient
    from nsadmin.client.connection.tunnels.tunnel import Tunnel
    from nsadmin.client.connection.tunnels.tunnel_targets import TunnelTarget

    _PoolKey = tuple[Tls | None, int, TunnelTarget | None]

MAX_CALLS_AT_ONCE = 16
"""The limit of calls that use these connections at the same time. Further calls wait."""


class CallScope:
    """A group of calls that end together: those of a client, or those of one task.

    Attributes:
        end_reason: Why the calls end; None while they may go on.
    """

    def __init__(self, parent: "CallScope | None" = None) -> None:
        self._parent = parent
        self.end_reason: str | None = None

    def lies_within(self, other_scope: "CallScope") -> bool:
        """Return whether this scope ends with another one."""
        return self is other_scope or (self._parent is not None and self._parent.lies_within(other_scope))

    def find_end_reason(self) -> str | None:
        """Return why the calls end: the scope's own reason, else its parent's; None if they may go on."""
        if self.end_reason is not None or self._parent is None:
            return self.end_reason
        return self._parent.find_end_reason()

    def require_open(self) -> None:
        """Check that a call may begin."""
        end_reason = self.find_end_reason()
        if end_reason is not None:
            raise ClientClosed(end_reason)

    def require_unended(self) -> None:
        """Check that a pending call may go on."""
        end_reason = self.find_end_reason()
        if end_reason is not None:
            raise ClientClosed(f"{end_reason}; a change without an answer is possibly done")


class ThreadSafeConnections:
    """Lends each call its own MultiplexedClient. A forked process opens its own connections."""

    def __init__(
        self, concurrency: int, tls_client: "TlsClient | None", tunnel_target: "TunnelTarget | None" = None
    ) -> None:
        self._concurrency, self._tls_client = concurrency, tls_client
        self._tunnel_target = tunnel_target
        self._leased_tunnel: Tunnel | None = None
        self._scope = CallScope()
        self._prepare_process()

    def lease_tunnel(self) -> "Tunnel | None":
        """Return the tunnel, which may be used until the connections are closed; None if they are direct."""
        if self._tunnel_target is None:
            return None
        with self._guard:
            self._scope.require_open()
            if self._leased_tunnel is None:
                # Imported here because direct connections do not need it.
                from nsadmin.client.connection.tunnels.tunnel_leases import lease_tunnel

                self._leased_tunnel = lease_tunnel(self._tunnel_target)
            return self._leased_tunnel

    def _prepare_process(self) -> None:
        self._owner_pid, self._guard, self._observer_guard = os.getpid(), RLock(), RLock()
        self._condition: Condition | None = None
        self._idle_clients: list[MultiplexedClient] = []
        self._busy_clients: dict[MultiplexedClient, CallScope] = {}

    def open_scope(self) -> CallScope:
        """Return a scope for the calls of one client. It ends when the connections are closed."""
        return CallScope(self._scope)

    def send_requests(
        self,
        calls: Iterable[tuple[str, RemotingCommand]],
        timeout_seconds: float,
        observer: ExchangeObserver | None,
        scope: CallScope,
    ) -> list[RemotingCommand | CallError]:
        """Send requests to several servers at once and wait for the answers."""
        multiplexed_client = self._borrow_client(scope)
        try:
            answers = multiplexed_client.send_requests(
                calls, timeout_seconds, observer and self._serialize_calls(observer), scope.require_unended
            )
        finally:
            self._return_client(multiplexed_client)
        return answers if self._leased_tunnel is None else self._leased_tunnel.explain_failures(answers)

    def pause(self, pause_seconds: float, scope: CallScope) -> None:
        """Wait between two requests of a call."""
        with self._guard:
            self._wakeup_condition().wait_for(scope.find_end_reason, pause_seconds)
        scope.require_open()

    def end_scope(self, scope: CallScope, end_reason: str) -> None:
        """End the pending calls of a scope, and the scopes within it. They raise ClientClosed."""
        self._leave_parent_process()
        with self._guard:
            scope.end_reason = scope.end_reason or end_reason
            for multiplexed_client, busy_scope in self._busy_clients.items():
                if busy_scope.lies_within(scope):
                    multiplexed_client.wake()
            if self._condition is not None:
                self._condition.notify_all()

    def close(self, end_reason: str) -> None:
        """Close the connections. Pending and later calls raise ClientClosed."""
        self.end_scope(self._scope, end_reason)
        with self._guard:
            while self._idle_clients:
                self._idle_clients.pop().close()
            leased_tunnel, self._leased_tunnel = self._leased_tunnel, None
        if leased_tunnel is not None and self._tunnel_target is not None:
            from nsadmin.client.connection.tunnels.tunnel_leases import return_lease

            return_lease(self._tunnel_target)

    def get_peer(self, server_addr: str) -> Any:
        """Return the socket address of the peer that is connected at an address; None if not connected.

        None through a tunnel too, because only the tunnel knows the address. Of several connections, the last
        used one counts.
        """
        if self._tunnel_target is not None:
            return None
        self._leave_parent_process()
        with self._guard:
            for multiplexed_client in chain(reversed(self._idle_clients), self._busy_clients):
                peer = multiplexed_client.get_peer(server_addr)
                if peer is not None:
                    return peer
        return None

    def _borrow_client(self, scope: CallScope) -> MultiplexedClient:
        """Take the idle client that was used last, so that calls in turn share their connections."""
        self._leave_parent_process()
        with self._guard:
            scope.require_open()
            while not self._idle_clients and len(self._busy_clients) >= MAX_CALLS_AT_ONCE:
                self._wakeup_condition().wait()
                scope.require_open()
            multiplexed_client = self._idle_clients.pop() if self._idle_clients else self._open_client()
            self._busy_clients[multiplexed_client] = scope
            return multiplexed_client

    def _open_client(self) -> MultiplexedClient:
        tunnel = self.lease_tunnel()
        find_addrs = None if tunnel is None else tunnel.find_addrs
        return MultiplexedClient(self._concurrency, tls_client=self._tls_client, find_addrs=find_addrs)

    def _return_client(self, multiplexed_client: MultiplexedClient) -> None:
        with self._guard:
            self._busy_clients.pop(multiplexed_client, None)
            if self._scope.end_reason is None:
                self._idle_clients.append(multiplexed_client)
            else:
                multiplexed_client.close()
            if self._condition is not None:
                self._condition.notify_all()

    def _wakeup_condition(self) -> "Condition":
        """The condition of calls that wait without a connection; notified of each change."""
        if self._condition is None:
            # Imported here because most commands never wait, and need no other part of the module.
            from threading import Condition

            self._condition = Condition(self._guard)
        return self._condition

    def _serialize_calls(self, observer: ExchangeObserver) -> ExchangeObserver:
        """Let one thread at a time call the observer, which may count or print."""

        def notify_observer(exchange: Exchange) -> None:
            with self._observer_guard:
                observer(exchange)

        return notify_observer

    def _leave_parent_process(self) -> None:
        """In a forked process, begin again.

        Parent and child would read each other's answers from the inherited sockets, and the state of the
        inherited locks is unknown.
        """
        if self._owner_pid == os.getpid():
            return
        inherited_clients = [*self._idle_clients, *self._busy_clients]
        self._prepare_process()
        for multiplexed_client in inherited_clients:
            multiplexed_client.close()


class Pool:
    """Open connections that clients share if their TLS options, concurrency and tunnel are equal.

    The code that creates a pool closes it; closing a client does not.
    """

    def __init__(self) -> None:
        self._connections_by_key: dict[_PoolKey, ThreadSafeConnections] = {}

    def get_connections(self, access: Access) -> ThreadSafeConnections:
        """Return the connections for these options; create them on first use.

        Args:
            access: The connection options. Only `tls`, `concurrency` and `tunnel` count.

        Raises:
            BadSettings: A TLS file cannot be used.
        """
        key = (access.tls, access.concurrency, access.tunnel)
        known_connections = self._connections_by_key.get(key)
        if known_connections is not None:
            return known_connections
        connections = ThreadSafeConnections(access.concurrency, _build_tls_client(access.tls), access.tunnel)
        # Two threads may come here at once. Both get the first object. The second object has no connections.
        return self._connections_by_key.setdefault(key, connections)

    def close(self) -> None:
        """Close every connection. Pending and later calls of the clients so far raise ClientClosed."""
        while self._connections_by_key:
            self._connections_by_key.popitem()[1].close(
                "the pool of this client is closed: create a new client"
            )


def _build_tls_client(tls: Tls | None) -> "TlsClient | None":
    if tls is None:
        return None
    # Imported here because it loads the ssl module, which plain-text clients do not need.
    from namesrv_core.transport.tls_client import TlsClient

    return TlsClient(*tls)
