"""Pool: connections that clients use one after the other, as long as it is open."""

from typing import TYPE_CHECKING

from namesrv_core.transport.calls import Calls
from nsadmin.client.access import Access, Tls
from nsadmin.client.shared import SharedCalls

if TYPE_CHECKING:
    from namesrv_core.transport.tls import TlsClient


class Pool:
    """Connections made alike are shared; whoever opened it closes it."""

    def __init__(self) -> None:
        self._calls: dict[tuple[Tls | None, int], SharedCalls] = {}

    def calls(self, access: Access) -> SharedCalls:
        """The connections for these ways to reach servers; BadSettings for TLS files that cannot be used."""
        key = (access.tls, access.concurrency)
        if key not in self._calls:
            tls = _tls(access)
            self._calls[key] = SharedCalls(lambda: Calls(access.concurrency, tls=tls))
        return self._calls[key]

    def close(self) -> None:
        """Close every connection."""
        for calls in self._calls.values():
            calls.close()
        self._calls.clear()


def _tls(access: Access) -> "TlsClient | None":
    if access.tls is None:
        return None
    # Imported late for the ssl module.
    from namesrv_core.transport.tls import TlsClient

    return TlsClient(*access.tls)
