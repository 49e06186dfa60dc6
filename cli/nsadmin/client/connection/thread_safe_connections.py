"""ThreadSafeConnections, connections that threads share and that survive a fork.

Rule: one thread at a time uses a MultiplexedClient, and only that thread ends its requests. Others wake it.
"""

import os
from _thread import RLock
from collections.abc import Callable, Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.host_resolver import AddrLookup
from namesrv_core.transport.multiplexed_client import CallError, Exchange, ExchangeObserver, MultiplexedClient
from nsadmin.client.connection.call_scope import CallScope

if TYPE_CHECKING:
    from threading import Condition

    from nsadmin.client.connection.tunnels.tunnel import Tunnel
    from nsadmin.client.connection.tunnels.tunnel_targets import TunnelTarget

MAX_CALLS_AT_ONCE = 16
"""The limit of calls that use these connections at the same time. Further calls wait."""


class ThreadSafeConnections:
    """Lends each call its own MultiplexedClient. A forked process opens its own connections."""

    def __init__(
        self,
        make_connections: Callable[[AddrLookup | None], MultiplexedClient],
        tunnel_target: "TunnelTarget | None" = None,
    ) -> None:
        self._make_connections = make_connections
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
        return self._make_connections(None if tunnel is None else tunnel.find_addrs)

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
