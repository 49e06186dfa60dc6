"""Owns proxy list, which shows the proxies of RocketMQ 5 with their mode and state."""

from collections.abc import Iterable

from nsadmin.client.extras import describe_missing
from nsadmin.client.proxies.grpc_connections import is_grpc_installed
from nsadmin.client.proxies.proxies import ProxyStatus
from nsadmin.client.results import error_text
from nsadmin.command_line.declarations import command
from nsadmin.commands.columns.brokers import VERSION
from nsadmin.commands.columns.servers import ERROR, failure_notes
from nsadmin.commands.consumers.consumer_progress import AskedClusterOption
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

_STATES = {True: "ok", False: "silent", None: "unknown"}
PROXY_COLUMNS: Columns[ProxyStatus] = (
    Column(
        "proxyAddr",
        "remoting port of the proxy, HOST:PORT; only the host if the port is unknown",
        lambda p: p.proxy_addr,
    ),
    Column("grpcAddr", "gRPC port of the proxy, HOST:PORT; null if unknown", lambda p: p.grpc_addr),
    Column("mode", "cluster or local; null if unknown", lambda p: p.mode),
    VERSION.means("version of the proxy; null if unknown"),
    Column("state", "ok, silent (does not answer) or unknown", lambda p: _STATES[p.is_answering]),
    Column("consumers", "connected consumers; null if unknown, as in local mode", lambda p: p.consumer_count),
    Column(
        "grpcConnections",
        "connections of gRPC clients; null if unknown",
        lambda p: None if p.connection_addrs is None else len(p.connection_addrs),
    ),
    Column(
        "lastHeartbeat",
        "when the proxy passed on the last heartbeat of a consumer (UTC)",
        lambda p: format_utc(p.last_heartbeat_ms),
    ),
    Column(
        "sources",
        "where the proxy is known from: heartbeats, configured (--proxies), brokers",
        lambda p: p.sources,
        wide=True,
    ),
    ERROR.means("why the proxy does not answer; null if it does").in_wide(),
)


@command(
    columns=PROXY_COLUMNS,
    examples=("elsewhere", "simulated clients use no proxy"),
    nothing="no proxy was found: name those in local mode with --proxies",
)
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
    found = session.admin.proxies.list_proxies(cluster_name)
    notes = [*describe_proxy_problems(found.proxies), *failure_notes(found.errors.items())]
    if found.proxies and not is_grpc_installed():
        notes.append(f"grpcConnections is unknown: {describe_missing('grpcio-channelz', 'proxy')}")
    # None stands for the brokers that answered.
    errors = [*(p.error for p in found.proxies), *found.errors.values(), None]
    return ResultRows.from_records(PROXY_COLUMNS, found.proxies, errors, notes)


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
