"""Owns queryCq, which shows the entries of a consume queue on brokers."""

from typing import Annotated, NamedTuple

from typer import Argument, Option

from nsadmin.client import ServerResult
from nsadmin.client.messages.consume_queues import ConsumeQueueEntry, NoSuchQueue, QueueEntries
from nsadmin.client.results import error_text
from nsadmin.client.topic_routes import missing_read_queue
from nsadmin.command_line.argument_values import parse_number
from nsadmin.command_line.broker_targets import find_broker_addr
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.brokers import BROKER_ADDR, BROKER_NAME
from nsadmin.commands.columns.changes import forgive_not_found
from nsadmin.commands.columns.messages import QUEUE_OFFSET, STORE_SIZE
from nsadmin.commands.columns.topics import QUEUE_ID, TOPIC
from nsadmin.commands.messages.message_rows import MessageTopicArgument
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.output.quantities import to_bytes
from nsadmin.console.session import Session


class QueueEntry(NamedTuple):
    """An entry of the queue, and the broker that has it; its name is unknown if its address was given."""

    broker_name: str | None
    broker_addr: str
    entry: ConsumeQueueEntry


ENTRY_COLUMNS: Columns[QueueEntry] = (
    BROKER_NAME,
    BROKER_ADDR,
    TOPIC,
    QUEUE_ID,
    *of_part(
        lambda e: e.entry,
        (
            QUEUE_OFFSET.of(lambda e: e.offset),
            Column(
                "physicalOffset",
                "position of the message in the commit log, in bytes",
                lambda e: e.physic_offset,
            ),
            STORE_SIZE.of(lambda e: to_bytes(e.physic_size)),
            Column(
                "tagsCode",
                "hash of the message's tag, or delivery time of a timed message, in ms",
                lambda e: e.tags_code,
            ),
            Column(
                "extendData",
                "further data of the entry, if brokers calculate filters in advance",
                lambda e: e.extend_data,
                wide=True,
            ),
            Column(
                "bitMap",
                "filters that accept the message, if brokers calculate this in advance",
                lambda e: e.bit_map,
                wide=True,
            ),
            Column(
                "eval",
                "whether the filter of the given group accepts the message",
                lambda e: e.is_match,
                wide=True,
            ),
            Column("msg", "why eval is unknown", lambda e: e.mismatch_reason, wide=True),
        ),
    ),
)


@command(columns=ENTRY_COLUMNS, examples=("broker", "simulated brokers have deleted their first messages"))
def query_cq(
    session: Session,
    topic: MessageTopicArgument,
    queue_text: Annotated[
        str, Argument(metavar="QUEUE", help="Number of a queue, from 0."), Flags("-q", "--queue")
    ],
    index_text: Annotated[
        str,
        Argument(metavar="OFFSET", help="The first entry, by its position in the queue."),
        Flags("-i", "--index"),
    ],
    max_entries: Annotated[
        int, Option("-c", "--count", metavar="N", help="The maximum number of entries.", min=1)
    ] = 10,
    broker_text: Annotated[
        str | None,
        Option("-b", "--broker", metavar="ADDR", help="Only this broker: address, NAME or NAME:ID."),
    ] = None,
    group: Annotated[
        str | None,
        Option(
            "-g",
            "--consumer",
            metavar="GROUP",
            help="Show whether the filter of this group accepts each message.",
        ),
    ] = None,
) -> ResultRows:
    """Show entries of a consume queue: the position of each message, and the hash of its tag.

    nsadmin asks every broker of the topic's route: the master, or else a slave. Rows name the broker that
    answered. With -b, nsadmin asks only that broker. Use this to find out whether a queue contains messages
    that readers do not get. It consumes no message. eval and msg show the group's filter. They need connected
    clients of the group.

    Examples:
        # The first two entries of queue 0
        nsadmin queryCq payments 0 0 -c 2
    """
    queue_id, offset = parse_number("QUEUE", queue_text), parse_number("OFFSET", index_text)
    consume_queues = session.admin.consume_queues
    names: list[str | None] = [None]
    if broker_text is not None:
        broker_addr = find_broker_addr(session, broker_text)
        results = [consume_queues.read_entries_at(broker_addr, topic, queue_id, offset, max_entries, group)]
    else:
        routes = session.admin.messages.list_queue_routes(topic)
        names = [r.broker_name for r in routes]
        results = consume_queues.read_entries(routes, topic, queue_id, offset, max_entries, group)
        if all(isinstance(r.error, NoSuchQueue) for r in results):
            raise missing_read_queue(topic, routes, queue_id)
    answers = list(zip(names, results, strict=True))
    entries = [
        QueueEntry(name, r.addr, entry)
        for name, r in answers
        for entry in (r.result.entries if r.result else ())
    ]
    errors = forgive_not_found([r.error for r in results])
    notes = [note for name, r in answers for note in _describe_broker(name or r.addr, r)]
    common = {TOPIC: topic, QUEUE_ID: queue_id}
    return ResultRows.from_records(ENTRY_COLUMNS, entries, errors, notes, common=common)


def _describe_broker(broker: str, result: ServerResult[QueueEntries]) -> list[str]:
    """A line with the broker's error, or with the subscription of the group there."""
    text = error_text(result.error) if result.error else result.result and result.result.filter_data
    return [f"broker {broker}: {text}"] if text else []
