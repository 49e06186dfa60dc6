"""Owns route diff, which compares the routes of two times, name servers, contexts or snapshot files."""

from collections.abc import Iterator
from typing import Annotated

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from namesrv_core.printable_text import escape_unsafe
from namesrv_core.protocol.codes import perm_text
from nsadmin.client.snapshots import ClusterSnapshot, ItemValue, SnapshotItem, iterate_items
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.changes import change_cells
from nsadmin.commands.history.journal_source import JournalOption, JournalServerOption
from nsadmin.commands.history.snapshot_source import SNAPSHOT_SOURCE_HELP, resolve_snapshot
from nsadmin.console.output import OutputText, ResultRow, ResultRows
from nsadmin.console.session import Session

ROUTE_DIFF_COLUMNS = ("what", "name", "brokerName", "changes", "before", "after")


class RoutesDifferError(RocketMQError):
    """The two sides differ."""


@command(columns=ROUTE_DIFF_COLUMNS, agent_refusal="its sides can be files, addresses and other contexts")
def route_diff(
    session: Session,
    topic: Annotated[str | None, Argument(metavar="TOPIC", help="Only this topic."), Flags("-t", "--topic")],
    first_operand: Annotated[
        str, Option("--from", metavar="WHAT", help=f"The first side: {SNAPSHOT_SOURCE_HELP}.")
    ],
    second_operand: Annotated[str, Option("--to", metavar="WHAT", help="The second side: the same kinds.")],
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
        nsadmin route diff --from 2025-02-01T00:00:02Z --to 2025-02-01T00:00:04Z --journal namesrv/journal
        # The same changes as text for a ticket (exit code 1)
        nsadmin route diff --from 1738368002000 --to 1738368004000 --unified --journal namesrv/journal
        # One topic, at a past time and on a name server now (exit code 1)
        nsadmin route diff orders --from 2025-02-01T00:00:02Z --to 127.0.0.1:9876 --journal namesrv/journal
    """
    snapshots = [
        resolve_snapshot(session, option_flag, operand_text, journal_folders, server_name)
        for option_flag, operand_text in (("--from", first_operand), ("--to", second_operand))
    ]
    first_items, second_items = (dict(iterate_items(snapshot, topic)) for snapshot in snapshots)
    diff_rows = list(_diff_rows(first_items, second_items))
    errors = [RoutesDifferError("the two sides differ")] if diff_rows else []
    if unified:
        return OutputText(_unified_diff(snapshots, first_items, second_items), errors)
    return ResultRows(
        ROUTE_DIFF_COLUMNS,
        diff_rows,
        errors,
        [_count_differences(len(diff_rows))] if diff_rows else [],
        ROUTE_DIFF_COLUMNS[:4],
    )


def _count_differences(difference_count: int) -> str:
    return "1 difference" if difference_count == 1 else f"{difference_count} differences"


def _diff_rows(
    first_items: dict[SnapshotItem, ItemValue], second_items: dict[SnapshotItem, ItemValue]
) -> Iterator[ResultRow]:
    for snapshot_item in sorted(
        {**first_items, **second_items},
        key=lambda snapshot_item: (
            snapshot_item.kind,
            snapshot_item.item_name,
            snapshot_item.broker_name or "",
        ),
    ):
        first_value, second_value = first_items.get(snapshot_item), second_items.get(snapshot_item)
        if first_value != second_value:
            item_kind, item_name, broker_name = snapshot_item
            yield {
                "what": item_kind,
                "name": item_name,
                "brokerName": broker_name,
                **change_cells(first_value, second_value),
            }


def _unified_diff(
    snapshots: list[ClusterSnapshot],
    first_items: dict[SnapshotItem, ItemValue],
    second_items: dict[SnapshotItem, ItemValue],
) -> str:
    from difflib import unified_diff

    first_lines, second_lines = (
        [
            escape_unsafe(_item_line(snapshot_item, item_value))
            for snapshot_item, item_value in compared_part.items()
        ]
        for compared_part in (first_items, second_items)
    )
    first_source, second_source = (compared_part.source for compared_part in snapshots)
    return "\n".join(unified_diff(first_lines, second_lines, first_source, second_source, lineterm="", n=0))


def _item_line(snapshot_item: SnapshotItem, item_value: ItemValue) -> str:
    line_head = " ".join(filter(None, snapshot_item))
    if isinstance(item_value, str):
        return f"{line_head} {item_value}"
    shown_fields = (
        {**item_value, "perm": perm_text(item_value["perm"])} if "perm" in item_value else item_value
    )
    return " ".join(
        [
            line_head,
            *(f"{field_name}={_field_text(field_value)}" for field_name, field_value in shown_fields.items()),
        ]
    )


def _field_text(field_value: object) -> str:
    if isinstance(field_value, dict):
        return ",".join(f"{entry_key}={entry_value}" for entry_key, entry_value in field_value.items())
    return str(field_value)
