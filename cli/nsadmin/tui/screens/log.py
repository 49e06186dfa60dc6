"""The log screen: the errors of this session, newest first. Only the key L opens it."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from nsadmin.tui import units
from nsadmin.tui.views.table import Cell
from nsadmin.tui.views.view import Line
from nsadmin.tui.widgets.lines import Lines


def lines(entries: Sequence[tuple[int, str]]) -> list[Line]:
    """A line for each entry, with its time and its text."""
    if not entries:
        return [[Cell("nothing went wrong", "dim")]]
    return [[Cell(f"{units.clock(at)}  ", "dim"), Cell(text)] for at, text in reversed(entries)]


class LogScreen(ModalScreen[None]):
    """Shows the log. Esc, q, L or Enter closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,L,enter", "dismiss", "Close")]

    def __init__(self, entries: Sequence[tuple[int, str]]) -> None:
        super().__init__()
        self._lines = lines(entries)

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="panel") as panel:
            panel.border_title = "Log – Esc closes"
            text = Lines("surface")
            text.shown = self._lines
            text.styles.height = len(self._lines)
            yield text
