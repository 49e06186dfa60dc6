"""The admin library: synchronous, made for scripts; it knows no terminal and no server."""

from namesrv_core.errors import BadSettings, RequestError, RocketMQError
from nsadmin.client.access import Access, Credentials, Tls
from nsadmin.client.admin import AdminClient
from nsadmin.client.pool import Pool
from nsadmin.client.results import NoneReachable, NotApplied, NotFound, ServerResult

__all__ = [
    "Access",
    "AdminClient",
    "BadSettings",
    "Credentials",
    "NoneReachable",
    "NotApplied",
    "NotFound",
    "Pool",
    "RequestError",
    "RocketMQError",
    "ServerResult",
    "Tls",
]
