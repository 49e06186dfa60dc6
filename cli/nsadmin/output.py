"""Everything that goes to stdout, rows as a table or as JSON; nothing else writes there. No value is cut."""

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import Perm, perm_text

FORMATS = ("table", "json")

Row = Mapping[str, object]


class Rows(NamedTuple):
    """What a command found or did.

    `columns` are the keys of every row, in their order; `in_table` are those that a table shows, if not
    all. `errors` is what happened on each server (None: all went well) and decides the exit code;
    `notes` are lines for stderr.
    """

    columns: Sequence[str]
    rows: Sequence[Row]
    errors: Sequence[RocketMQError | None] = ()
    notes: Sequence[str] = ()
    in_table: Sequence[str] | None = None


class Style(NamedTuple):
    """How to write: `format` is one of FORMATS."""

    format: str = "table"
    color: bool = True


def write_rows(rows: Rows, style: Style) -> None:
    """Rows in the chosen format; Rich draws a table on a terminal, elsewhere it is plain aligned text."""
    if style.format == "json":
        write_text(as_json(rows))
    elif sys.stdout.isatty():
        _draw(rows, style.color)
    else:
        write_text(as_text(rows))


def write_text(text: str) -> None:
    """Text as it is, in UTF-8 whatever the locale, with a line end behind it."""
    data = (text if text.endswith("\n") else text + "\n").encode("utf-8", "backslashreplace")
    sys.stdout.flush()
    left = memoryview(data)
    while left:
        # With PYTHONUNBUFFERED this is a raw file, which may take a part and say how much.
        left = left[sys.stdout.buffer.write(left) :]
    sys.stdout.flush()


def as_json(rows: Rows) -> str:
    """An array of objects, one for each row, with all columns as keys, in strict JSON."""
    objects = [{name: row.get(name) for name in rows.columns} for row in rows.rows]
    return json.dumps(objects, indent=2, ensure_ascii=False, allow_nan=False)


def as_text(rows: Rows) -> str:
    """Aligned columns, two blanks apart, under their names; numbers stand at the right."""
    names = rows.in_table or rows.columns
    cells = [list(names), *([cell(row.get(name)) for name in names] for row in rows.rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    right = [_is_number(rows, name) for name in names]
    return "\n".join(
        "  ".join(
            text.rjust(width) if at_right else text.ljust(width)
            for text, width, at_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in cells
    )


# Controls and marks that turn the direction of writing: in a table they could forge what is shown.
_UNSHOWABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def cell(value: object) -> str:
    """A value as a table shows it, on one line."""
    if value is None or value == () or value == {}:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Perm):
        return perm_text(value)
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, Mapping):
        return " ".join(f"{key}={cell(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ",".join(map(cell, value))
    return _UNSHOWABLE.sub(lambda match: match[0].encode("unicode_escape").decode(), str(value))


def _is_number(rows: Rows, name: str) -> bool:
    values = [row.get(name) for row in rows.rows]
    return any(value is not None for value in values) and all(
        value is None or (isinstance(value, (int, float)) and not isinstance(value, (bool, Perm)))
        for value in values
    )


# Columns of free text, which may be folded where a terminal is too narrow for all.
_FOLDABLE = ("brokerAddrs", "consumerGroups", "value", "error")
_NARROW = 16
_GAP = 2


def _draw(rows: Rows, color: bool) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    names = rows.in_table or rows.columns
    color = color and not os.environ.get("NO_COLOR")
    console = Console(no_color=not color, highlight=False)
    widths = _fitted(rows, names, console.width)
    head = "bold" if color else ""
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style=head
    )
    for name, width in zip(names, widths, strict=True):
        justify = "right" if _is_number(rows, name) else "left"
        table.add_column(_words(name), width=width, overflow="fold", justify=justify)  # type: ignore[arg-type]
    for row in rows.rows:
        table.add_row(*(Text(cell(row.get(name)), _style(name, row) if color else "") for name in names))
    # Wider than the terminal rather than unreadable: the terminal then breaks the lines.
    console.width = max(console.width, sum(widths) + _GAP * len(widths))
    console.print(table)


def _fitted(rows: Rows, names: Sequence[str], room: int) -> list[int]:
    """A width for each column: as its cells need, but free text gives way where the room is too small."""
    widths = []
    for name in names:
        longest_word = max(map(len, _words(name).split()))
        widths.append(max([longest_word, *(len(cell(row.get(name))) for row in rows.rows)]))
    excess = sum(widths) + _GAP * len(widths) - room
    for at, name in enumerate(names):
        if excess > 0 and name in _FOLDABLE and widths[at] > _NARROW:
            folded = max(_NARROW, widths[at] - excess)
            excess -= widths[at] - folded
            widths[at] = folded
    return widths


def _words(name: str) -> str:
    """A column's name as words, which a heading can fold: brokerName is "broker name"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def _style(name: str, row: Row) -> str:
    value = row.get(name)
    if (name == "error" and value) or value == "failed" or (name == "reachable" and value is False):
        return "red"
    return {"done": "green", "dry-run": "yellow"}.get(str(value), "") if name == "result" else ""
