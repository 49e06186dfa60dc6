"""Rows as a table: plain aligned text, or drawn by Rich on a terminal."""

import os
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from namesrv_core.protocol.codes import Perm, perm_text
from nsadmin.output.rows import Bytes, FineMillis, Millis, Row, Rows


def as_text(rows: Rows, headers: bool = True) -> str:
    """Aligned columns, two blanks apart, under their names; numbers stand at the right."""
    names = rows.in_table or rows.columns
    cells = [[cell(row.get(name)) for name in names] for row in rows.rows]
    if headers:
        cells.insert(0, list(names))
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
    if type(value) is str and value.isprintable():
        # Nearly all are; nothing that `_UNSHOWABLE` has is.
        return value
    if value is None or value == () or value == {}:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Perm):
        return perm_text(value)
    if isinstance(value, Bytes):
        return _size(value)
    if isinstance(value, (Millis, FineMillis)):
        return _duration(value)
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, Mapping):
        return " ".join(f"{key}={cell(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ",".join(map(cell, value))
    return _UNSHOWABLE.sub(lambda match: match[0].encode("unicode_escape").decode(), str(value))


def _size(number: int) -> str:
    """1536 is 1.5 KiB."""
    for power, unit in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        if abs(number) >= 1024**power:
            return f"{number / 1024**power:.1f} {unit}"
    return f"{number} B"


_UNITS = ((86_400_000, "d", 3_600_000, "h"), (3_600_000, "h", 60_000, "min"), (60_000, "min", 1000, "s"))


def _duration(millis: float) -> str:
    """90000 is 1 min 30 s."""
    for size, unit, part, part_unit in _UNITS:
        if abs(millis) >= size:
            whole, rest = divmod(int(millis), size)
            return f"{whole} {unit} {rest // part} {part_unit}" if rest >= part else f"{whole} {unit}"
    if abs(millis) >= 1000:
        return f"{millis / 1000:.2f} s"
    return f"{millis} ms" if isinstance(millis, int) else f"{millis:.2f} ms"


def _is_number(rows: Rows, name: str) -> bool:
    values = [row.get(name) for row in rows.rows]
    return any(value is not None for value in values) and all(
        value is None or (isinstance(value, (int, float)) and not isinstance(value, (bool, Perm)))
        for value in values
    )


# Columns of free text, which may be folded where a terminal is too narrow for all.
_FOLDABLE = (
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
# Sentences: where there is no room for all, they stand below their row.
_SENTENCES = ("seen", "next")
_NARROW = 16
_GAP = 2


def draw(rows: Rows, color: bool, headers: bool = True, banner: tuple[str, str] | None = None) -> None:
    """A table for a terminal, as wide as it needs to be and no narrower; above it a name in its colour."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    names = rows.in_table or rows.columns
    color = color and not os.environ.get("NO_COLOR")
    console = Console(no_color=not color, highlight=False)
    if banner is not None:
        name, its_color = banner
        console.print(Text(f"[{cell(name)}]", f"bold {its_color}" if color else ""))
    if any(name in _SENTENCES for name in names) and sum(_needed(rows, names)) > console.width:
        for line in _paragraphs(rows, names, console.width, headers):
            console.print(Text.assemble(*((text, style if color else "") for text, style in line)))
        return
    widths = _fitted(rows, names, console.width)
    head = "bold" if color else ""
    table = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style=head,
        show_header=headers,
    )
    for name, width in zip(names, widths, strict=True):
        justify = "right" if _is_number(rows, name) else "left"
        table.add_column(_words(name), width=width, overflow="fold", justify=justify)  # type: ignore[arg-type]
    for row in rows.rows:
        table.add_row(*(Text(cell(row.get(name)), _style(name, row) if color else "") for name in names))
    # Wider than the terminal rather than unreadable: the terminal then breaks the lines.
    console.width = max(console.width, sum(widths) + _GAP * len(widths))
    console.print(table)


def _needed(rows: Rows, names: Sequence[str]) -> list[int]:
    """How wide each column would be with all of its cells in one line, and the gap behind it."""
    return [
        max([len(_words(name)), *(len(cell(row.get(name))) for row in rows.rows)]) + _GAP for name in names
    ]


def _paragraphs(
    rows: Rows, names: Sequence[str], room: int, headers: bool
) -> Iterator[Sequence[tuple[str, str]]]:
    """Lines of texts and their styles: sentences stand below their row, over all of the width.

    Side by side in narrow columns they would be several times as tall. The first one stays in the line of
    its row where it fits; what comes after it has an arrow.
    """
    short = [name for name in names if name not in _SENTENCES]
    widths = _needed(rows, short)
    if headers and short:
        titles = [_words(name).ljust(width) for name, width in zip(short, widths, strict=True)]
        yield [("".join(titles).rstrip(), "bold")]
    for row in rows.rows:
        cells = [cell(row.get(name)).ljust(width) for name, width in zip(short, widths, strict=True)]
        lead = [(text, _style(name, row)) for name, text in zip(short, cells, strict=True)]
        while lead and lead[-1][0].strip() == cell(None):
            # A sentence takes the place of what is not there.
            lead.pop()
        told = [cell(row[name]) for name in names if name in _SENTENCES and row.get(name)]
        if told and sum(len(text) for text, _ in lead) + len(told[0]) <= room:
            yield [*lead, (told[0], "")]
        else:
            if lead:
                yield [*lead[:-1], (lead[-1][0].rstrip(), lead[-1][1])]
            yield from ([(line, "")] for text in told[:1] for line in _indented(text, "    ", room))
        for text in told[1:]:
            yield from ([(line, "")] for line in _indented(text, "  → ", room))


def _indented(text: str, mark: str, room: int) -> list[str]:
    return textwrap.wrap(text, max(room, 2 * _NARROW), initial_indent=mark, subsequent_indent="    ")


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


_OF_RESULTS = {
    "done": "green", "dry-run": "yellow",
    "ok": "green", "warning": "yellow", "unknown": "yellow", "cause": "red",
}  # fmt: skip


def _style(name: str, row: Row) -> str:
    value = row.get(name)
    if (name == "error" and value) or value == "failed" or (name == "reachable" and value is False):
        return "red"
    if name == "name" and row.get("color"):
        return f"bold {row['color']}"
    return _OF_RESULTS.get(str(value), "") if name == "result" else ""
