"""routeDiff: compares the routes of two times, name servers, contexts or snapshot files."""

from collections.abc import Iterator
from typing import Annotated

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import perm_text
from nsadmin.client.pictures import Item, Picture, Value, items
from nsadmin.commands.changes import change
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.pictured import HELP, picture
from nsadmin.commands.recorded import JournalOption, ServerOption
from nsadmin.output import Row, Rows, Text
from nsadmin.session import Session

COLUMNS = ("what", "name", "brokerName", "changes", "before", "after")


class Differs(RocketMQError):
    """The two sides differ."""


@shows(COLUMNS)
def route_diff(
    session: Session,
    topic: Annotated[str | None, Word(("-t", "--topic"), "TOPIC", "Only this topic.", required=False)],
    from_: Annotated[str, Option("--from", metavar="WHAT", help=f"The one side: {HELP}.")],
    to: Annotated[str, Option("--to", metavar="WHAT", help="The other side: one of the same.")],
    unified: Annotated[bool, Option("--unified", help="As the text that diff -U0 writes.")] = False,
    server: ServerOption = None,
    journal: JournalOption = None,
) -> Rows | Text:
    """Show what differs between two sides: brokers, queues and permissions of topics, order configurations.

    A side is the file of a snapshot, a name server as HOST:PORT, the name of a context, or a time, for which
    a journal is read. As with diff, the exit code is 0 where both are the same and 1 where they differ; what
    is not known or cannot be read is 2, and a name server that cannot be reached 4.

    Examples:
        # What a wipe changed (exit code 1)
        nsadmin routeDiff --from 2025-02-01T00:00:02Z --to 2025-02-01T00:00:04Z --journal namesrv/journal
        # The same as a text for a ticket (exit code 1)
        nsadmin routeDiff --from 1738368002000 --to 1738368004000 --unified --journal namesrv/journal
        # Between a past and a name server of now, for one topic (exit code 1)
        nsadmin routeDiff orders --from 2025-02-01T00:00:02Z --to 127.0.0.1:9876 --journal namesrv/journal
    """
    sides = [
        picture(session, "routeDiff", option, text, journal, server)
        for option, text in (("--from", from_), ("--to", to))
    ]
    before, after = (dict(items(side, topic)) for side in sides)
    rows = list(_rows(before, after))
    errors = [Differs("the two sides differ")] if rows else []
    if unified:
        return Text(_unified(sides, before, after), errors)
    return Rows(COLUMNS, rows, errors, [_count(len(rows))] if rows else [], COLUMNS[:4])


def _count(number: int) -> str:
    return "1 difference" if number == 1 else f"{number} differences"


def _rows(before: dict[Item, Value], after: dict[Item, Value]) -> Iterator[Row]:
    for item in sorted({**before, **after}, key=lambda item: (item.what, item.name, item.broker_name or "")):
        was, is_ = before.get(item), after.get(item)
        if was != is_:
            what, name, broker_name = item
            yield {"what": what, "name": name, "brokerName": broker_name, **change(was, is_)}


def _unified(sides: list[Picture], before: dict[Item, Value], after: dict[Item, Value]) -> str:
    from difflib import unified_diff

    one, other = ([_line(item, value) for item, value in side.items()] for side in (before, after))
    first, second = (side.source for side in sides)
    return "\n".join(unified_diff(one, other, first, second, lineterm="", n=0))


def _line(item: Item, value: Value) -> str:
    head = " ".join(filter(None, item))
    if isinstance(value, str):
        return f"{head} {value}"
    fields = {**value, "perm": perm_text(value["perm"])} if "perm" in value else value
    return " ".join([head, *(f"{name}={_text(field)}" for name, field in fields.items())])


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ",".join(f"{key}={item}" for key, item in value.items())
    return str(value)
