"""Cells drawn one after the other, and which of them was clicked."""

from textual.app import App, ComposeResult

from nsadmin.tui.screens.screen_text import screen_to_text
from nsadmin.tui.themes import DARK_THEME
from nsadmin.tui.views.table import Cell
from nsadmin.tui.widgets.lines import Lines
from tests.support.screens import run_screen_test


class Bare(App[None]):
    clicked: list[tuple[str | None, int]]

    def compose(self) -> ComposeResult:
        yield Lines(id="lines")

    def on_mount(self) -> None:
        self.clicked = []
        self.register_theme(DARK_THEME)
        self.theme = DARK_THEME.name
        self.query_one(Lines).show_lines([[Cell("one "), Cell("two", "bad")], [Cell("esc\x1b")]])

    def on_lines_clicked(self, message: Lines.Clicked) -> None:
        self.clicked.append((message.lines_widget.id, message.cell_index))


@run_screen_test
async def test_lines_are_drawn_and_clicks_name_their_cell() -> None:
    app = Bare()
    async with app.run_test(size=(20, 4)) as pilot:
        await pilot.pause()
        assert screen_to_text(app) == "one two\nesc\\x1b\n"
        await pilot.click("#lines", offset=(5, 0))
        await pilot.click("#lines", offset=(1, 1))
        await pilot.click("#lines", offset=(15, 0))
        await pilot.click("#lines", offset=(1, 3))
        assert app.clicked == [("lines", 1), ("lines", 0)]


@run_screen_test
async def test_a_line_without_room_ends_with_a_sign() -> None:
    app = Bare()
    async with app.run_test(size=(6, 2)) as pilot:
        await pilot.pause()
        assert screen_to_text(app) == "one t…\nesc\\x…\n"
        app.query_one(Lines).show_lines([[Cell("sixsix"), Cell("  ")]])
        await pilot.pause()
        assert screen_to_text(app) == "sixsix\n"
