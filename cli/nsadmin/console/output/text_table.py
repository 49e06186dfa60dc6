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


def format_plain_table(rows: ResultRows, shows_headers: bool = True) -> str:
    """Return aligned columns below their names, two blanks apart. Numbers are right-aligned."""
    column_names = rows.table_columns or rows.columns
    cell_rows = [[cell_text(row.get(column_name)) for column_name in column_names] for row in rows.rows]
    if shows_headers:
        cell_rows.insert(0, list(column_names))
    column_widths = [max(map(len, column)) for column in zip(*cell_rows, strict=True)]
    is_right_aligned = [_is_number_column(rows, column_name) for column_name in column_names]
    return "\n".join(
        "  ".join(
            shown_text.rjust(column_width) if aligns_right else shown_text.ljust(column_width)
            for shown_text, column_width, aligns_right in zip(
                cell_row, column_widths, is_right_aligned, strict=True
            )
        ).rstrip()
        for cell_row in cell_rows
    )


_MAX_CELL_CHARS = 10_000
"""All cells of a column are as wide as the widest one."""


def cell_text(row_value: object) -> str:
    """Return the text of a cell, on one line. A long text is cut."""
    if type(row_value) is str and len(row_value) <= _MAX_CELL_CHARS and row_value.isprintable():
        # The usual case. No character that `escape_unsafe` escapes is printable.
        return row_value
    if type(row_value) is str:
        # Not the whole text is escaped, which can have megabytes.
        return cut_text(
            escape_unsafe(row_value[:_MAX_CELL_CHARS]) + row_value[_MAX_CELL_CHARS:], _MAX_CELL_CHARS
        )
    return cut_text(_whole_text(row_value), _MAX_CELL_CHARS)


def _whole_text(row_value: object) -> str:
    if row_value is None or row_value == () or row_value == {}:
        return "-"
    if isinstance(row_value, bool):
        return "true" if row_value else "false"
    if isinstance(row_value, Perm):
        return perm_text(row_value)
    if isinstance(row_value, ByteSize):
        return _byte_size_text(row_value)
    if isinstance(row_value, (DurationMillis, FineDurationMillis)):
        return _duration_text(row_value)
    if isinstance(row_value, EpochMillisText):
        return format_utc(int(row_value)) or "-"
    if isinstance(row_value, float):
        return f"{row_value:.2f}"
    if isinstance(row_value, Mapping):
        return " ".join(
            f"{escape_unsafe(str(item_key))}={cell_text(item_value)}"
            for item_key, item_value in row_value.items()
        )
    if isinstance(row_value, (list, tuple)):
        return ",".join(map(cell_text, row_value))
    return escape_unsafe(str(row_value))


def _byte_size_text(byte_count: int) -> str:
    """Format a size: 1536 is 1.5 KiB."""
    for power, unit_name in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        if abs(byte_count) >= 1024**power:
            return f"{byte_count / 1024**power:.1f} {unit_name}"
    return f"{byte_count} B"


_DURATION_UNITS = (
    (86_400_000, "d", 3_600_000, "h"),
    (3_600_000, "h", 60_000, "min"),
    (60_000, "min", 1000, "s"),
)


def _duration_text(duration_ms: float) -> str:
    """Format a duration: 90000 is 1 min 30 s."""
    for unit_ms, unit_name, part_ms, part_name in _DURATION_UNITS:
        if abs(duration_ms) >= unit_ms:
            whole_units, rest_ms = divmod(int(duration_ms), unit_ms)
            return (
                f"{whole_units} {unit_name} {rest_ms // part_ms} {part_name}"
                if rest_ms >= part_ms
                else f"{whole_units} {unit_name}"
            )
    if abs(duration_ms) >= 1000:
        return f"{duration_ms / 1000:.2f} s"
    return f"{duration_ms} ms" if isinstance(duration_ms, int) else f"{duration_ms:.2f} ms"


def _is_number_column(rows: ResultRows, column_name: str) -> bool:
    column_values = [row.get(column_name) for row in rows.rows]
    return any(value is not None for value in column_values) and all(
        value is None or (isinstance(value, (int, float)) and not isinstance(value, (bool, Perm)))
        for value in column_values
    )


# Columns of free text, which are folded if the terminal is too narrow.
_FOLDABLE_COLUMNS = (
    "brokerAddrs",
    "consumerGroups",
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

    column_names = rows.table_columns or rows.columns
    uses_color = uses_color and not os.environ.get("NO_COLOR")
    console = Console(no_color=not uses_color, highlight=False)
    if context_banner is not None:
        column_name, banner_color = context_banner
        console.print(Text(f"[{cell_text(column_name)}]", f"bold {banner_color}" if uses_color else ""))
    if sum(_needed_widths(rows, column_names)) > console.width:
        rows = _shorten_rows(rows, column_names, f"{datetime.now(UTC):%Y-%m-%d}T")
        column_names = rows.table_columns or column_names
    if (
        any(column_name in _SENTENCE_COLUMNS for column_name in column_names)
        and sum(_needed_widths(rows, column_names)) > console.width
    ):
        for styled_line in _lines_with_sentences(rows, column_names, console.width, shows_headers):
            console.print(
                Text.assemble(
                    *(
                        (shown_text, text_style if uses_color else "")
                        for shown_text, text_style in styled_line
                    )
                )
            )
        return
    column_widths = _fit_widths(rows, column_names, console.width)
    header_style = "bold" if uses_color else ""
    rich_table = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style=header_style,
        show_header=shows_headers,
    )
    for column_name, column_width in zip(column_names, column_widths, strict=True):
        rich_table.add_column(
            Text(_fold_heading(column_name, column_width)),
            width=column_width,
            no_wrap=column_name == truncated_column,
            overflow="ellipsis" if column_name == truncated_column else "fold",
            justify="right" if _is_number_column(rows, column_name) else "left",
        )
    for row in rows.rows:
        rich_table.add_row(
            *(
                Text(
                    cell_text(row.get(column_name))
                    if column_name == truncated_column
                    else _fold_text(cell_text(row.get(column_name)), column_width),
                    _cell_style(column_name, row) if uses_color else "",
                )
                for column_name, column_width in zip(column_names, column_widths, strict=True)
            )
        )
    # If the table is still too wide, the terminal breaks its lines, which is better than cut values.
    console.width = max(console.width, sum(column_widths) + _COLUMN_GAP * len(column_widths))
    console.print(rich_table)


def _shorten_rows(rows: ResultRows, column_names: Sequence[str], today_prefix: str) -> ResultRows:
    """The same rows without columns that are empty in all of them, and without the date of today's times."""
    empty_cell = cell_text(None)
    shown_columns = tuple(
        column_name
        for column_name in column_names
        if any(cell_text(row.get(column_name)) != empty_cell for row in rows.rows)
    )
    short_rows: list[ResultRow] = [
        {
            column_name: row_value.removeprefix(today_prefix) if type(row_value) is str else row_value
            for column_name, row_value in row.items()
        }
        for row in rows.rows
    ]
    return rows._replace(rows=short_rows, table_columns=shown_columns or tuple(column_names))


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


def _needed_widths(rows: ResultRows, column_names: Sequence[str]) -> list[int]:
    """Return the width of each column without folding, with the gap after it."""
    return [
        max([len(column_name), *(len(cell_text(row.get(column_name))) for row in rows.rows)]) + _COLUMN_GAP
        for column_name in column_names
    ]


def _lines_with_sentences(
    rows: ResultRows, column_names: Sequence[str], line_width: int, shows_headers: bool
) -> Iterator[Sequence[tuple[str, str]]]:
    """Yield lines of texts with styles; sentences go below their row and use the whole width.

    Side by side in narrow columns they would be several times as tall. The first one stays in the line of
    its row where it fits; the columns after it have an arrow.
    """
    short_columns = [column_name for column_name in column_names if column_name not in _SENTENCE_COLUMNS]
    column_widths = _needed_widths(rows, short_columns)
    if shows_headers and short_columns:
        column_titles = [
            column_name.ljust(column_width)
            for column_name, column_width in zip(short_columns, column_widths, strict=True)
        ]
        yield [("".join(column_titles).rstrip(), "bold")]
    for row in rows.rows:
        cell_texts = [
            cell_text(row.get(column_name)).ljust(column_width)
            for column_name, column_width in zip(short_columns, column_widths, strict=True)
        ]
        leading_cells = [
            (text, _cell_style(column_name, row))
            for column_name, text in zip(short_columns, cell_texts, strict=True)
        ]
        sentence_texts = [
            cell_text(row[column_name])
            for column_name in column_names
            if column_name in _SENTENCE_COLUMNS and row.get(column_name)
        ]
        if (
            sentence_texts
            and sum(len(text) for text, _ in leading_cells) + len(sentence_texts[0]) <= line_width
        ):
            yield [*leading_cells, (sentence_texts[0], "")]
        else:
            if leading_cells:
                yield [*leading_cells[:-1], (leading_cells[-1][0].rstrip(), leading_cells[-1][1])]
            yield from (
                [(wrapped_line, "")]
                for text in sentence_texts[:1]
                for wrapped_line in _wrap_indented(text, "    ", line_width)
            )
        for text in sentence_texts[1:]:
            yield from ([(wrapped_line, "")] for wrapped_line in _wrap_indented(text, "  → ", line_width))


def _wrap_indented(text: str, first_indent: str, line_width: int) -> list[str]:
    return textwrap.wrap(
        text, max(line_width, 2 * _MIN_FOLDED_WIDTH), initial_indent=first_indent, subsequent_indent="    "
    )


def _fit_widths(rows: ResultRows, column_names: Sequence[str], line_width: int) -> list[int]:
    """A width for each column: as its name and its cells need, if the terminal is wide enough.

    Else headings are folded, those with the largest gain first, and then columns of free text.
    """
    cell_widths = [
        max([0, *(len(cell_text(row.get(column_name))) for row in rows.rows)]) for column_name in column_names
    ]
    column_widths = [
        max(len(column_name), cell_width)
        for column_name, cell_width in zip(column_names, cell_widths, strict=True)
    ]
    excess_width = sum(column_widths) + _COLUMN_GAP * len(column_widths) - line_width
    folded_widths = [
        max(cell_width, *map(len, _heading_parts(column_name)))
        for column_name, cell_width in zip(column_names, cell_widths, strict=True)
    ]
    gains = [
        column_width - folded_width
        for column_width, folded_width in zip(column_widths, folded_widths, strict=True)
    ]
    for column_index in sorted(range(len(gains)), key=lambda index: -gains[index]):
        if excess_width > 0:
            excess_width -= gains[column_index]
            column_widths[column_index] = folded_widths[column_index]
    for column_index, column_name in enumerate(column_names):
        if (
            excess_width > 0
            and column_name in _FOLDABLE_COLUMNS
            and column_widths[column_index] > _MIN_FOLDED_WIDTH
        ):
            unbroken_widths = (
                len(piece.rstrip())
                for row in rows.rows
                for piece in _BREAK.split(cell_text(row.get(column_name)))
                if len(piece) <= _MAX_UNBROKEN
            )
            min_width = max((_MIN_FOLDED_WIDTH, *unbroken_widths))
            folded_width = max(min_width, column_widths[column_index] - excess_width)
            folded_width = min(folded_width, column_widths[column_index])
            excess_width -= column_widths[column_index] - folded_width
            column_widths[column_index] = folded_width
    return column_widths


def _heading_parts(column_name: str) -> list[str]:
    """The parts between which a heading can be folded: brokerName is "broker" and "Name"."""
    return re.split(r"(?<=[a-z])(?=[A-Z])", column_name)


def _fold_heading(column_name: str, column_width: int) -> str:
    """The column's name, as --columns and --sort accept it, on as few lines as fit the width."""
    heading_lines = [""]
    for heading_part in _heading_parts(column_name):
        if len(heading_lines[-1]) + len(heading_part) <= column_width:
            heading_lines[-1] += heading_part
        else:
            heading_lines.append(heading_part)
    return "\n".join(filter(None, heading_lines))


_RESULT_COLORS = {
    "done": "green", "dry-run": "yellow",
    "ok": "green", "warning": "yellow", "unknown": "yellow", "cause": "red",
}  # fmt: skip


def _cell_style(column_name: str, row: ResultRow) -> str:
    row_value = row.get(column_name)
    if (
        (column_name == "error" and row_value)
        or row_value == "failed"
        or (column_name == "reachable" and row_value is False)
    ):
        return "red"
    if column_name == "name" and row.get("color"):
        return f"bold {row['color']}"
    return _RESULT_COLORS.get(str(row_value), "") if column_name == "result" else ""
