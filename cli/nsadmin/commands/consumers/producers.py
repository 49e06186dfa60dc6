"""Owns producerConnection and producer, which show the clients of producer groups."""

from collections.abc import Iterable, Sequence
from typing import Annotated

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client.consumers.connected_clients import ConnectedClient, ProducerClient
from nsadmin.command_line.broker_targets import find_broker_addr
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.command_line.exclusive_options import refuse_both
from nsadmin.commands.columns.brokers import BROKER_ADDR, VERSION
from nsadmin.commands.columns.consumers import CLIENT_ADDR, CLIENT_BROKERS, CLIENT_ID, LANGUAGE, PROTOCOL
from nsadmin.commands.columns.servers import failure_notes, result_notes
from nsadmin.console.output import AnyColumn, Column, Columns, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session
from nsadmin.operations.drain.last_writers import describe_writer

_NEWEST = 16
"""The messages of a queue that show who sends to it."""
PRODUCER_GROUP: AnyColumn = Column("producerGroup", "name of the producer group", lambda r: r.producer_group)
CONNECTION_COLUMNS: Columns[ConnectedClient] = (
    PRODUCER_GROUP,
    CLIENT_ID,
    CLIENT_ADDR,
    LANGUAGE,
    VERSION,
    PROTOCOL,
    CLIENT_BROKERS,
)
CLIENT_COLUMNS: Columns[ProducerClient] = (
    PRODUCER_GROUP,
    CLIENT_ID,
    CLIENT_ADDR,
    LANGUAGE,
    VERSION,
    PROTOCOL,
    Column(
        "lastUpdated",
        "when the client's last heartbeat arrived (UTC)",
        lambda c: format_utc(c.last_heartbeat_ms),
    ),
    BROKER_ADDR,
)


@command(columns=CONNECTION_COLUMNS)
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
    connections = session.admin.producers.get_connections(group, topic)
    errors = connections.errors
    return ResultRows.from_records(
        CONNECTION_COLUMNS,
        connections.clients,
        list(errors.values()),
        failure_notes(errors.items()),
        common={PRODUCER_GROUP: group},
    )


@command(columns=CLIENT_COLUMNS, nothing="no producers")
def producer(
    session: Session,
    broker_text: Annotated[
        str | None,
        Argument(metavar="ADDR", help="A broker: address, NAME or NAME:ID. Default: all brokers."),
        Flags("-b", "--broker"),
    ],
    show_internal: Annotated[
        bool, Option("--internal/--no-internal", help="Whether to show CLIENT_INNER_PRODUCER.")
    ] = True,
    topic: Annotated[
        str | None,
        Option(
            "-t", "--topic", metavar="TOPIC", help="Only the senders of the newest messages of this topic."
        ),
        Values("topics"),
    ] = None,
) -> ResultRows:
    """Show every client of every producer group, on one broker or on all brokers.

    lastUpdated is the client's last heartbeat, in UTC. Every Java client, also a consumer, appears as
    CLIENT_INNER_PRODUCER. Brokers support this since 4.9.4. Producers behind a proxy in cluster mode are not
    shown, because no server reports them: see `nsadmin client list`.

    Brokers do not know to which topics a client sends. With --topic, nsadmin reads the newest 16 messages of
    each queue, and shows the clients that sent them. A line on stderr names a sender that no broker lists,
    because it is not connected now, or sends through a proxy.

    Examples:
        # Who sends to a topic: the producers of its newest messages, with their IP addresses
        nsadmin producer --topic payments
        # Which machines write: all producers of all brokers, without the internal ones of Java clients
        nsadmin producer --no-internal
        # The producers of one broker
        nsadmin producer 127.0.0.1:10911
    """
    refuse_both("-b ADDR", broker_text, "--topic TOPIC", topic)
    producers = session.admin.producers
    if broker_text is None:
        results = producers.list_all_producers()
    else:
        results = producers.list_all_producers(find_broker_addr(session, broker_text))
    clients = [
        c
        for r in results
        for c in r.result or ()
        if (show_internal and topic is None) or c.producer_group != "CLIENT_INNER_PRODUCER"
    ]
    errors, notes = [r.error for r in results], result_notes(results)
    if topic is not None:
        messages, read_errors = _read_newest(session, topic)
        clients, sender_notes = _find_senders(clients, messages)
        errors += read_errors
        notes += [*sender_notes, *dict.fromkeys(f"not all queues were read: {e}" for e in read_errors)]
    return ResultRows.from_records(CLIENT_COLUMNS, clients, errors, notes)


def _read_newest(session: Session, topic: str) -> tuple[list[StoredMessage], list[RocketMQError]]:
    reader = session.admin.queue_reader
    results = reader.get_spans(topic, session.admin.messages.list_queue_routes(topic))
    spans = [r.queue_span for r in results if r.queue_span is not None]
    tails = [s._replace(begin_offset=max(s.begin_offset, s.end_offset - _NEWEST)) for s in spans]
    pages = list(reader.read_pages(topic, tails))
    errors = [
        error for error in (*(r.error for r in results), *(p.error for p in pages)) if error is not None
    ]
    return [message for page in pages for message in page.messages], errors


def _find_senders(
    clients: Sequence[ProducerClient], messages: Iterable[StoredMessage]
) -> tuple[list[ProducerClient], list[str]]:
    """The clients that sent the messages, and a line for each sender that is none of them."""
    last_by_addr = {m.born_host: m for m in sorted(messages, key=lambda m: m.store_timestamp)}
    moved_addrs = last_by_addr.keys() - {c.client_addr for c in clients}
    # A client that connected again has another port.
    moved_hosts = {addr.rpartition(":")[0] for addr in moved_addrs}
    senders = [
        c
        for c in clients
        if c.client_addr in last_by_addr or (c.client_addr or "").rpartition(":")[0] in moved_hosts
    ]
    known_hosts = {(c.client_addr or "").rpartition(":")[0] for c in senders}
    last_times = {
        describe_writer(last_by_addr[addr]): last_by_addr[addr].store_timestamp
        for addr in sorted(moved_addrs, key=lambda addr: last_by_addr[addr].store_timestamp)
        if addr.rpartition(":")[0] not in known_hosts
    }
    return senders, [
        f"{writer} sent a message at {format_utc(sent_ms)}, and no broker lists it as a producer now"
        for writer, sent_ms in last_times.items()
    ]
