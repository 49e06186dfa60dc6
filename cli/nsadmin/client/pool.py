"""Pool, a set of open connections that several clients share."""

from typing import TYPE_CHECKING

from namesrv_core.transport.calls import Calls
from nsadmin.client.access import Access, Tls
from nsadmin.client.shared import SharedCalls

if TYPE_CHECKING:
    from namesrv_core.transport.tls import TlsClient


class Pool:
    """Open connections that clients share if their TLS options and concurrency are equal.

    The code that creates a pool closes it; closing a client does not.
    """

    def __init__(self) -> None:
        self._calls: dict[tuple[Tls | None, int], SharedCalls] = {}

    def calls(self, access: Access) -> SharedCalls:
        """Return the connections for these options; create them on first use.

        Raises:
            BadSettings: A TLS file cannot be used.
        """
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
    # Imported here because it loads the ssl module, which plain-text clients do not need.
    from namesrv_core.transport.tls import TlsClient

    return TlsClient(*access.tls)
