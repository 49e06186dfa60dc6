"""Owns queryCq, which shows the entries of a consume queue on brokers."""

from typing import Annotated

from nsadmin.client import ServerResult
from nsadmin.client.consume_queues import QueueEntries
from nsadmin.client.results import error_text
from nsadmin.commands.changes import forgiving
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.messages import number
from nsadmin.commands.targets import broker_addr
from nsadmin.commands.units import size
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = (
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
IN_TABLE = (
    "brokerName", "brokerAddr", "topic", "queueId", "queueOffset", "physicalOffset", "storeSize", "tagsCode",
)  # fmt: skip


@shows(COLUMNS)
def query_cq(
    session: Session,
    topic: Annotated[str, Word(("-t", "--topic"), "TOPIC", "Name of a topic.")],
    queue: Annotated[str, Word(("-q", "--queue"), "QUEUE", "Number of a queue, from 0.")],
    index: Annotated[str, Word(("-i", "--index"), "OFFSET", "The first entry, by its place in the queue.")],
    count: Annotated[
        int, Option("-c", "--count", metavar="N", minimum=1, help="So many entries at most.")
    ] = 10,
    broker: Annotated[
        str | None,
        Option("-b", "--broker", metavar="ADDR", help="Only this broker: address, NAME or NAME/ID."),
    ] = None,
    group: Annotated[
        str | None,
        Option(
            "-g", "--consumer", metavar="GROUP", help="Whether the filter of this group takes each of them."
        ),
    ] = None,
) -> Rows:
    """Show entries of a queue as brokers have them: where each message is, and the hash of its tag.

    Every broker of the topic's route is asked, its master or else a slave, and rows say which one answered;
    with -b that one alone. It shows whether a queue leads to messages where readers find none; nothing is
    consumed. eval and msg are about the group's filter, of one whose clients are connected.

    Examples:
        # The first two entries of queue 0
        nsadmin queryCq payments 0 0 -c 2
    """
    numbers = number("queryCq", "QUEUE", queue), number("queryCq", "OFFSET", index)
    queues = session.admin.consume_queues
    names: list[str | None]
    if broker is not None:
        names = [None]
        found = [queues.entries_at(broker_addr(session, broker), topic, *numbers, count, group)]
    else:
        there = session.admin.messages.queues(topic)
        names = [item.broker_name for item in there]
        found = queues.entries(there, topic, *numbers, count, group)
    rows = [
        row for name, item in zip(names, found, strict=True) for row in _rows(name, item, topic, numbers[0])
    ]
    notes = [line for name, item in zip(names, found, strict=True) for line in _notes(name, item)]
    return forgiving(Rows(COLUMNS, rows, [item.error for item in found], notes, IN_TABLE))


def _rows(name: str | None, found: ServerResult[QueueEntries], topic: str, queue: int) -> list[Row]:
    return [
        {
            "brokerName": name,
            "brokerAddr": found.addr,
            "topic": topic,
            "queueId": queue,
            "queueOffset": entry.offset,
            "physicalOffset": entry.physic_offset,
            "storeSize": size(entry.physic_size),
            "tagsCode": entry.tags_code,
            "extendData": entry.extend_data,
            "bitMap": entry.bit_map,
            "eval": entry.eval,
            "msg": entry.msg,
        }
        for entry in (found.result.entries if found.result else ())
    ]


def _notes(name: str | None, found: ServerResult[QueueEntries]) -> list[str]:
    where = f"broker {name or found.addr}"
    if found.result is None:
        return [f"{where}: {error_text(found.error)}"] if found.error else []
    notes = [f"{where}: {found.result.filter_data}"] if found.result.filter_data else []
    return notes
