"""Pool, a set of open connections that several clients share."""

from typing import TYPE_CHECKING

from namesrv_core.transport.multiplexed_client import MultiplexedClient
from nsadmin.client.connection.access_options import Access, Tls
from nsadmin.client.connection.thread_safe_connections import ThreadSafeConnections

if TYPE_CHECKING:
    from namesrv_core.transport.tls_client import TlsClient
    from nsadmin.client.connection.tunnels.tunnel_targets import TunnelTarget

    _PoolKey = tuple[Tls | None, int, TunnelTarget | None]


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
        pool_key = (access.tls, access.concurrency, access.tunnel)
        known_connections = self._connections_by_key.get(pool_key)
        if known_connections is not None:
            return known_connections
        tls_client = _build_tls_client(access)
        # Two threads may come here at once. Both get the first object. The second object has no connections.
        return self._connections_by_key.setdefault(
            pool_key,
            ThreadSafeConnections(
                lambda addrs: MultiplexedClient(access.concurrency, tls_client=tls_client, find_addrs=addrs),
                access.tunnel,
            ),
        )

    def close(self) -> None:
        """Close every connection. Pending and later calls of the clients so far raise ClientClosed."""
        while self._connections_by_key:
            self._connections_by_key.popitem()[1].close(
                "the pool of this client is closed: create a new client"
            )


def _build_tls_client(access: Access) -> "TlsClient | None":
    if access.tls is None:
        return None
    # Imported here because it loads the ssl module, which plain-text clients do not need.
    from namesrv_core.transport.tls_client import TlsClient

    return TlsClient(*access.tls)
