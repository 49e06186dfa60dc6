"""nsadmin: an operator's command line for Apache RocketMQ's name servers, and the library below it."""

from typing import TYPE_CHECKING

from namesrv_core import __version__

if TYPE_CHECKING:
    from nsadmin.client import Access, AdminClient, Credentials, Tls

__all__ = ["Access", "AdminClient", "Credentials", "Tls", "__version__"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from nsadmin import client

        return getattr(client, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
