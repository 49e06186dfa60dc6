"""Owns producerConnection and producer, which show the clients of producer groups."""

from typing import Annotated

from typer import Argument, Option

from nsadmin.client.advised_command import quote_command
from nsadmin.client.consumers.connected_clients import ConnectedClient, ProducerClient
from nsadmin.client.proxies.cluster_clients import INNER_PRODUCER_GROUP
from nsadmin.command_line.broker_targets import find_broker_addr
from nsadmin.command_line.declarations import Each, Flags, Values, command
from nsadmin.command_line.exclusive_options import refuse_both
from nsadmin.commands.columns.brokers import BROKER_ADDR, VERSION
from nsadmin.commands.columns.consumers import CLIENT_ADDR, CLIENT_BROKERS, CLIENT_ID, LANGUAGE, PROTOCOL
from nsadmin.commands.columns.servers import failure_notes, result_notes
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.console.output import AnyColumn, Column, Columns, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.topic_senders import Sender, find_senders

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
SENDER_COLUMNS: Columns[Sender] = (
    Column("host", "address from which the messages were sent, without the port", lambda s: s.host),
    Column("messageCount", "how many of the newest messages came from there", lambda s: s.message_count),
    Column("lastStored", "when its newest message was stored (UTC)", lambda s: format_utc(s.newest_ms)),
    Column("producerGroups", "producer groups that are connected from there now", lambda s: s.groups),
    Column("versions", "releases of these producers", lambda s: s.versions),
    Column("languages", "languages of these producers", lambda s: s.languages),
)

_CLIENT_KEYS = ",".join(column.key for column in (CLIENT_ID, CLIENT_ADDR, LANGUAGE, VERSION))


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


@command(columns=(TOPIC, *CLIENT_COLUMNS, *SENDER_COLUMNS), nothing="no producers")
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
            "-t", "--topic", metavar="TOPIC", help="The machines that sent the newest messages of this topic."
        ),
        Each("topic"),
    ] = None,
    last_count: Annotated[
        int,
        Option(
            "--last",
            metavar="N",
            help="With --topic: about how many of the newest messages to look at. Default: 500.",
            min=1,
        ),
    ] = 500,
) -> ResultRows:
    """Show every client of every producer group, on one broker or on all brokers.

    lastUpdated is the client's last heartbeat, in UTC. Every Java client, also a consumer, appears as
    CLIENT_INNER_PRODUCER. Brokers support this since 4.9.4. Producers behind a proxy in cluster mode are not
    shown, because no server reports them: see `nsadmin client list`.

    Brokers do not know to which topics a producer sends. So --topic reads the newest messages of the topic,
    and shows the machines that sent them, with the groups, versions and languages of the producers that are
    connected from there. Messages through a proxy in cluster mode come from the proxy's address.

    Examples:
        # Who sends to a topic: which machines and applications (producer groups, versions) write to it
        nsadmin producer --topic payments
        # Who still sends, writes to the cluster: all producers, without the internal ones of Java clients
        nsadmin producer --no-internal
        # The producers of one broker
        nsadmin producer 127.0.0.1:10911
    """
    if topic is not None:
        refuse_both("--topic", topic, "--broker", broker_text)
        return _list_senders(session, topic, last_count)
    producers = session.admin.producers
    if broker_text is None:
        results = producers.list_all_producers()
    else:
        results = producers.list_all_producers(find_broker_addr(session, broker_text))
    clients = [
        c
        for r in results
        for c in r.result or ()
        if show_internal or c.producer_group != INNER_PRODUCER_GROUP
    ]
    notes = result_notes(results)
    rows = ResultRows.from_records(CLIENT_COLUMNS, clients, [r.error for r in results], notes)
    client_count = len({c.client_id for c in clients})
    if client_count == len(clients):
        return rows
    once = quote_command("client", "list", "--filter", "role=producer", "--columns", _CLIENT_KEYS)
    repeats = f"{count_noun(client_count, 'client')}, each once for every broker and group"
    return rows._replace(table_notes=[f"{repeats}; each producer once: {once}"])


def _list_senders(session: Session, topic: str, last_count: int) -> ResultRows:
    queue_routes = session.admin.topics.get_route(topic).queues
    span_results = session.admin.queue_reader.get_spans(topic, queue_routes)
    spans = [s.queue_span for s in span_results if s.queue_span and s.queue_span.offset_count]
    newest_count = -(-last_count // max(1, len(spans)))
    broker_addrs = [route.master_addr for route in queue_routes if route.master_addr]
    reading = find_senders(session.admin, {topic: spans}, broker_addrs, newest_count)
    span_errors = {s.broker_name: s.error for s in span_results if s.error is not None}
    errors = {**span_errors, **reading.queue_errors}
    total = sum(sender.message_count for sender in reading.senders)
    queues = f" ({newest_count} of each of {len(spans)} queues)" if len(spans) > 1 else ""
    looked_at = (
        f"looked at the newest {count_noun(total, 'message')} of {topic}{queues}: --last N looks at more"
    )
    notes = [looked_at if total else f"no message of {topic} is left"]
    notes += failure_notes([*errors.items(), *reading.group_errors.items()])
    # Each broker that answered counts, so that one that did not is a part of the servers.
    outcomes = [errors.get(name) for name in {route.broker_name for route in queue_routes}]
    return ResultRows.from_records(SENDER_COLUMNS, reading.senders, outcomes, notes)
