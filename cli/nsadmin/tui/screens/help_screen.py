"""The help screen: the columns of the current view and all keys, searched while the operator types."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input

from nsadmin.tui.actions.key_bindings import KEY_BINDINGS
from nsadmin.tui.custom_commands.command_file import CustomCommands
from nsadmin.tui.screens.screen_text import literal_title
from nsadmin.tui.views.base_view import CellLine, View
from nsadmin.tui.views.screen_frame import format_keys
from nsadmin.tui.views.table import Cell, escape_unprintable
from nsadmin.tui.widgets.lines import Lines

_KEY_WIDTH, _NARROW_KEY_WIDTH, _NARROW_SCREEN = 13, 9, 50


def help_lines(
    view: View, width: int = 100, custom_commands: CustomCommands | None = None, search_text: str = ""
) -> list[CellLine]:
    """The lines of a view's help that contain the text, under their headings, wrapped to the width."""
    all_lines = [*_unwrapped_lines(view), *_custom_lines(custom_commands or CustomCommands())]
    found = _find_lines(all_lines, search_text) if search_text else all_lines
    return [part for line in found for part in _wrap_line(line, width)]


def _find_lines(all_lines: Sequence[CellLine], search_text: str) -> list[CellLine]:
    """The entries that contain the text, without regard to case, and the headings above them."""
    found: list[CellLine] = []
    heading: CellLine | None = None
    for line in all_lines:
        if len(line) == 1:
            heading = line
        elif line and search_text.lower() in " ".join(cell.text for cell in line).lower():
            if heading is not None:
                found += [[], heading] if found else [heading]
                heading = None
            found.append(line)
    return found or [[Cell(f'no column and no key has "{search_text}"', "dim")]]


def _custom_lines(custom_commands: CustomCommands) -> Iterator[CellLine]:
    entries = [
        *custom_commands.hotkeys.items(),
        *((p.key, f"{p.summary} ({', '.join(p.scopes)})") for p in custom_commands.plugins),
        *((f":{alias}", line) for alias, line in custom_commands.aliases.items()),
    ]
    if entries:
        yield []
        yield [Cell("Your own commands", "accent")]
    for key_text, text in entries:
        yield [Cell(f"  {escape_unprintable(key_text):<10} ", "key"), Cell(escape_unprintable(text))]


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
    described_columns = [column for column in view.columns if column.meaning]
    if described_columns:
        yield [Cell("Columns", "accent")]
        for column in described_columns:
            yield [Cell(f"  {column.heading:<10} ", "strong"), Cell(column.meaning)]
        yield []
    help_section = None
    for binding in KEY_BINDINGS:
        if binding.help_section != help_section:
            if help_section is not None:
                yield []
            yield [Cell(binding.help_section, "accent")]
            help_section = binding.help_section
        yield [Cell(f"  {format_keys(binding.key_names):<10} ", "key"), Cell(binding.help_text)]
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


class SearchInput(Input):
    """The search text. A question mark closes the help that it opened."""

    async def on_key(self, event: events.Key) -> None:
        if event.key == "question_mark":
            event.stop()
            event.prevent_default()
            self.screen.dismiss()


class HelpScreen(ModalScreen[None]):
    """Shows the help, and only matching lines while the operator types. Esc, ? or Enter closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "clear_or_close", "Close"),
        Binding("up", "scroll_help(-1)", show=False),
        Binding("down", "scroll_help(1)", show=False),
        Binding("pageup", "scroll_help(-10)", show=False),
        Binding("pagedown", "scroll_help(10)", show=False),
    ]

    def __init__(self, view: View, custom_commands: CustomCommands | None = None) -> None:
        super().__init__()
        self._view = view
        self._custom_commands = custom_commands

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="panel", can_focus=False) as panel:
            panel.border_title = literal_title(f"{self._view.title} – type to search, Esc closes")
            yield SearchInput(id="search", placeholder="search", compact=True)
            yield Lines("surface", id="helpLines")

    def on_mount(self) -> None:
        self._show_lines("")
        self.query_one(Input).focus()

    def _show_lines(self, search_text: str) -> None:
        widget = self.query_one("#helpLines", Lines)
        text_width = min(int(self.app.size.width * 0.9), 110) - 5
        shown_lines = help_lines(self._view, text_width, self._custom_commands, search_text)
        widget.show_lines(shown_lines)
        widget.styles.height = len(shown_lines)

    def on_input_changed(self, message: Input.Changed) -> None:
        message.stop()
        self._show_lines(message.value.strip())

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        self.dismiss()

    def action_clear_or_close(self) -> None:
        search_input = self.query_one(Input)
        if search_input.value:
            search_input.value = ""
        else:
            self.dismiss()

    def action_scroll_help(self, step: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=step, animate=False)
