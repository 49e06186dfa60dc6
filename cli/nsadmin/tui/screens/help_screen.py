"""The help screen: the columns of the current view and all keys."""

import textwrap
from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from nsadmin.tui.actions.key_bindings import KEY_BINDINGS
from nsadmin.tui.views.base_view import CellLine, View
from nsadmin.tui.views.screen_frame import format_keys
from nsadmin.tui.views.table import Cell
from nsadmin.tui.widgets.lines import Lines

_KEY_WIDTH, _NARROW_KEY_WIDTH, _NARROW_SCREEN = 13, 9, 50


def help_lines(view: View, width: int = 100) -> list[CellLine]:
    """The lines of a view's help, wrapped to the width."""
    return [wrapped_line for line in _unwrapped_lines(view) for wrapped_line in _wrap_line(line, width)]


def _wrap_line(line: CellLine, width: int) -> Iterator[CellLine]:
    if len(line) < 2:
        yield line
        return
    key_width = _KEY_WIDTH if width >= _NARROW_SCREEN else _NARROW_KEY_WIDTH
    key_cell = line[0]._replace(text=line[0].text.rstrip().ljust(key_width - 1) + " ")
    first_text, *more_texts = textwrap.wrap(line[1].text, max(width - len(key_cell.text), 10)) or [""]
    yield [key_cell, Cell(first_text)]
    for next_text in more_texts:
        yield [Cell(" " * key_width + next_text)]


def _unwrapped_lines(view: View) -> Iterator[CellLine]:
    described_columns = [column for column in view.columns if column.help_text]
    if described_columns:
        yield [Cell("Columns", "accent")]
        for column in described_columns:
            yield [Cell(f"  {column.title:<10} ", "strong"), Cell(column.help_text)]
        yield []
    help_section = None
    for key_binding in KEY_BINDINGS:
        if key_binding.help_section != help_section:
            if help_section is not None:
                yield []
            yield [Cell(key_binding.help_section, "accent")]
            help_section = key_binding.help_section
        yield [Cell(f"  {format_keys(key_binding.key_names):<10} ", "key"), Cell(key_binding.help_text)]
    yield []
    yield [Cell("Rows", "accent")]
    for key_names, key_help in (
        ("↑ ↓ k j", "one row up, down"),
        ("PgUp PgDn", "one screen up, down"),
        ("Home g", "the first row"),
        ("End G", "the last row"),
        ("hidden columns", "columns that had no room"),
        ("Enter", "open the row"),
        ("1 2 3 …", "another screen"),
    ):
        yield [Cell(f"  {key_names:<10} ", "key"), Cell(key_help)]


class HelpScreen(ModalScreen[None]):
    """Shows the help. Esc, q, ? or Enter closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,enter", "dismiss", "Close")]

    def __init__(self, view: View) -> None:
        super().__init__()
        self._view = view

    def compose(self) -> ComposeResult:
        shown_lines = help_lines(self._view, min(int(self.app.size.width * 0.9), 110) - 5)
        with VerticalScroll(classes="panel") as panel:
            panel.border_title = f"{self._view.view_title} – Esc closes"
            lines_widget = Lines("surface")
            lines_widget.shown_lines = shown_lines
            lines_widget.styles.height = len(shown_lines)
            yield lines_widget
