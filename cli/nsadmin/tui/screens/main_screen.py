"""The main screen, which shows the header, the table or drawing, the prompt and the key hints."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.screen import Screen

from nsadmin.tui.widgets.grid import Grid
from nsadmin.tui.widgets.lines import Lines
from nsadmin.tui.widgets.prompt import Prompt


class MainScreen(Screen[None]):
    """The screen below all modal screens. The key Tab shows the next tab and does not move the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.tab(1)", show=False, id="nextTab"),
        Binding("shift+tab", "app.tab(-1)", show=False, id="previousTab"),
    ]

    class WidgetsReady(Message):
        """All widgets of the screen exist."""

    def on_mount(self) -> None:
        self.post_message(self.WidgetsReady())

    def compose(self) -> ComposeResult:
        yield Lines("bar", id="header")
        yield Lines("panel", id="screens")
        yield Lines(id="headline")
        with Horizontal(id="body"):
            yield Grid(id="grid")
            yield Lines(id="drawing")
            yield Lines("panel", id="details")
        yield Lines(id="footer")
        yield Lines("panel", id="candidates")
        yield Prompt(id="prompt")
        yield Lines("bar", id="hints")
