"""Owns producerConnection and producer, which show the clients of producer groups."""

from typing import Annotated

from nsadmin.client.results import error_text
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.targets import broker_addr
from nsadmin.commands.times import utc
from nsadmin.output import Row, Rows
from nsadmin.session import Session

CONNECTION_COLUMNS = ("producerGroup", "clientId", "clientAddr", "language", "version", "brokerAddrs")
PRODUCER_COLUMNS = (
    "producerGroup",
    "clientId",
    "clientAddr",
    "language",
    "version",
    "lastUpdated",
    "brokerAddr",
)


@shows(CONNECTION_COLUMNS)
def producer_connection(
    session: Session,
    group: Annotated[
        str, Word(("-g", "--producerGroup"), "GROUP", "A producer group.", values="producer-groups")
    ],
    topic: Annotated[
        str | None,
        Word(("-t", "--topic"), "TOPIC", "Ask only the brokers that have this topic.", required=False),
    ],
) -> Rows:
    """Show the connected clients of a producer group, of all brokers together.

    A broker knows only the clients that are connected to it: every master and slave is asked, and
    brokerAddrs says where each client was found. Brokers forget a group when its last client leaves.

    Examples:
        # Clients of a producer group
        nsadmin producerConnection payments-producer payments
    """
    found = session.admin.producers.connections(group, topic)
    rows: list[Row] = [
        {
            "producerGroup": group,
            "clientId": client.client_id,
            "clientAddr": client.client_addr,
            "language": client.language,
            "version": client.version,
            "brokerAddrs": client.broker_addrs,
        }
        for client in found.clients
    ]
    notes = [
        f"broker {addr}: {error_text(error)}" for addr, error in found.errors.items() if error is not None
    ]
    return Rows(CONNECTION_COLUMNS, rows, list(found.errors.values()), notes)


@shows(PRODUCER_COLUMNS)
def producer(
    session: Session,
    broker: Annotated[
        str | None,
        Word(
            ("-b", "--broker"),
            "ADDR",
            "One broker: address, NAME or NAME/ID; all if left out.",
            required=False,
        ),
    ],
    internal: Annotated[
        bool, Option("--internal/--no-internal", help="Show or hide CLIENT_INNER_PRODUCER.")
    ] = True,
) -> Rows:
    """Show every client of every producer group that a broker, or each broker, knows.

    lastUpdated is the client's last heartbeat, in UTC. Every Java client,
    consumers too, is there as CLIENT_INNER_PRODUCER. Brokers before 4.9.4 cannot be asked for this.

    Examples:
        # All producers of all brokers, without those that every Java client has
        nsadmin producer --no-internal
        # Those of one broker
        nsadmin producer 127.0.0.1:10911
    """
    if broker is None:
        results = session.admin.producers.everybody()
    else:
        results = session.admin.producers.everybody(broker_addr(session, broker))
    rows: list[Row] = [
        {
            "producerGroup": client.producer_group,
            "clientId": client.client_id,
            "clientAddr": client.client_addr,
            "language": client.language,
            "version": client.version,
            "lastUpdated": utc(client.last_update),
            "brokerAddr": addr,
        }
        for addr, clients, _ in results
        for client in clients or ()
        if internal or client.producer_group != "CLIENT_INNER_PRODUCER"
    ]
    notes = [f"broker {addr}: {error_text(error)}" for addr, _, error in results if error is not None]
    return Rows(PRODUCER_COLUMNS, rows, [result.error for result in results], notes)
