"""Owns proxy list, which shows the proxies of RocketMQ 5 with their mode and state."""

from collections.abc import Iterable

from namesrv_core.errors import RocketMQError
from nsadmin.client.proxies.grpc_connections import is_grpc_installed
from nsadmin.client.proxies.proxies import ProxyStatus
from nsadmin.client.results import error_text
from nsadmin.command_line.declarations import command
from nsadmin.commands.consumers.consumer_progress import AskedClusterOption
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

PROXY_COLUMNS = (
    "proxyAddr", "grpcAddr", "mode", "version", "state", "consumers", "grpcConnections", "lastHeartbeat",
    "sources", "error",
)  # fmt: skip
INSTALL_NOTE = "grpcConnections is unknown: install the extra nsadmin[proxy]"
_STATES = {True: "ok", False: "silent", None: "unknown"}


@command(columns=PROXY_COLUMNS, examples=("elsewhere", "simulated clients use no proxy"))
def proxy_list(session: Session, cluster_name: AskedClusterOption = None) -> ResultRows:
    """List the proxies of RocketMQ 5 with their mode, release, clients and state.

    A proxy in cluster mode with consumers is found without any setting: proxies share the heartbeats of
    consumers in a topic, which nsadmin reads. Name the other proxies with --proxies, or with `proxies` in the
    context. These are proxies in local mode, and proxies with producers only. The address is that of the
    remoting port, 8080 by default.

    A proxy that does not answer is silent, and the exit code is 3. The state is unknown if a broker sees the
    connection of a proxy, but no port of it is known. consumers counts the consumers behind a proxy in
    cluster mode. grpcConnections counts all gRPC clients, and needs the extra nsadmin[proxy].

    Examples:
        # Proxies that are found automatically
        nsadmin proxy list
        # Also a proxy in local mode
        nsadmin proxy list --proxies 127.0.0.1:8080
    """
    found_proxies = session.admin.proxies.list_proxies(cluster_name)
    notes = describe_proxy_problems(found_proxies.proxies)
    notes += describe_errors("broker", found_proxies.errors.items())
    if found_proxies.proxies and not is_grpc_installed():
        notes.append(INSTALL_NOTE)
    errors = [proxy.error for proxy in found_proxies.proxies]
    return ResultRows(
        PROXY_COLUMNS,
        [_proxy_row(proxy) for proxy in found_proxies.proxies],
        # None stands for the brokers that answered.
        [*errors, *found_proxies.errors.values(), None],
        notes,
        PROXY_COLUMNS[:-2],
    )


def _proxy_row(proxy: ProxyStatus) -> ResultRow:
    return {
        "proxyAddr": proxy.proxy_addr,
        "grpcAddr": proxy.grpc_addr,
        "mode": proxy.mode,
        "version": proxy.version,
        "state": _STATES[proxy.is_answering],
        "consumers": proxy.consumer_count,
        "grpcConnections": None if proxy.connection_addrs is None else len(proxy.connection_addrs),
        "lastHeartbeat": format_utc(proxy.last_heartbeat_ms),
        "sources": proxy.sources,
        "error": proxy.error and error_text(proxy.error),
    }


def describe_proxy_problems(proxies: Iterable[ProxyStatus]) -> list[str]:
    """Return a line for each proxy that does not answer, or whose ports are unknown."""
    notes = []
    for proxy in proxies:
        if proxy.error is not None:
            notes.append(f"proxy {proxy.proxy_addr}: {error_text(proxy.error)}")
        elif proxy.is_answering is None:
            notes.append(
                f"a proxy on {proxy.proxy_addr} is connected to brokers, but its ports are unknown: "
                f"pass --proxies {proxy.proxy_addr}:8080"
            )
    return notes


def describe_errors(server_kind: str, errors: Iterable[tuple[str, RocketMQError | None]]) -> list[str]:
    """Return a line for each server that did not answer."""
    return [
        f"{server_kind} {server_addr}: {error_text(error)}"
        for server_addr, error in errors
        if error is not None
    ]
