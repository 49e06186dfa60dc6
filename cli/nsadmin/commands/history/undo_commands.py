"""Owns the commands that undo recorded changes, as the rows of the records tell them."""

from collections.abc import Iterable, Sequence

from nsadmin.client.advised_command import quote_command
from nsadmin.client.redaction import HIDDEN_TEXT
from nsadmin.command_line.declarations import declaration_of
from nsadmin.command_line.registry import find_command
from nsadmin.commands.consumers.offset_undo import add_move_undos
from nsadmin.console.audit import AuditRecord, list_connection


def find_undo(record: AuditRecord, connection: Sequence[str] = ()) -> str | None:
    """Return the command lines that undo a change, joined by &&; None if its rows do not tell them.

    They reach the servers of the running command, or those of `connection`.
    """
    name = str(record.get("command")).split(" ", 1)[0]
    entry = find_command(name)
    undo_lines = declaration_of(entry.load_function()).undo_lines if entry else None
    rows = [row for row in record.get("results") or () if isinstance(row, dict)]
    is_done = any(row.get("result") == "done" for row in rows)
    lines = undo_lines(rows) if undo_lines and is_done else ()
    if any(HIDDEN_TEXT in word for line in lines for word in line):
        return None
    return " && ".join(quote_command(*line, *connection) for line in lines) or None


def add_undo_commands(records: Iterable[AuditRecord]) -> list[AuditRecord]:
    """Add `undo` to the records: the commands that undo the change; None if there are none.

    A move of offsets has one only if it is the last move of its group on the topic.
    """
    return [
        record if record["undo"] else record | {"undo": find_undo(record, list_connection(record))}
        for record in add_move_undos(records)
    ]
