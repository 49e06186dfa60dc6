"""The rules of the security audit for proxies. Pure."""

from collections.abc import Iterator

from nsadmin.operations.checks.findings import CheckState
from nsadmin.operations.security.observer import PROXY, AuditedServer
from nsadmin.operations.security.problems import FENCE_REMEDY, SecurityProblem


def check_proxy_authentication(server: AuditedServer, now: float) -> Iterator[SecurityProblem]:
    if server.kind == PROXY and server.public_settings is not None:
        yield SecurityProblem(
            "openProxy",
            CheckState.WARNING,
            "clients are not authenticated: anyone on the network can send and receive through the proxy",
            "set authenticationEnabled=true and authorizationEnabled=true in rmq-proxy.json",
        )


def check_proxy_connections(server: AuditedServer, now: float) -> Iterator[SecurityProblem]:
    """Released proxies serve Channelz without authentication (ProxyStartup upstream)."""
    if server.lists_connections:
        yield SecurityProblem(
            "openConnections",
            CheckState.OK,
            "unauthenticated clients can read the addresses of all gRPC clients (Channelz)",
            FENCE_REMEDY,
        )
