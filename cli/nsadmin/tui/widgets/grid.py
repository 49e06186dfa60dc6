"""The table of rows. It draws only visible lines, so that twenty thousand rows cost no more than twenty."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from nsadmin.tui.actions.key_bindings import GRID_BINDINGS
from nsadmin.tui.views.base_view import View
from nsadmin.tui.views.table import (
    Cell,
    Column,
    Heading,
    SortOrder,
    Tone,
    align_text,
    escape_unprintable,
    fit_columns,
    without_headings,
)
from nsadmin.tui.widgets.tones import tone_styles

_FLASH_SECONDS = 1.2
_AGE_AT_END = re.compile(r"(^|(?<= ))[0-9.]{1,12} (s|min|h|d)$")


class Grid(ScrollView, can_focus=True):
    """Shows the rows of a view. The cursor stays on its row when other rows appear or disappear."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(keys, action, show=False, id=binding_id)
        for binding_id, (keys, action) in GRID_BINDINGS.items()
    ]

    DEFAULT_CSS = "Grid { overflow-x: hidden; scrollbar-size-vertical: 1; }"

    @dataclass
    class Entered(Message):
        """The operator pressed Enter or double-clicked on a row."""

        row: Any

    class Moved(Message):
        """The cursor moved to another row, or other rows became visible."""

    @dataclass
    class Folded(Message):
        """The operator pressed Enter or double-clicked on the heading of a group."""

        group_name: str

    @dataclass
    class SortAsked(Message):
        """The operator clicked on the title of a column."""

        column_key: str

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.shown_view = View()
        self.sorted_by: SortOrder | None = None
        self.rows: Sequence[Any] = ()
        self.marked_keys: Collection[str] = ()
        self.chosen_columns: Collection[str] | None = None
        self._empty_message = ""
        self._are_old = False
        self.cursor_index = 0
        self._cursor_key: str | None = None
        self._skipped_columns = 0
        self._gap_width = 1
        self._fitted_columns: list[tuple[Column[Any], int]] = []
        self._text_by_cell: dict[tuple[str, str], str] = {}
        self._flash_ends: dict[tuple[str, str], float] = {}
        self._drawn_lines: dict[int, Strip] = {}

    def show_view(self, view: View, row_key: str | None = None) -> None:
        """Show another view, with the cursor on the row of this key or on the first row."""
        self.shown_view, self._cursor_key, self.cursor_index, self._skipped_columns = view, row_key, 0, 0
        self._text_by_cell.clear()
        self._flash_ends.clear()
        self.scroll_to(y=0, animate=False)
        self.refresh()

    def show_rows(
        self,
        rows: Sequence[Any],
        sort_order: SortOrder | None,
        empty_message: str | None = None,
        are_old: bool = False,
    ) -> None:
        """Replace the rows. The cursor stays on its row, or at its position if the row is gone.

        `empty_message` is shown if there are no rows. `are_old` dims rows that no server reports any more.
        """
        self.rows, self.sorted_by = rows, sort_order
        self._empty_message = self.shown_view.empty_text if empty_message is None else empty_message
        self._are_old = are_old
        if self._cursor_key is not None and not (self.shown_view.follows_first_row and not self.cursor_index):
            index = self._find_row_index(self._cursor_key)
            self.cursor_index = index if index is not None else self.cursor_index
        self.cursor_index = max(0, min(self.cursor_index, len(rows) - 1))
        self._cursor_key = self._key_of_row(rows[self.cursor_index]) if rows else self._cursor_key
        self.virtual_size = Size(self.size.width, len(rows) + 1)
        self._fit_columns()
        self._scroll_to_cursor()
        self._notice_changes()
        self.draw_changes()

    def _key_of_row(self, row: Any) -> str:
        return row.row_key if isinstance(row, Heading) else self.shown_view.row_key(row)

    def _find_row_index(self, row_key: str) -> int | None:
        rows = self.rows
        if self.cursor_index < len(rows) and self._key_of_row(rows[self.cursor_index]) == row_key:
            return self.cursor_index
        return next((index for index, row in enumerate(rows) if self._key_of_row(row) == row_key), None)

    @property
    def cursor_row(self) -> Any | None:
        """The row at the cursor, which may be a heading."""
        return self.rows[self.cursor_index] if self.rows else None

    @property
    def cursor_item(self) -> Any | None:
        """The row at the cursor, or None if it is a heading."""
        return None if isinstance(self.cursor_row, Heading) else self.cursor_row

    def select_heading(self, group: str) -> None:
        """Put the cursor on the heading of a group at the next call of `show_rows`."""
        self._cursor_key = Heading(group, (), False).row_key

    @property
    def cursor_key(self) -> str | None:
        return self._cursor_key

    @property
    def visible_items(self) -> Sequence[Any]:
        top = int(self.scroll_offset.y)
        return without_headings(self.rows[top : top + max(self.size.height - 1, 1)])

    def _list_columns(self) -> list[Column[Any]]:
        """The columns of the view, or those that the operator chose."""
        chosen = self.chosen_columns
        return [column for column in self.shown_view.columns if chosen is None or column.key in chosen]

    def _fit_columns(self) -> None:
        columns = self._list_columns()
        kept = columns[:2] + columns[2 + self._skipped_columns :] if self._skipped_columns else columns
        self._gap_width = 2 if self.size.width >= 110 else 1
        self._fitted_columns = fit_columns(kept, max(self.size.width - 2, 10), self._gap_width)

    @property
    def hidden_columns(self) -> int:
        return len(self._list_columns()) - len(self._fitted_columns)

    def _notice_changes(self) -> None:
        """Start flashing the visible cells that changed, in columns that `flash`."""
        now = monotonic()
        flashing_columns = [column for column, _ in self._fitted_columns if column.flash]
        previous_texts, self._text_by_cell = self._text_by_cell, {}
        self._flash_ends = {cell_key: end for cell_key, end in self._flash_ends.items() if end > now}
        has_changed = False
        for row in self.visible_items:
            row_key = self.shown_view.row_key(row)
            for column in flashing_columns:
                cell_key, text = (row_key, column.key), column.render_cell(row).text
                self._text_by_cell[cell_key] = text
                previous = previous_texts.get(cell_key, text)
                if previous != text and _without_age(previous) != _without_age(text):
                    self._flash_ends[cell_key] = now + _FLASH_SECONDS
                    has_changed = True
        if has_changed:
            self.set_timer(_FLASH_SECONDS + 0.05, self.draw_changes)

    def draw_changes(self) -> None:
        """Refresh only the lines that changed, because most lines stay the same between two polls."""
        lines = range(self.size.height)
        changed_lines = [y for y in lines if self._drawn_lines.get(y) != self._draw_line(y)]
        if changed_lines:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed_lines))

    def on_resize(self, event: events.Resize) -> None:
        self.virtual_size = Size(self.size.width, len(self.rows) + 1)
        self._fit_columns()
        self._scroll_to_cursor()
        self.refresh()
        self.post_message(self.Moved())

    def render_line(self, y: int) -> Strip:
        strip = self._drawn_lines[y] = self._draw_line(y)
        return strip

    def _draw_line(self, y: int) -> Strip:
        """A line of the widget: the column titles, a row, or an empty line."""
        index = int(self.scroll_offset.y) + y - 1
        if y == 0:
            base_tone, cells = "head", self._header_cells()
        elif index < len(self.rows):
            base_tone, cells = self._row_cells(index)
        else:
            text = f" {self._empty_message}" if not self.rows and y == 2 else ""
            base_tone, cells = "base", [Cell(text, "dim")]
        styles = tone_styles(self.app)
        segments = [Segment(escape_unprintable(c.text), styles[base_tone] + styles[c.tone]) for c in cells]
        return Strip(segments).adjust_cell_length(self.size.width, styles[base_tone])

    def _header_cells(self) -> list[Cell]:
        """The titles of the columns. An arrow marks the sort column."""
        cells = [Cell(" ", "head")]
        for column, width in self._fitted_columns:
            is_sorted_by = self.sorted_by is not None and column.key == self.sorted_by.key
            sort_sign = ("▼" if self.sorted_by and self.sorted_by.descending else "▲") if is_sorted_by else ""
            text = align_text(column.heading + sort_sign, width, column.right) + " " * self._gap_width
            cells.append(Cell(text, "headChosen" if is_sorted_by else "head"))
        return cells

    def _row_cells(self, index: int) -> tuple[Tone, list[Cell]]:
        """The background and the cells of a row or heading. A row that cannot be drawn harms no other."""
        row, is_at_cursor = self.rows[index], index == self.cursor_index
        base_tone = "cursor" if is_at_cursor and self.has_focus else "odd" if index % 2 else "base"
        mark = Cell("▌" if is_at_cursor else " ", "mark")
        if isinstance(row, Heading):
            return base_tone if is_at_cursor else "panel", [mark, *row.render_cells]
        row_key = self.shown_view.row_key(row)
        if row_key in self.marked_keys:
            mark = Cell("◆", "mark")
        try:
            return base_tone, [
                mark,
                *(self._fit_cell(row, row_key, *fitted) for fitted in self._fitted_columns),
            ]
        except Exception as error:
            text = f"this row cannot be shown: {type(error).__name__}: {error}"
            return base_tone, [mark, Cell(text, "bad")]

    def _fit_cell(self, row: Any, row_key: str, column: Column[Any], width: int) -> Cell:
        cell = column.render_cell(row)
        text = align_text(escape_unprintable(cell.text), width, column.right) + " " * self._gap_width
        tone = "dim" if self._are_old else cell.tone
        is_flashing = self._flash_ends.get((row_key, column.key), 0.0) > monotonic()
        return Cell(text, f"{tone} flash" if is_flashing else tone)

    def action_move(self, step: int) -> None:
        self.move_cursor_to(self.cursor_index + step)

    def action_page(self, step: int) -> None:
        self.move_cursor_to(self.cursor_index + step * max(self.size.height - 2, 1))

    def action_edge(self, side: int) -> None:
        self.move_cursor_to(0 if side < 0 else len(self.rows) - 1)

    def action_aside(self, step: int) -> None:
        max_skipped = max(len(self._list_columns()) - 3, 0)
        self._skipped_columns = max(0, min(self._skipped_columns + step, max_skipped))
        self._fit_columns()
        self.draw_changes()

    def action_enter(self) -> None:
        if isinstance(self.cursor_row, Heading):
            self.post_message(self.Folded(self.cursor_row.group_name))
        elif self.cursor_row is not None:
            self.post_message(self.Entered(self.cursor_row))

    def move_cursor_to(self, index: int) -> None:
        if not self.rows:
            return
        self.cursor_index = max(0, min(index, len(self.rows) - 1))
        self._cursor_key = self._key_of_row(self.rows[self.cursor_index])
        if not self._scroll_to_cursor():
            self.draw_changes()
        self.post_message(self.Moved())

    def _scroll_to_cursor(self) -> bool:
        """Scroll until the cursor is visible, and return whether it scrolled. The header does not scroll."""
        top, visible_height = int(self.scroll_offset.y), max(self.size.height - 1, 1)
        wanted_top = max(min(top, self.cursor_index), self.cursor_index - visible_height + 1)
        if wanted_top != top:
            self.scroll_to(y=wanted_top, animate=False, immediate=True, force=True)
        return wanted_top != top

    def on_click(self, event: events.Click) -> None:
        if event.y == 0:
            key = self._column_at(event.x)
            if key is not None:
                self.post_message(self.SortAsked(key))
            return
        index = int(self.scroll_offset.y) + event.y - 1
        if index < len(self.rows):
            previous_index = self.cursor_index
            self.move_cursor_to(index)
            if event.chain > 1 and previous_index == index:
                self.action_enter()

    def _column_at(self, x: int) -> str | None:
        right_edge = 1
        for column, width in self._fitted_columns:
            right_edge += width + self._gap_width
            if x < right_edge:
                return column.key
        return None

    def on_focus(self) -> None:
        self.draw_changes()

    def on_blur(self) -> None:
        self.draw_changes()


def _without_age(text: str) -> str:
    """The text without its age, which changes all the time: "down 5 s" becomes "down"."""
    return _AGE_AT_END.sub("", text)
