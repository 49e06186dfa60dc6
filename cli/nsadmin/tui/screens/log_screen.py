"""The log screen: the errors of this session, newest first. Only the key L opens it."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from nsadmin.tui.views import units
from nsadmin.tui.views.base_view import CellLine
from nsadmin.tui.views.table import Cell
from nsadmin.tui.widgets.lines import Lines


def log_lines(entries: Sequence[tuple[int, str]]) -> list[CellLine]:
    if not entries:
        return [[Cell("no errors or warnings", "dim")]]
    return [[Cell(f"{units.format_clock(at_ms)}  ", "dim"), Cell(text)] for at_ms, text in reversed(entries)]


class LogScreen(ModalScreen[None]):
    """Shows the log. Esc, q, L or Enter closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,L,enter", "dismiss", "Close")]

    def __init__(self, entries: Sequence[tuple[int, str]]) -> None:
        super().__init__()
        self._log_lines = log_lines(entries)

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="panel") as panel:
            panel.border_title = "Log – Esc closes"
            widget = Lines("surface")
            widget.shown_lines = self._log_lines
            widget.styles.height = len(self._log_lines)
            yield widget
