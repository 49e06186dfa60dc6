"""Owns client list, which shows every connected client of a cluster once."""

from typing import Annotated

from typer import Option

from nsadmin.client.proxies.cluster_clients import ClusterClient
from nsadmin.client.proxies.grpc_connections import is_grpc_installed
from nsadmin.command_line.declarations import command
from nsadmin.commands.consumers.consumer_progress import AskedClusterOption
from nsadmin.commands.proxies.proxy_list import describe_errors, describe_proxy_problems
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

CLIENT_COLUMNS = (
    "clientId", "clientAddr", "language", "version", "protocol", "role", "groups", "producerGroups",
    "proxyAddrs", "brokerAddrs", "lastHeartbeat",
)  # fmt: skip
CLIENT_TABLE_COLUMNS = (
    "clientId", "clientAddr", "language", "version", "protocol", "role", "groups", "proxyAddrs",
)  # fmt: skip


@command(columns=CLIENT_COLUMNS, examples=("elsewhere", "simulated clients use no proxy"))
def client_list(
    session: Session,
    cluster_name: AskedClusterOption = None,
    include_system: Annotated[
        bool, Option("--system", help="Also show clients that only have groups of RocketMQ itself.")
    ] = False,
) -> ResultRows:
    """List every connected client of the cluster once, from brokers and proxies.

    Each client has its release, language, protocol, groups and proxies. Unknown values are empty in a table
    and null in JSON. Proxies in cluster mode report their consumers, but no producers: a gRPC connection
    without a consumer has only an address, and its role is unknown. These connections need the extra
    nsadmin[proxy].

    For a gRPC client of a proxy in local mode, brokers report no release. Name this proxy with --proxies, or
    with `proxies` in the context.

    Examples:
        # All clients
        nsadmin client list
        # Only gRPC clients
        nsadmin client list --filter protocol=gRPC
    """
    found_clients = session.admin.clients.list_clients(cluster_name, include_system=include_system)
    proxies = found_clients.proxies.proxies
    notes = [*describe_proxy_problems(proxies), *describe_errors("broker", found_clients.errors.items())]
    if any(proxy.mode == "cluster" for proxy in proxies) and not is_grpc_installed():
        notes.append("gRPC producers behind proxies are not shown: install the extra nsadmin[proxy]")
    return ResultRows(
        CLIENT_COLUMNS,
        [_client_row(client) for client in found_clients.clients],
        [*(proxy.error for proxy in proxies), *found_clients.errors.values(), None],
        notes,
        CLIENT_TABLE_COLUMNS,
    )


def _client_row(client: ClusterClient) -> ResultRow:
    return {
        "clientId": client.client_id,
        "clientAddr": client.client_addr,
        "language": client.language,
        "version": client.version,
        "protocol": client.protocol,
        "role": describe_role(client),
        "groups": client.consumer_groups,
        "producerGroups": client.producer_groups,
        "proxyAddrs": client.proxy_addrs,
        "brokerAddrs": client.broker_addrs,
        "lastHeartbeat": format_utc(client.last_heartbeat_ms),
    }


def describe_role(client: ClusterClient) -> str | None:
    """Return "consumer", "producer", both, or "none"; None if unknown."""
    if client.consumer_groups is None:
        return None
    roles = [
        role
        for role, groups in (("consumer", client.consumer_groups), ("producer", client.producer_groups))
        if groups
    ]
    return ",".join(roles) or "none"
