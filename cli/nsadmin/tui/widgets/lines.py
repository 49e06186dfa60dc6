"""The widget for lines of cells, such as the header, the key hints and drawings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from nsadmin.tui.views.base_view import CellLine
from nsadmin.tui.views.table import escape_unprintable
from nsadmin.tui.widgets.tones import tone_styles


class Lines(Widget):
    """Shows lines of cells. A line that is too long ends with "…".

    `background_tone` fills the area that no cell covers.
    """

    @dataclass
    class Clicked(Message):
        """A click on a cell, with its index in its line."""

        lines_widget: "Lines"
        cell_index: int

    def __init__(self, background_tone: str = "base", **options: Any) -> None:
        super().__init__(**options)
        self._background_tone = background_tone
        self.shown_lines: Sequence[CellLine] = ()

    def show_lines(self, lines: Sequence[CellLine]) -> None:
        if lines != self.shown_lines:
            self.shown_lines = lines
            self.refresh()

    def render_line(self, y: int) -> Strip:
        styles = tone_styles(self.app)
        base_style = styles[self._background_tone]
        width = self.size.width
        shown_line = self.shown_lines[y] if y < len(self.shown_lines) else ()
        segments = [
            Segment(escape_unprintable(cell.text), base_style + styles[cell.tone]) for cell in shown_line
        ]
        strip = Strip(segments)
        if strip.cell_length > width and cell_len(strip.text.rstrip()) > width:
            strip = Strip.join([strip.crop(0, width - 1), Strip([Segment("…", base_style + styles["dim"])])])
        return strip.adjust_cell_length(width, base_style)

    def on_click(self, event: events.Click) -> None:
        clicked_line = self.shown_lines[event.y] if event.y < len(self.shown_lines) else ()
        right_edge = 0
        for index, cell in enumerate(clicked_line):
            right_edge += cell_len(cell.text)
            if event.x < right_edge:
                self.post_message(self.Clicked(self, index))
                return
