"""The screen as text."""

from textual.app import App, ComposeResult
from textual.widgets import Static

from nsadmin.tui.screens.screen_text import screen_to_text
from tests.support.screens import run_screen_test


class Bare(App[None]):
    def compose(self) -> ComposeResult:
        yield Static("one\n  two  ")


@run_screen_test
async def test_lines_without_their_blank_ends() -> None:
    app = Bare()
    async with app.run_test(size=(10, 6)):
        assert screen_to_text(app) == "one\n  two\n"
