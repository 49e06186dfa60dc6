"""Owns the rows of whatIf, and builds those of --down-proxy. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.client.results import error_text
from nsadmin.console.output import Column, Columns
from nsadmin.console.phrases import count_noun
from nsadmin.operations.what_if.proxy_outage import ProxyOutage


class OutageRow(NamedTuple):
    """What a topic, a group, a client or several of them would lose; None for what does not apply."""

    what: str
    name: str | None
    item_count: int
    finding: str
    lost_ratio: float | None = None
    write_queues: tuple[int, int] | None = None
    read_queues: tuple[int, int] | None = None
    brokers_lost: Sequence[str] | None = None
    topics: Sequence[str] | None = None
    clients: int | None = None
    namesrv_addrs: Sequence[str] | None = None
    namesrv_addrs_left: Sequence[str] | None = None
    clients_left: int | None = None
    proxy_addrs: Sequence[str] | None = None


NAME_COLUMNS: Columns[OutageRow] = (
    Column(
        "what",
        "topic, group, broker, client of name servers; or topics, brokers, clients with the same loss",
        lambda r: r.what,
    ),
    Column(
        "name", "name of the topic or group; the broker as NAME:ID, the client as GROUP ID", lambda r: r.name
    ),
    Column("count", "number of topics, brokers or clients in the row", lambda r: r.item_count),
    Column("finding", "the interruption or the loss", lambda r: r.finding),
)
CLIENTS: Column[OutageRow] = Column(
    "clients", "consumers of the group that are connected to the brokers", lambda r: r.clients
)
NAMESRV_ADDRS: Column[OutageRow] = Column(
    "namesrvAddrs",
    "the name servers with this finding; for a broker or client, those in its list",
    lambda r: r.namesrv_addrs,
)
LOSS_COLUMNS: Columns[OutageRow] = (
    *NAME_COLUMNS,
    Column(
        "lostRatio",
        "lost part of the write queues, 0 to 1; null for a topic without write queues",
        lambda r: r.lost_ratio,
    ),
    Column("writeQueues", "write queues now", lambda r: r.write_queues and r.write_queues[0]),
    Column(
        "writeQueuesLeft", "write queues that would remain", lambda r: r.write_queues and r.write_queues[1]
    ),
    Column("readQueues", "read queues now", lambda r: r.read_queues and r.read_queues[0], wide=True),
    Column(
        "readQueuesLeft",
        "read queues that would remain",
        lambda r: r.read_queues and r.read_queues[1],
        wide=True,
    ),
    Column("brokersLost", "the brokers that the topic loses", lambda r: r.brokers_lost, wide=True),
    Column(
        "topics", "affected topics of the group, with unreadable topics first", lambda r: r.topics, wide=True
    ),
    CLIENTS,
    NAMESRV_ADDRS,
)
LIST_COLUMNS: Columns[OutageRow] = (
    *NAME_COLUMNS,
    NAMESRV_ADDRS,
    Column("namesrvAddrsLeft", "name servers that would remain", lambda r: r.namesrv_addrs_left),
)
CONNECTION_COLUMNS: Columns[OutageRow] = (
    *NAME_COLUMNS,
    CLIENTS,
    Column("clientsLeft", "clients of the group that remain connected", lambda r: r.clients_left),
    Column(
        "proxyAddrs", "proxies that the client is connected to, by remoting port", lambda r: r.proxy_addrs
    ),
)
NO_CLIENT_REMAINS = "no client remains"


def build_connection_rows(outage: ProxyOutage, show_each: bool) -> list[OutageRow]:
    """Return a row for each group, and one for all gRPC connections without a known client.

    With `show_each`, there is a row for each client and connection instead.
    """
    group_rows = [
        OutageRow(
            "group",
            loss.group,
            loss.client_count - loss.remaining_count,
            "fewer clients remain" if loss.remaining_count else NO_CLIENT_REMAINS,
            clients=loss.client_count,
            clients_left=loss.remaining_count,
        )
        for loss in outage.group_losses
    ]
    if show_each:
        return [
            *group_rows,
            *(
                OutageRow(
                    "client" if client.client_id else "connection",
                    client.client_id or client.client_addr,
                    1,
                    "loses its connection",
                    proxy_addrs=list(client.proxy_addrs),
                )
                for client in outage.lost_clients
            ),
        ]
    nameless_clients = [client for client in outage.lost_clients if client.client_id is None]
    if not nameless_clients:
        return group_rows
    nameless_row = OutageRow(
        "connections",
        f"{nameless_clients[0].client_addr or '?'}, ...",
        len(nameless_clients),
        "lose the proxy; their clients are unknown, such as producers",
        proxy_addrs=sorted({addr for client in nameless_clients for addr in client.proxy_addrs}),
    )
    return [*group_rows, nameless_row]


def describe_proxy_outage(outage: ProxyOutage) -> list[str]:
    """Return the sums, the proxies in local mode, and the servers that did not answer."""
    stopped_count = sum(group_loss.remaining_count == 0 for group_loss in outage.group_losses)
    return [
        f"{count_noun(len(outage.lost_clients), 'client')} would lose the connection; "
        f"{stopped_count} of {count_noun(len(outage.group_losses), 'affected group')} would lose all clients",
        *(
            f"proxy {proxy_addr} contains a broker, which stops as well: see nsadmin whatIf --down BROKER"
            for proxy_addr in outage.local_addrs
        ),
        *(f"unknown state of {addr}: {error_text(error)}" for addr, error in outage.errors.items()),
    ]
