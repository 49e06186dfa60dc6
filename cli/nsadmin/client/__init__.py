"""The admin library: synchronous, made for scripts; it knows no terminal and no server."""

from namesrv_core.errors import RequestError, RocketMQError
from nsadmin.client.admin import AdminClient
from nsadmin.client.results import NoneReachable, NotApplied, NotFound, ServerResult

__all__ = [
    "AdminClient",
    "NoneReachable",
    "NotApplied",
    "NotFound",
    "RequestError",
    "RocketMQError",
    "ServerResult",
]
