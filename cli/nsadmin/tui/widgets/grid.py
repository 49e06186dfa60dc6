"""The table of rows. It draws only visible lines, so that twenty thousand rows cost no more than twenty."""

from collections.abc import Collection, Sequence
from time import monotonic
from typing import Any, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from nsadmin.tui.views import pieces
from nsadmin.tui.views.grouping import Heading, without_headings
from nsadmin.tui.views.pieces import Pieces, Standing
from nsadmin.tui.views.table import Column, Sort, fitted
from nsadmin.tui.views.view import View
from nsadmin.tui.widgets.tones import styles

_FLASH = 1.2


class Grid(ScrollView, can_focus=True):
    """Shows the rows of a view. The cursor stays on its row when other rows appear or disappear."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, id="up"),
        Binding("down,j", "move(1)", "Down", show=False, id="down"),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False, id="pageUp"),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False, id="pageDown"),
        Binding("home,g", "edge(-1)", "First row", show=False, id="first"),
        Binding("end,G", "edge(1)", "Last row", show=False, id="last"),
        Binding("left,h", "aside(-1)", "Columns to the left", show=False, id="columnsLeft"),
        Binding("right,l", "aside(1)", "Columns to the right", show=False, id="columnsRight"),
        Binding("enter", "enter", "Open", show=False, id="open"),
    ]

    DEFAULT_CSS = "Grid { overflow-x: hidden; scrollbar-size-vertical: 1; }"

    class Entered(Message):
        """The operator pressed Enter or double-clicked on a row."""

        def __init__(self, item: Any) -> None:
            super().__init__()
            self.item = item

    class Moved(Message):
        """The cursor moved to another row, or other rows became visible."""

    class Folded(Message):
        """The operator pressed Enter or double-clicked on the heading of a group."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    class SortAsked(Message):
        """The operator clicked on the title of a column."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.view = View()
        self.sorted_by: Sort | None = None
        self.rows: Sequence[Any] = ()
        self._nothing = ""
        self._are_old = False
        self.cursor = 0
        self._cursor_key: str | None = None
        self._skipped = 0
        self._gap = 1
        self._columns: list[tuple[Column, int]] = []
        self._texts: dict[tuple[str, str], str] = {}
        self._flashing: dict[tuple[str, str], float] = {}
        self._drawn: dict[int, Pieces] = {}
        self._styles: dict[str, Style] | None = None

    def show_view(self, view: View, key: str | None = None) -> None:
        """Show another view, with the cursor on the row of this key or on the first row."""
        self.view, self._cursor_key, self.cursor, self._skipped = view, key, 0, 0
        self._texts.clear()
        self._flashing.clear()
        self.scroll_to(y=0, animate=False)
        self.refresh()

    def show_rows(
        self, rows: Sequence[Any], sorted_by: Sort | None, nothing: str | None = None, are_old: bool = False
    ) -> None:
        """Replace the rows. The cursor stays on its row, or at its position if the row is gone.

        `empty_message` is shown if there are no rows. `are_old` dims rows that no server reports any more.
        """
        self.rows, self.sorted_by = rows, sorted_by
        self._nothing, self._are_old = self.view.empty if nothing is None else nothing, are_old
        if self._cursor_key is not None:
            at = self._found(self._cursor_key)
            self.cursor = at if at is not None else self.cursor
        self.cursor = max(0, min(self.cursor, len(rows) - 1))
        self._cursor_key = self._key(rows[self.cursor]) if rows else self._cursor_key
        self.virtual_size = Size(self.size.width, len(rows) + 1)
        self._lay_out()
        self._keep_in_sight()
        self._notice_changes()
        self.draw_changes()

    def _key(self, row: Any) -> str:
        return row.key if isinstance(row, Heading) else self.view.key(row)

    def _found(self, key: str) -> int | None:
        rows = self.rows
        if self.cursor < len(rows) and self._key(rows[self.cursor]) == key:
            return self.cursor
        return next((at for at, row in enumerate(rows) if self._key(row) == key), None)

    @property
    def chosen(self) -> Any | None:
        """The row at the cursor, which may be a heading."""
        return self.rows[self.cursor] if self.rows else None

    @property
    def current(self) -> Any | None:
        """The row at the cursor, or None if it is a heading."""
        return None if isinstance(self.chosen, Heading) else self.chosen

    def choose(self, group: str) -> None:
        """Put the cursor on the heading of a group at the next call of `show_rows`."""
        self._cursor_key = Heading(group, (), False).key

    @property
    def current_key(self) -> str | None:
        return self._cursor_key

    @property
    def visible_rows(self) -> Sequence[Any]:
        """The visible rows without headings."""
        top = int(self.scroll_offset.y)
        return without_headings(self.rows[top : top + max(self.size.height - 1, 1)])

    def _lay_out(self) -> None:
        columns = [column for column in self.view.columns]
        kept = columns[:2] + columns[2 + self._skipped :] if self._skipped else columns
        self._gap = 2 if self.size.width >= 110 else 1
        self._columns = fitted(kept, max(self.size.width - 2, 10), self._gap)

    @property
    def hidden_columns(self) -> int:
        return len(self.view.columns) - len(self._columns)

    def _notice_changes(self) -> None:
        """Start flashing the visible cells that changed, in columns with `flashes_changes`."""
        now = monotonic()
        lively = [column for column, _ in self._columns if column.flashes]
        before, self._texts = self._texts, {}
        self._flashing = {cell: until for cell, until in self._flashing.items() if until > now}
        has_changed = False
        for row in self.visible_rows:
            key = self.view.key(row)
            for column in lively:
                cell, text = (key, column.key), column.cell(row).text
                self._texts[cell] = text
                if cell in before and before[cell] != text and _steady(before[cell]) != _steady(text):
                    self._flashing[cell] = now + _FLASH
                    has_changed = True
        if has_changed:
            self.set_timer(_FLASH + 0.05, self.draw_changes)

    def draw_changes(self) -> None:
        """Refresh only the lines that changed, because most lines stay the same between two polls."""
        known = styles(self.app)
        if known is not self._styles:
            self._styles = known
            self.refresh()
            return
        width = self.size.width
        changed = [y for y in range(self.size.height) if self._drawn.get(y) != self._pieces(y)]
        if changed:
            self.refresh(*(Region(0, y, width, 1) for y in changed))

    def on_resize(self, event: events.Resize) -> None:
        self.virtual_size = Size(self.size.width, len(self.rows) + 1)
        self._lay_out()
        self._keep_in_sight()
        self.refresh()
        self.post_message(self.Moved())

    def render_line(self, y: int) -> Strip:
        known, width = styles(self.app), self.size.width
        line = self._drawn[y] = self._pieces(y)
        base = known[line.ground]
        segments = []
        for text, tone, is_flashing in line.texts:
            style = base + known[tone]
            segments.append(Segment(text, style + known["flash"] if is_flashing else style))
        return Strip(segments).adjust_cell_length(width, base)

    def _pieces(self, y: int) -> Pieces:
        """The pieces of a line of the widget: the column titles, a row, or an empty line."""
        if y == 0:
            return pieces.head(self._columns, self._gap, self.sorted_by)
        at = int(self.scroll_offset.y) + y - 1
        if at >= len(self.rows):
            return pieces.said(f" {self._nothing}" if not self.rows and y == 2 else "")
        item = self.rows[at]
        standing = Standing(bool(at % 2), at == self.cursor, self.has_focus, self._are_old)
        if isinstance(item, Heading):
            return pieces.heading(item, standing)
        return pieces.row(self._columns, self._gap, item, self._flashing_in(item), standing)

    def _flashing_in(self, item: Any) -> Collection[str]:
        if not self._flashing:
            return ()
        key, now = self.view.key(item), monotonic()
        return {column for (each, column), until in self._flashing.items() if each == key and until > now}

    def action_move(self, step: int) -> None:
        self._go(self.cursor + step)

    def action_page(self, step: int) -> None:
        self._go(self.cursor + step * max(self.size.height - 2, 1))

    def action_edge(self, side: int) -> None:
        self._go(0 if side < 0 else len(self.rows) - 1)

    def action_aside(self, step: int) -> None:
        most = max(len(self.view.columns) - 3, 0)
        self._skipped = max(0, min(self._skipped + step, most))
        self._lay_out()
        self.draw_changes()

    def action_enter(self) -> None:
        if isinstance(self.chosen, Heading):
            self.post_message(self.Folded(self.chosen.name))
        elif self.chosen is not None:
            self.post_message(self.Entered(self.chosen))

    def _go(self, at: int) -> None:
        if not self.rows:
            return
        self.cursor = max(0, min(at, len(self.rows) - 1))
        self._cursor_key = self._key(self.rows[self.cursor])
        if not self._keep_in_sight():
            self.draw_changes()
        self.post_message(self.Moved())

    def _keep_in_sight(self) -> bool:
        """Scroll until the cursor is visible, and return whether it scrolled. The header does not scroll."""
        top, height = int(self.scroll_offset.y), max(self.size.height - 1, 1)
        wanted = max(min(top, self.cursor), self.cursor - height + 1)
        if wanted != top:
            self.scroll_to(y=wanted, animate=False, immediate=True, force=True)
        return wanted != top

    def on_click(self, event: events.Click) -> None:
        if event.y == 0:
            key = self._column_at(event.x)
            if key is not None:
                self.post_message(self.SortAsked(key))
            return
        at = int(self.scroll_offset.y) + event.y - 1
        if at < len(self.rows):
            was = self.cursor
            self._go(at)
            if event.chain > 1 and was == at:
                self.action_enter()

    def _column_at(self, x: int) -> str | None:
        end = 1
        for column, room in self._columns:
            end += room + self._gap
            if x < end:
                return column.key
        return None

    def on_focus(self) -> None:
        self.draw_changes()

    def on_blur(self) -> None:
        self.draw_changes()


def _steady(text: str) -> str:
    """The text without its age, which changes all the time: "down 5 s" becomes "down"."""
    return text.rstrip("0123456789. smindh")
