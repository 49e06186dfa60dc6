"""Formats rows as a table: plain aligned text, or a table that Rich draws on a terminal."""

import os
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from namesrv_core.printable_text import cut_text, escape_unsafe
from namesrv_core.protocol.codes import Perm, perm_text
from nsadmin.console.output.result_rows import (
    ByteSize,
    DurationMillis,
    EpochMillisText,
    FineDurationMillis,
    ResultRow,
    ResultRows,
)
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import format_byte_size, format_duration

_MILLIS_ENDING = re.compile(r"(?<=[a-z])(Ms|Mills|Millis)$")


def heading_of(column: str) -> str:
    """The heading of a column of durations, whose cells have a unit: costMs is cost."""
    return _MILLIS_ENDING.sub("", column)


def drop_units(rows: ResultRows) -> ResultRows:
    """The same rows; the names of columns of durations have no unit."""
    durations = {
        column
        for column in rows.columns
        if any(isinstance(row.get(column), (DurationMillis, FineDurationMillis)) for row in rows.rows)
    }
    names = {c: heading_of(c) if c in durations else c for c in rows.columns}
    if all(c == name for c, name in names.items()):
        return rows
    return rows._replace(
        columns=tuple(names.values()),
        table_columns=rows.table_columns and tuple(names[c] for c in rows.table_columns),
        rows=[{names.get(c, c): value for c, value in row.items()} for row in rows.rows],
    )


def format_plain_table(rows: ResultRows, shows_headers: bool = True) -> str:
    """Aligned columns below their names, two blanks apart. Numbers are right-aligned.

    A cell of more than 100 characters only moves the rest of its own line.
    """
    rows = drop_units(rows)
    columns = rows.table_columns or rows.columns
    lines = [[cell_text(row.get(c)) for c in columns] for row in rows.rows]
    if shows_headers:
        lines.insert(0, list(columns))
    widths = [
        max((len(text) for text in texts if len(text) <= _MAX_PADDED_CHARS), default=0)
        for texts in zip(*lines, strict=True)
    ]
    pads = [str.rjust if _is_number_column(rows, c) else str.ljust for c in columns]
    return "\n".join(
        "  ".join(pad(text, width) for pad, text, width in zip(pads, line, widths, strict=True)).rstrip()
        for line in lines
    )


_MAX_PADDED_CHARS = 100
_MAX_CELL_CHARS = 10_000


def cell_text(value: object) -> str:
    """The text of a cell, on one line. A long text is cut."""
    if type(value) is str and len(value) <= _MAX_CELL_CHARS and value.isprintable():
        # The usual case. No character that `escape_unsafe` escapes is printable.
        return value
    if type(value) is str:
        # Not the whole text is escaped, which can have megabytes.
        return cut_text(escape_unsafe(value[:_MAX_CELL_CHARS]) + value[_MAX_CELL_CHARS:], _MAX_CELL_CHARS)
    return cut_text(_whole_text(value), _MAX_CELL_CHARS)


def _whole_text(value: object) -> str:
    if value is None or value == () or value == {}:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Perm):
        return perm_text(value)
    if isinstance(value, ByteSize):
        return format_byte_size(value)
    if isinstance(value, (DurationMillis, FineDurationMillis)):
        return format_duration(value)
    if isinstance(value, EpochMillisText):
        return format_utc(int(value)) or "-"
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, Mapping):
        return " ".join(f"{escape_unsafe(str(key))}={cell_text(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ",".join(map(cell_text, value))
    return escape_unsafe(str(value))


def _is_number_column(rows: ResultRows, column: str) -> bool:
    values = [row[column] for row in rows.rows if row.get(column) is not None]
    return bool(values) and all(
        isinstance(value, (int, float)) and not isinstance(value, (bool, Perm)) for value in values
    )


# Columns of free text, which are folded if the terminal is too narrow.
_FOLDABLE_COLUMNS = (
    "brokerAddrs",
    "groups",
    "properties",
    "body",
    "value",
    "error",
    "changes",
    "command",
    "servers",
    "namesrvAddrs",
    "differs",
    "cause",
)
# Columns of sentences, which go below their row if the terminal is too narrow.
_SENTENCE_COLUMNS = ("seen", "next")
_MIN_FOLDED_WIDTH, _MAX_UNBROKEN = 16, 40
_COLUMN_GAP = 2
_BREAK = re.compile(r"(?<=[ ,;])")
"""Where free text is folded. Pieces between two breaks, such as addresses, are not broken up to a limit."""


def draw_table(
    rows: ResultRows,
    uses_color: bool,
    shows_headers: bool = True,
    context_banner: tuple[str, str] | None = None,
    truncated_column: str | None = None,
) -> None:
    """A table for a terminal, as wide as it needs to be and no narrower; above it a name in its colour.

    If it is too wide, columns without any value are left out, and times of today have no date. Cells of
    `truncated_column` are cut where they do not fit; other free text is folded.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = drop_units(rows)
    columns = rows.table_columns or rows.columns
    uses_color = uses_color and not os.environ.get("NO_COLOR")
    console = Console(no_color=not uses_color, highlight=False)
    if context_banner is not None:
        name, color = context_banner
        console.print(Text(f"[{cell_text(name)}]", f"bold {color}" if uses_color else ""))
    if sum(_needed_widths(rows, columns)) > console.width:
        rows = _shorten_rows(rows, columns, f"{datetime.now(UTC):%Y-%m-%d}T")
        columns = rows.table_columns or columns
    if any(c in _SENTENCE_COLUMNS for c in columns) and sum(_needed_widths(rows, columns)) > console.width:
        for line in _lines_with_sentences(rows, columns, console.width, shows_headers):
            console.print(Text.assemble(*((text, style if uses_color else "") for text, style in line)))
        return
    widths = _fit_widths(rows, columns, console.width)
    table = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="bold" if uses_color else "",
        show_header=shows_headers,
    )
    for column, width in zip(columns, widths, strict=True):
        is_truncated = column == truncated_column
        table.add_column(
            Text(_fold_heading(column, width)),
            width=width,
            no_wrap=is_truncated,
            overflow="ellipsis" if is_truncated else "fold",
            justify="right" if _is_number_column(rows, column) else "left",
        )
    for row in rows.rows:
        texts = [
            text if column == truncated_column else _fold_text(text, width)
            for column, width, text in zip(
                columns, widths, (cell_text(row.get(c)) for c in columns), strict=True
            )
        ]
        styles = [_cell_style(c, row) if uses_color else "" for c in columns]
        table.add_row(*map(Text, texts, styles))
    # If the table is still too wide, the terminal breaks its lines, which is better than cut values.
    console.width = max(console.width, sum(widths) + _COLUMN_GAP * len(widths))
    console.print(table)


def _shorten_rows(rows: ResultRows, columns: Sequence[str], today_prefix: str) -> ResultRows:
    """The same rows without columns that are empty in all of them, and without the date of today's times."""
    empty = cell_text(None)
    shown = tuple(c for c in columns if any(cell_text(row.get(c)) != empty for row in rows.rows))
    short_rows: list[ResultRow] = [
        {c: value.removeprefix(today_prefix) if type(value) is str else value for c, value in row.items()}
        for row in rows.rows
    ]
    return rows._replace(rows=short_rows, table_columns=shown or tuple(columns))


def _fold_text(text: str, line_width: int) -> str:
    """Fold a text after blanks and commas; longer pieces are left to Rich, which breaks them."""
    if len(text) <= line_width:
        return text
    lines = [""]
    for piece in _BREAK.split(text):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > line_width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def _needed_widths(rows: ResultRows, columns: Sequence[str]) -> list[int]:
    """The width of each column without folding, with the gap after it."""
    return [max(len(c), _cell_width(rows, c)) + _COLUMN_GAP for c in columns]


def _cell_width(rows: ResultRows, column: str) -> int:
    return max((len(cell_text(row.get(column))) for row in rows.rows), default=0)


def _lines_with_sentences(
    rows: ResultRows, columns: Sequence[str], line_width: int, shows_headers: bool
) -> Iterator[Sequence[tuple[str, str]]]:
    """Yield lines of texts with styles; sentences go below their row and use the whole width.

    Side by side in narrow columns they would be several times as tall. The first one stays in the line of
    its row where it fits; the columns after it have an arrow.
    """
    short_columns = [c for c in columns if c not in _SENTENCE_COLUMNS]
    widths = _needed_widths(rows, short_columns)
    if shows_headers and short_columns:
        titles = "".join(c.ljust(width) for c, width in zip(short_columns, widths, strict=True))
        yield [(titles.rstrip(), "bold")]
    for row in rows.rows:
        cells = [
            (cell_text(row.get(c)).ljust(width), _cell_style(c, row))
            for c, width in zip(short_columns, widths, strict=True)
        ]
        sentences = [cell_text(row[c]) for c in columns if c in _SENTENCE_COLUMNS and row.get(c)]
        if sentences and sum(len(text) for text, _ in cells) + len(sentences[0]) <= line_width:
            yield [*cells, (sentences[0], "")]
        else:
            if cells:
                text, style = cells[-1]
                yield [*cells[:-1], (text.rstrip(), style)]
            for sentence in sentences[:1]:
                yield from ([(line, "")] for line in _wrap_indented(sentence, "    ", line_width))
        for sentence in sentences[1:]:
            yield from ([(line, "")] for line in _wrap_indented(sentence, "  → ", line_width))


def _wrap_indented(text: str, first_indent: str, line_width: int) -> list[str]:
    return textwrap.wrap(
        text, max(line_width, 2 * _MIN_FOLDED_WIDTH), initial_indent=first_indent, subsequent_indent="    "
    )


def _fit_widths(rows: ResultRows, columns: Sequence[str], line_width: int) -> list[int]:
    """A width for each column: as its name and its cells need, if the terminal is wide enough.

    Else headings are folded, those with the largest gain first, and then columns of free text.
    """
    cell_widths = [_cell_width(rows, c) for c in columns]
    widths = [max(len(c), cell_width) for c, cell_width in zip(columns, cell_widths, strict=True)]
    excess = sum(widths) + _COLUMN_GAP * len(widths) - line_width
    folded_widths = [
        max(cell_width, *map(len, _heading_parts(c)))
        for c, cell_width in zip(columns, cell_widths, strict=True)
    ]
    gains = [width - folded for width, folded in zip(widths, folded_widths, strict=True)]
    for i in sorted(range(len(gains)), key=lambda i: -gains[i]):
        if excess > 0:
            excess -= gains[i]
            widths[i] = folded_widths[i]
    for i, column in enumerate(columns):
        if excess > 0 and column in _FOLDABLE_COLUMNS and widths[i] > _MIN_FOLDED_WIDTH:
            unbroken_widths = (
                len(piece.rstrip())
                for row in rows.rows
                for piece in _BREAK.split(cell_text(row.get(column)))
                if len(piece) <= _MAX_UNBROKEN
            )
            min_width = max((_MIN_FOLDED_WIDTH, *unbroken_widths))
            folded = min(max(min_width, widths[i] - excess), widths[i])
            excess -= widths[i] - folded
            widths[i] = folded
    return widths


def _heading_parts(column: str) -> list[str]:
    """The parts between which a heading can be folded: brokerName is "broker" and "Name"."""
    return re.split(r"(?<=[a-z])(?=[A-Z])", column)


def _fold_heading(column: str, width: int) -> str:
    """The column's name, as --columns and --sort accept it, on as few lines as fit the width."""
    lines = [""]
    for part in _heading_parts(column):
        if len(lines[-1]) + len(part) <= width:
            lines[-1] += part
        else:
            lines.append(part)
    return "\n".join(filter(None, lines))


_RESULT_COLORS = {
    "done": "green", "dry-run": "yellow",
    "ok": "green", "warning": "yellow", "unknown": "yellow", "cause": "red",
}  # fmt: skip


def _cell_style(column: str, row: ResultRow) -> str:
    value = row.get(column)
    if (column == "error" and value) or value == "failed" or (column == "reachable" and value is False):
        return "red"
    if column == "name" and row.get("color"):
        return f"bold {row['color']}"
    return _RESULT_COLORS.get(str(value), "") if column == "result" else ""
