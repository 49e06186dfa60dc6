"""Owns client list, which shows every connected client of a cluster once."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from typer import Option

from nsadmin.client.advised_command import quote_command
from nsadmin.client.consumers.groups import is_system_group
from nsadmin.client.extras import describe_missing
from nsadmin.client.proxies.cluster_clients import ClusterClient
from nsadmin.client.proxies.grpc_connections import is_grpc_installed
from nsadmin.command_line.broker_targets import ReadBrokerOption, distinct_addrs, list_members
from nsadmin.command_line.declarations import Each, Values, command
from nsadmin.commands.columns.brokers import VERSION
from nsadmin.commands.columns.consumers import (
    CLIENT_ADDR,
    CLIENT_BROKERS,
    CLIENT_ID,
    LANGUAGE,
    LAST_HEARTBEAT,
    PROTOCOL,
    PROXY_ADDRS,
)
from nsadmin.commands.columns.servers import failure_notes
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.consumers.consumer_progress import AskedClusterOption
from nsadmin.commands.proxies.proxy_list import describe_proxy_problems
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.phrases import abbreviate_names
from nsadmin.console.session import Session


def describe_role(client: ClusterClient) -> str | None:
    """Return "consumer", "producer", both, or "none"; None if unknown."""
    if client.consumer_groups is None:
        return None
    groups_by_role = {"consumer": client.consumer_groups, "producer": client.producer_groups}
    return ",".join(role for role, groups in groups_by_role.items() if groups) or "none"


CLIENT_COLUMNS: Columns[ClusterClient] = (
    CLIENT_ID.means("id of the client; null if only the address of its connection is known"),
    CLIENT_ADDR,
    LANGUAGE,
    VERSION.means("version of the client; null if unknown"),
    PROTOCOL,
    Column("role", "consumer, producer, both separated by a comma, or none; null if unknown", describe_role),
    Column("groups", "consumer groups of the client; null if unknown", lambda c: c.consumer_groups),
    Column(
        "producerGroups",
        "producer groups of the client; null if unknown. Topics for a gRPC producer",
        lambda c: c.producer_groups,
    ),
    PROXY_ADDRS.means("proxies that the client is connected to, by remoting port"),
    CLIENT_BROKERS.in_wide(),
    LAST_HEARTBEAT,
)


@command(
    columns=(TOPIC, *CLIENT_COLUMNS),
    examples=("elsewhere", "simulated clients use no proxy"),
    nothing="no client is connected to the brokers of {servers}",
)
def client_list(
    session: Session,
    cluster_name: AskedClusterOption = None,
    topic: Annotated[
        str | None,
        Option("-t", "--topic", metavar="TOPIC", help="Only the consumers of this topic, no producers."),
        Values("topics"),
        Each("topic"),
    ] = None,
    include_system: Annotated[
        bool, Option("--system", help="Also show clients that only have groups of RocketMQ itself.")
    ] = False,
    broker_text: ReadBrokerOption = None,
) -> ResultRows:
    """List every connected client of the cluster once, from brokers and proxies.

    Each client has its release, language, protocol, groups and proxies. Unknown values are empty in a table
    and null in JSON. Proxies in cluster mode report their consumers, but no producers: a gRPC connection
    without a consumer has only an address, and its role is unknown. These connections need the extra
    nsadmin[proxy].

    --topic names the groups of the topic without a connected client on stderr. It shows no producers, because
    brokers do not know to which topics a producer sends: `nsadmin producer --topic TOPIC` finds the machines
    that sent the newest messages. `groups` has consumer groups, and `producerGroups` producer groups.

    With --broker, no proxy is asked, and a client behind a proxy in cluster mode is not shown.

    For a gRPC client of a proxy in local mode, brokers report no release. Name this proxy with --proxies, or
    with `proxies` in the context.

    Examples:
        # All clients: who is connected now, with addresses and groups, and how many of each version
        nsadmin client list
        # Who uses a topic: the clients of all groups that consume it, and how to find its producers
        nsadmin client list --topic orders
        # Clients connected to one broker: addresses, languages, versions
        nsadmin client list -b broker-a-0 --columns clientId,clientAddr,language,version
        # Clients and groups on one machine (host), by the IP address
        nsadmin client list --filter clientAddr~10.0.226.10
        # Only gRPC clients
        nsadmin client list --filter protocol=gRPC
    """
    broker_addrs = distinct_addrs(list_members(session, broker_text, cluster_name)) if broker_text else None
    groups, group_errors = session.admin.topics.find_consumer_groups(topic) if topic else ([], [])
    found_clients = session.admin.clients.list_clients(
        cluster_name, broker_addrs=broker_addrs, include_system=include_system
    )
    clients = found_clients.clients
    idle_groups: list[str] = []
    if topic:
        connected_groups = {group for client in clients for group in client.consumer_groups or ()}
        # A broker that did not answer may have the clients.
        if not found_clients.errors:
            idle_groups = [g for g in groups if g not in connected_groups and not is_system_group(g)]
        clients = tuple(c for c in clients if not set(groups).isdisjoint(c.consumer_groups or ()))
    proxies = found_clients.proxies.proxies
    silent_proxies = {proxy.proxy_addr for proxy in proxies if proxy.error is not None}
    broker_errors = [item for item in found_clients.errors.items() if item[0] not in silent_proxies]
    notes = [*describe_proxy_problems(proxies), *failure_notes(broker_errors)]
    if any(proxy.mode == "cluster" for proxy in proxies) and not is_grpc_installed():
        notes.append(
            f"gRPC producers behind proxies are not shown: {describe_missing('grpcio-channelz', 'proxy')}"
        )
    if idle_groups:
        notes.append(f"groups of {topic} without a connected client: {abbreviate_names(idle_groups, 5)}")
    if topic:
        senders = quote_command("producer", "--topic", topic)
        notes.append(
            f"brokers do not know the producers of a topic: {senders} shows who sent the newest messages"
        )
    errors = [*group_errors, *(proxy.error for proxy in proxies), *found_clients.errors.values(), None]
    rows = ResultRows.from_records(CLIENT_COLUMNS, clients, errors, notes)
    return rows._replace(table_notes=_count_versions(clients))


def _count_versions(clients: Sequence[ClusterClient]) -> list[str]:
    counts = Counter(f"{c.language or ''} {c.version or 'unknown'}".strip() for c in clients)
    shown = ", ".join(f"{version} {count}" for version, count in counts.most_common())
    return [f"{len(clients)} clients were found: {shown}"] if len(clients) > 1 else []
