"""The help screen: the columns of the current view and all keys."""

import textwrap
from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from nsadmin.tui.keys import KEYS
from nsadmin.tui.views.frame import shown_keys
from nsadmin.tui.views.table import Cell
from nsadmin.tui.views.view import Line, View
from nsadmin.tui.widgets.lines import Lines

_LEFT, _LESS, _NARROW = 13, 9, 50


def lines(view: View, width: int = 100) -> list[Line]:
    """The lines of a view's help, wrapped to the width."""
    return [part for line in _lines(view) for part in _wrapped(line, width)]


def _wrapped(line: Line, width: int) -> Iterator[Line]:
    if len(line) < 2:
        yield line
        return
    left = _LEFT if width >= _NARROW else _LESS
    key = line[0]._replace(text=line[0].text.rstrip().ljust(left - 1) + " ")
    first, *more = textwrap.wrap(line[1].text, max(width - len(key.text), 10)) or [""]
    yield [key, Cell(first)]
    for text in more:
        yield [Cell(" " * left + text)]


def _lines(view: View) -> Iterator[Line]:
    described = [column for column in view.columns if column.help]
    if described:
        yield [Cell("Columns", "accent")]
        for column in described:
            yield [Cell(f"  {column.title:<10} ", "strong"), Cell(column.help)]
        yield []
    group = None
    for key in KEYS:
        if key.group != group:
            if group is not None:
                yield []
            yield [Cell(key.group, "accent")]
            group = key.group
        yield [Cell(f"  {shown_keys(key.keys):<10} ", "key"), Cell(key.help)]
    yield []
    yield [Cell("Rows", "accent")]
    for keys, text in (
        ("↑ ↓ k j", "one row up, down"),
        ("PgUp PgDn", "one screen up, down"),
        ("Home g", "the first row"),
        ("End G", "the last row"),
        ("← → h l", "columns that had no room"),
        ("Enter", "into what the row is about"),
        ("1 2 3 …", "another screen"),
    ):
        yield [Cell(f"  {keys:<10} ", "key"), Cell(text)]


class HelpScreen(ModalScreen[None]):
    """Shows the help. Esc, q, ? or Enter closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,enter", "dismiss", "Close")]

    def __init__(self, view: View) -> None:
        super().__init__()
        self._view = view

    def compose(self) -> ComposeResult:
        shown = lines(self._view, min(int(self.app.size.width * 0.9), 110) - 5)
        with VerticalScroll(classes="panel") as panel:
            panel.border_title = f"{self._view.title} – Esc closes"
            text = Lines("surface")
            text.shown = shown
            text.styles.height = len(shown)
            yield text
