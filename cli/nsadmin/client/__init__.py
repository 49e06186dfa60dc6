"""The synchronous admin library for scripts. It uses neither a terminal nor this project's server."""

from namesrv_core.errors import BadSettings, RequestError, RocketMQError
from namesrv_core.transport.multiplexed_client import CallError, Exchange
from nsadmin.client.admin import AdminClient
from nsadmin.client.connection.access_options import Access, Credentials, Tls
from nsadmin.client.connection.connection_pool import Pool
from nsadmin.client.results import (
    ClientClosed,
    NoneReachable,
    NotApplied,
    NotFound,
    ReadOnlyAccess,
    ServerResult,
)

__all__ = [
    "Access",
    "AdminClient",
    "BadSettings",
    "CallError",
    "ClientClosed",
    "Credentials",
    "Exchange",
    "NoneReachable",
    "NotApplied",
    "NotFound",
    "Pool",
    "ReadOnlyAccess",
    "RequestError",
    "RocketMQError",
    "ServerResult",
    "Tls",
]
