"""Owns route diff, which compares the routes of two times, name servers, contexts or snapshot files."""

from typing import Annotated, NamedTuple

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from namesrv_core.printable_text import escape_unsafe
from namesrv_core.protocol.codes import perm_text
from nsadmin.client.snapshots import ClusterSnapshot, ItemValue, SnapshotItem, iterate_items
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.changes import AFTER, BEFORE, CHANGES, describe_change
from nsadmin.commands.history.journal_source import JournalOption, JournalServerOption
from nsadmin.commands.history.snapshot_source import SNAPSHOT_SOURCE_HELP, resolve_snapshot
from nsadmin.console.output import Column, Columns, OutputText, ResultRows, of_part
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session


class ItemChange(NamedTuple):
    """An item that is not the same on both sides; None stands for a missing item."""

    item: SnapshotItem
    before: ItemValue | None
    after: ItemValue | None


ROUTE_DIFF_COLUMNS: Columns[ItemChange] = (
    *of_part(
        lambda c: c.item,
        (
            Column(
                "what",
                "broker, topic (its queues on a broker) or order (a topic's order configuration)",
                lambda i: i.kind,
            ),
            Column("name", "name of the broker or topic", lambda i: i.item_name),
            BROKER_NAME,
        ),
    ),
    CHANGES.of(lambda c: describe_change(c.before, c.after)),
    BEFORE.means("the value on the one side; null for none"),
    AFTER.means("the value on the other side; null for none"),
)


class RoutesDifferError(RocketMQError):
    """The two sides differ."""


@command(columns=ROUTE_DIFF_COLUMNS, agent_refusal="its sides can be files, addresses and other contexts")
def route_diff(
    session: Session,
    topic: Annotated[str | None, Argument(metavar="TOPIC", help="Only this topic."), Flags("-t", "--topic")],
    first_operand: Annotated[
        str, Option("--from", metavar="SIDE", help=f"The first side: {SNAPSHOT_SOURCE_HELP}.")
    ],
    second_operand: Annotated[str, Option("--to", metavar="SIDE", help="The second side: the same kinds.")],
    unified: Annotated[bool, Option("--unified", help="Print text in the format of diff -U0.")] = False,
    server_name: JournalServerOption = None,
    journal_folders: JournalOption = None,
) -> ResultRows | OutputText:
    """Compare two sides: brokers, queues and permissions of topics, order configurations.

    A side is a snapshot file, a name server (HOST:PORT), the name of a context, or a time, which needs a
    journal. The exit code is 0 if both sides are equal, 1 if they differ, and 2 if a side is unknown or
    cannot be read. It is 4 if a name server is unreachable.

    Examples:
        # The changes of a wipe (exit code 1)
        nsadmin route diff --from 2025-02-01T00:00:02Z --to 2025-02-01T00:00:04Z
        # The same changes as text for a ticket (exit code 1)
        nsadmin route diff --from 1738368002000 --to 1738368004000 --unified
        # One topic, at a past time and on a name server now (exit code 1)
        nsadmin route diff orders --from 2025-02-01T00:00:02Z --to 127.0.0.1:9876
    """
    snapshots = [
        resolve_snapshot(session, option_flag, operand_text, journal_folders, server_name)
        for option_flag, operand_text in (("--from", first_operand), ("--to", second_operand))
    ]
    first_items, second_items = (dict(iterate_items(snapshot, topic)) for snapshot in snapshots)
    changes = _list_changes(first_items, second_items)
    errors = [RoutesDifferError("the two sides differ")] if changes else []
    if unified:
        return OutputText(_unified_diff(snapshots, first_items, second_items), errors)
    note = count_noun(len(changes), "difference") if changes else "no differences"
    if topic is not None and not (first_items or second_items):
        note = f'neither side has the topic "{topic}"'
    return ResultRows.from_records(ROUTE_DIFF_COLUMNS, changes, errors, [note])


def _list_changes(
    first_items: dict[SnapshotItem, ItemValue], second_items: dict[SnapshotItem, ItemValue]
) -> list[ItemChange]:
    items = sorted({**first_items, **second_items}, key=lambda i: (i.kind, i.item_name, i.broker_name or ""))
    changes = (ItemChange(i, first_items.get(i), second_items.get(i)) for i in items)
    return [c for c in changes if c.before != c.after]


def _unified_diff(
    snapshots: list[ClusterSnapshot],
    first_items: dict[SnapshotItem, ItemValue],
    second_items: dict[SnapshotItem, ItemValue],
) -> str:
    from difflib import unified_diff

    first_lines, second_lines = (
        [escape_unsafe(_item_line(item, value)) for item, value in items.items()]
        for items in (first_items, second_items)
    )
    first, second = snapshots
    return "\n".join(unified_diff(first_lines, second_lines, first.source, second.source, lineterm="", n=0))


def _item_line(item: SnapshotItem, value: ItemValue) -> str:
    head = " ".join(filter(None, item))
    if isinstance(value, str):
        return f"{head} {value}"
    fields = {**value, "perm": perm_text(value["perm"])} if "perm" in value else value
    return " ".join([head, *(f"{name}={_field_text(field)}" for name, field in fields.items())])


def _field_text(value: object) -> str:
    if isinstance(value, dict):
        return ",".join(f"{key}={entry}" for key, entry in value.items())
    return str(value)
