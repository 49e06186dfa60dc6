"""The texts and tones of one line of a table. The grid redraws a line only if its pieces differ. Pure."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from nsadmin.tui.views.table import Column, Heading, SortOrder, Tone, align_text, escape_unprintable

FittedColumns = Sequence[tuple[Column[Any], int]]


class LinePiece(NamedTuple):
    text: str
    tone: Tone
    flashes: bool = False


class LinePieces(NamedTuple):
    """The pieces of a line. `base_tone` is the background of the line."""

    base_tone: Tone
    text_pieces: tuple[LinePiece, ...]


class RowStyle(NamedTuple):
    """The state of a row that changes its look. `is_old` means that no server reports it any more.

    `is_marked` means that the next action changes it together with other marked rows.
    """

    is_odd: bool = False
    is_at_cursor: bool = False
    has_focus: bool = False
    is_old: bool = False
    is_marked: bool = False

    @property
    def base_tone(self) -> Tone:
        return "cursor" if self.is_at_cursor and self.has_focus else "odd" if self.is_odd else "base"

    @property
    def cursor_mark(self) -> LinePiece:
        return LinePiece("◆" if self.is_marked else "▌" if self.is_at_cursor else " ", "mark")


def header_pieces(fitted_columns: FittedColumns, gap_width: int, sorted_by: SortOrder | None) -> LinePieces:
    """The titles of the columns. An arrow marks the sort column."""
    pieces = [LinePiece(" ", "head")]
    for column, width in fitted_columns:
        is_sorted_by = sorted_by is not None and column.key == sorted_by.key
        sort_sign = ("▼" if sorted_by and sorted_by.descending else "▲") if is_sorted_by else ""
        column_text = align_text(column.heading + sort_sign, width, column.right)
        pieces.append(LinePiece(column_text + " " * gap_width, "headChosen" if is_sorted_by else "head"))
    return LinePieces("head", tuple(pieces))


def row_pieces(
    fitted_columns: FittedColumns, gap_width: int, row: Any, flashing_keys: Collection[str], style: RowStyle
) -> LinePieces:
    """The cells of a row. `flashing_keys` are keys of columns. A row that cannot be drawn harms no other."""
    try:
        rendered = [(column, width, column.render_cell(row)) for column, width in fitted_columns]
    except Exception as error:
        error_text = escape_unprintable(f"this row cannot be shown: {type(error).__name__}: {error}")
        return LinePieces(style.base_tone, (style.cursor_mark, LinePiece(error_text, "bad")))
    return LinePieces(
        style.base_tone,
        (
            style.cursor_mark,
            *(
                LinePiece(
                    align_text(escape_unprintable(cell.text), width, column.right) + " " * gap_width,
                    "dim" if style.is_old else cell.tone,
                    column.key in flashing_keys,
                )
                for column, width, cell in rendered
            ),
        ),
    )


def heading_pieces(heading: Heading, style: RowStyle) -> LinePieces:
    """The heading of a group, across all columns."""
    base_tone = style.base_tone if style.is_at_cursor else "panel"
    return LinePieces(
        base_tone,
        (
            style.cursor_mark,
            *(LinePiece(escape_unprintable(cell.text), cell.tone) for cell in heading.render_cells),
        ),
    )


def message_pieces(message_text: str) -> LinePieces:
    """A line with a message, which is shown instead of rows."""
    return LinePieces("base", (LinePiece(escape_unprintable(message_text), "dim"),))
