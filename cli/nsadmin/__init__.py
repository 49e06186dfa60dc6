"""nsadmin: an operator's command line for Apache RocketMQ's name servers, and the library below it."""

from typing import TYPE_CHECKING

from namesrv_core import __version__

if TYPE_CHECKING:
    from nsadmin.client import AdminClient

__all__ = ["AdminClient", "__version__"]


def __getattr__(name: str) -> object:
    if name == "AdminClient":
        from nsadmin.client import AdminClient

        return AdminClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
