"""The widget for lines of cells, such as the header, the key hints and drawings."""

from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from nsadmin.tui.views.table import plain
from nsadmin.tui.views.view import Line
from nsadmin.tui.widgets.tones import styles


class Lines(Widget):
    """Shows lines of cells. A line that is too long ends with "…".

    `background_tone` fills the area that no cell covers.
    """

    class Clicked(Message):
        """A click on a cell, with the index of its line and its index in that line."""

        def __init__(self, lines: "Lines", line: int, cell: int) -> None:
            super().__init__()
            self.lines = lines
            self.line = line
            self.cell = cell

        @property
        def control(self) -> "Lines":
            return self.lines

    def __init__(self, background: str = "base", **options: Any) -> None:
        super().__init__(**options)
        self._background = background
        self.shown: Sequence[Line] = ()

    def show(self, lines: Sequence[Line]) -> None:
        if lines != self.shown:
            self.shown = lines
            self.refresh()

    def render_line(self, y: int) -> Strip:
        known = styles(self.app)
        base = known[self._background]
        width = self.size.width
        line = self.shown[y] if y < len(self.shown) else ()
        segments = [Segment(plain(cell.text), _over(base, known[cell.tone], cell.tone)) for cell in line]
        strip = Strip(segments)
        if strip.cell_length > width and cell_len(strip.text.rstrip()) > width:
            strip = Strip.join([strip.crop(0, width - 1), Strip([Segment("…", base + known["dim"])])])
        return strip.adjust_cell_length(width, base)

    def on_click(self, event: events.Click) -> None:
        line = self.shown[event.y] if event.y < len(self.shown) else ()
        end = 0
        for at, cell in enumerate(line):
            end += cell_len(cell.text)
            if event.x < end:
                self.post_message(self.Clicked(self, event.y, at))
                return


def _over(base: Style, style: Style, tone: str) -> Style:
    return base + style
