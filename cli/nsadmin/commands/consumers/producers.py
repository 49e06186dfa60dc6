"""Owns producerConnection and producer, which show the clients of producer groups."""

from typing import Annotated

from typer import Argument, Option

from nsadmin.client.results import error_text
from nsadmin.command_line.broker_targets import find_broker_addr
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

PRODUCER_CONNECTION_COLUMNS = (
    "producerGroup",
    "clientId",
    "clientAddr",
    "language",
    "version",
    "protocol",
    "brokerAddrs",
)
PRODUCER_CLIENT_COLUMNS = (
    "producerGroup",
    "clientId",
    "clientAddr",
    "language",
    "version",
    "protocol",
    "lastUpdated",
    "brokerAddr",
)


@command(columns=PRODUCER_CONNECTION_COLUMNS)
def producer_connection(
    session: Session,
    group: Annotated[
        str,
        Argument(metavar="GROUP", help="A producer group."),
        Flags("-g", "--producerGroup"),
        Values("producer-groups"),
    ],
    topic: Annotated[
        str | None,
        Argument(metavar="TOPIC", help="Ask only the brokers of this topic."),
        Flags("-t", "--topic"),
    ],
) -> ResultRows:
    """Show the connected clients of a producer group, from all brokers.

    A broker knows only the clients that are connected to it, so nsadmin asks every master and slave.
    brokerAddrs names the brokers of each client. Brokers forget a group when its last client leaves.

    The group of a gRPC producer is its topic. Only a proxy in local mode passes it on to its broker: no
    server reports the producers behind a proxy in cluster mode. `nsadmin client list` shows the addresses of
    their connections.

    Examples:
        # Clients of a producer group
        nsadmin producerConnection payments-producer payments
    """
    group_connections = session.admin.producers.get_connections(group, topic)
    client_rows: list[ResultRow] = [
        {
            "producerGroup": group,
            "clientId": producer_client.client_id,
            "clientAddr": producer_client.client_addr,
            "language": producer_client.language,
            "version": producer_client.version,
            "protocol": producer_client.protocol,
            "brokerAddrs": producer_client.broker_addrs,
        }
        for producer_client in group_connections.clients
    ]
    failure_notes = [
        f"broker {broker_addr}: {error_text(broker_error)}"
        for broker_addr, broker_error in group_connections.errors.items()
        if broker_error is not None
    ]
    return ResultRows(
        PRODUCER_CONNECTION_COLUMNS, client_rows, list(group_connections.errors.values()), failure_notes
    )


@command(columns=PRODUCER_CLIENT_COLUMNS)
def producer(
    session: Session,
    broker_text: Annotated[
        str | None,
        Argument(metavar="ADDR", help="A broker: address, NAME or NAME/ID. Default: all brokers."),
        Flags("-b", "--broker"),
    ],
    show_internal: Annotated[
        bool, Option("--internal/--no-internal", help="Whether to show CLIENT_INNER_PRODUCER.")
    ] = True,
) -> ResultRows:
    """Show every client of every producer group, on one broker or on all brokers.

    lastUpdated is the client's last heartbeat, in UTC. Every Java client, also a consumer, appears as
    CLIENT_INNER_PRODUCER. Brokers support this since 4.9.4. Producers behind a proxy in cluster mode are not
    shown, because no server reports them: see `nsadmin client list`.

    Examples:
        # All producers of all brokers, without the internal ones of Java clients
        nsadmin producer --no-internal
        # The producers of one broker
        nsadmin producer 127.0.0.1:10911
    """
    if broker_text is None:
        client_results = session.admin.producers.list_all_producers()
    else:
        client_results = session.admin.producers.list_all_producers(find_broker_addr(session, broker_text))
    client_rows: list[ResultRow] = [
        {
            "producerGroup": producer_client.producer_group,
            "clientId": producer_client.client_id,
            "clientAddr": producer_client.client_addr,
            "language": producer_client.language,
            "version": producer_client.version,
            "protocol": producer_client.protocol,
            "lastUpdated": format_utc(producer_client.last_heartbeat_ms),
            "brokerAddr": broker_addr,
        }
        for broker_addr, producer_clients, _ in client_results
        for producer_client in producer_clients or ()
        if show_internal or producer_client.producer_group != "CLIENT_INNER_PRODUCER"
    ]
    failure_notes = [
        f"broker {broker_addr}: {error_text(broker_error)}"
        for broker_addr, _, broker_error in client_results
        if broker_error is not None
    ]
    return ResultRows(
        PRODUCER_CLIENT_COLUMNS,
        client_rows,
        [client_result.error for client_result in client_results],
        failure_notes,
    )
