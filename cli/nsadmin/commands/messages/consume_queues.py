"""Owns queryCq, which shows the entries of a consume queue on brokers."""

from typing import Annotated

from typer import Argument, Option

from nsadmin.client import ServerResult
from nsadmin.client.messages.consume_queues import QueueEntries
from nsadmin.client.results import error_text
from nsadmin.command_line.argument_values import parse_number
from nsadmin.command_line.broker_targets import find_broker_addr
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.changes import forgive_missing
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.quantities import to_bytes
from nsadmin.console.session import Session

QUEUE_ENTRY_COLUMNS = (
    "brokerName",
    "brokerAddr",
    "topic",
    "queueId",
    "queueOffset",
    "physicalOffset",
    "storeSize",
    "tagsCode",
    "extendData",
    "bitMap",
    "eval",
    "msg",
)
QUEUE_ENTRY_TABLE_COLUMNS = (
    "brokerName", "brokerAddr", "topic", "queueId", "queueOffset", "physicalOffset", "storeSize", "tagsCode",
)  # fmt: skip


@command(
    columns=QUEUE_ENTRY_COLUMNS, examples=("broker", "simulated brokers have deleted their first messages")
)
def query_cq(
    session: Session,
    topic: Annotated[str, Argument(metavar="TOPIC", help="Name of a topic."), Flags("-t", "--topic")],
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
        Option("-b", "--broker", metavar="ADDR", help="Only this broker: address, NAME or NAME/ID."),
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
    queue_and_offset = (
        parse_number("QUEUE", queue_text),
        parse_number("OFFSET", index_text),
    )
    consume_queues = session.admin.consume_queues
    broker_names: list[str | None]
    if broker_text is not None:
        broker_names = [None]
        entry_results = [
            consume_queues.read_entries_at(
                find_broker_addr(session, broker_text), topic, *queue_and_offset, max_entries, group
            )
        ]
    else:
        queue_routes = session.admin.messages.list_queue_routes(topic)
        broker_names = [queue_route.broker_name for queue_route in queue_routes]
        entry_results = consume_queues.read_entries(
            queue_routes, topic, *queue_and_offset, max_entries, group
        )
    entry_rows = [
        entry_row
        for broker_name, entry_result in zip(broker_names, entry_results, strict=True)
        for entry_row in _entry_rows(broker_name, entry_result, topic, queue_and_offset[0])
    ]
    broker_notes = [
        note_line
        for broker_name, entry_result in zip(broker_names, entry_results, strict=True)
        for note_line in _broker_notes(broker_name, entry_result)
    ]
    return forgive_missing(
        ResultRows(
            QUEUE_ENTRY_COLUMNS,
            entry_rows,
            [entry_result.error for entry_result in entry_results],
            broker_notes,
            QUEUE_ENTRY_TABLE_COLUMNS,
        )
    )


def _entry_rows(
    broker_name: str | None, entry_result: ServerResult[QueueEntries], topic: str, queue_id: int
) -> list[ResultRow]:
    return [
        {
            "brokerName": broker_name,
            "brokerAddr": entry_result.addr,
            "topic": topic,
            "queueId": queue_id,
            "queueOffset": queue_entry.offset,
            "physicalOffset": queue_entry.physic_offset,
            "storeSize": to_bytes(queue_entry.physic_size),
            "tagsCode": queue_entry.tags_code,
            "extendData": queue_entry.extend_data,
            "bitMap": queue_entry.bit_map,
            "eval": queue_entry.is_match,
            "msg": queue_entry.mismatch_reason,
        }
        for queue_entry in (entry_result.result.entries if entry_result.result else ())
    ]


def _broker_notes(broker_name: str | None, entry_result: ServerResult[QueueEntries]) -> list[str]:
    broker_label = f"broker {broker_name or entry_result.addr}"
    if entry_result.result is None:
        return [f"{broker_label}: {error_text(entry_result.error)}"] if entry_result.error else []
    filter_notes = (
        [f"{broker_label}: {entry_result.result.filter_data}"] if entry_result.result.filter_data else []
    )
    return filter_notes
