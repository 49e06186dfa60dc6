"""A table of twenty thousand rows: keys, the mouse, columns, and what flashes."""

from collections.abc import Sequence
from typing import Any

from textual.app import App, ComposeResult

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.screens.screen_text import screen_to_text
from nsadmin.tui.themes import DARK_THEME
from nsadmin.tui.views.base_view import View
from nsadmin.tui.views.table import Cell, Column, Heading, SortOrder
from nsadmin.tui.widgets.grid import Grid
from tests.support.screens import press, run_screen_test

COLUMNS: tuple[Column[Any], ...] = (
    Column("name", "NAME", 8, "", lambda r: r[0], tone="strong", flash=True),
    Column("second", "SECOND", 8, "", lambda r: r[1], flash=True),
    *(
        Column(f"c{at}", f"C{at}", 10, "", lambda r: r[1], show=lambda _, at=at: f"cell {at}", right=True)  # type: ignore[misc]
        for at in range(3, 12)
    ),
)


class Numbers(View):
    columns = COLUMNS
    empty_text = "no numbers"

    def build_rows(self, model: ClusterModel) -> Sequence[Any]:
        return ()

    def row_key(self, item: Any) -> str:
        return str(item[0])


class Bare(App[None]):
    """A grid alone."""

    def __init__(self) -> None:
        super().__init__()
        self.entered: list[Any] = []
        self.sorted: list[str] = []

    def compose(self) -> ComposeResult:
        yield Grid(id="grid")

    def on_mount(self) -> None:
        self.register_theme(DARK_THEME)
        self.theme = DARK_THEME.name
        self.grid.focus()
        self.grid.show_view(Numbers())

    @property
    def grid(self) -> Grid:
        return self.query_one(Grid)

    def on_grid_entered(self, message: Grid.Entered) -> None:
        self.entered.append(message.row)

    def on_grid_sort_asked(self, message: Grid.SortAsked) -> None:
        self.sorted.append(message.column_key)


MANY = [(f"row-{number:05}", number) for number in range(20_000)]


@run_screen_test
async def test_only_the_lines_that_are_seen_are_drawn() -> None:
    app = Bare()
    async with app.run_test(size=(60, 12)) as pilot:
        app.grid.show_rows(MANY, None)
        await press(pilot, "end")
        lines = screen_to_text(app).splitlines()
        assert lines[0].startswith(" NAME     SECOND")
        assert lines[-1].startswith("▌row-199… 19999")
        assert len(app.grid.visible_items) == 11
        await pilot.press("home", "pagedown", "pagedown", "up")
        assert app.grid.cursor_index == 19
        await pilot.press("pageup", "k", "j")
        assert app.grid.cursor_index == 9


@run_screen_test
async def test_columns_without_room_come_with_the_arrows() -> None:
    app = Bare()
    async with app.run_test(size=(40, 8)) as pilot:
        app.grid.show_rows(MANY, None)
        await pilot.pause()
        assert "C3" in screen_to_text(app).splitlines()[0]
        hidden = app.grid.hidden_columns
        assert hidden > 0
        await pilot.press("right", "l")
        head = screen_to_text(app).splitlines()[0]
        assert ("NAME" in head, "C3" in head, "C5" in head) == (True, False, True)
        await pilot.press("left", "h", "h")
        assert "C3" in screen_to_text(app).splitlines()[0]


@run_screen_test
async def test_enter_and_a_double_click_open_a_row() -> None:
    app = Bare()
    async with app.run_test(size=(60, 12)) as pilot:
        app.grid.show_rows(MANY, None)
        await pilot.press("down", "enter")
        await pilot.click("#grid", offset=(5, 4))
        assert app.grid.cursor_index == 3
        await pilot.click("#grid", offset=(5, 4), times=2)
        assert [item[1] for item in app.entered] == [1, 3]
        await pilot.click("#grid", offset=(12, 0))
        assert app.sorted == ["second"]
        await pilot.click("#grid", offset=(59, 0))


@run_screen_test
async def test_no_rows_are_said_and_no_key_hurts() -> None:
    app = Bare()
    async with app.run_test(size=(60, 12)) as pilot:
        app.grid.show_rows([], SortOrder("name"))
        await pilot.press("down", "end", "enter", "pagedown", "home")
        await pilot.click("#grid", offset=(5, 4))
        assert " no numbers" in screen_to_text(app)
        assert (app.grid.cursor_item, app.entered) == (None, [])


@run_screen_test
async def test_a_changed_cell_flashes_and_time_that_passes_does_not() -> None:
    app = Bare()
    async with app.run_test(size=(60, 12)) as pilot:
        app.grid.show_rows([("a", "● up"), ("b", "◐ frozen 3 s")], None)
        await pilot.pause()
        app.grid.show_rows([("a", "✕ gone"), ("b", "◐ frozen 5 s")], None)
        assert list(app.grid._flash_ends) == [("a", "second")]
        assert [cell.tone for cell in app.grid._row_cells(0)[1][:3]] == ["mark", "strong", " flash"]


@run_screen_test
async def test_a_changed_number_flashes() -> None:
    """Versions, roles, numbers of name servers and counts end with digits, and are no ages."""
    app = Bare()
    changes = [("5.3.1", "5.5.0"), ("slave 1", "slave 2"), ("1/2", "2/2"), ("8", "16"), ("1.2k", "1.3k")]
    async with app.run_test(size=(60, 12)) as pilot:
        app.grid.show_rows([(str(at), former) for at, (former, _) in enumerate(changes)], None)
        await pilot.pause()
        app.grid.show_rows([(str(at), present) for at, (_, present) in enumerate(changes)], None)
        assert list(app.grid._flash_ends) == [(str(at), "second") for at in range(len(changes))]


@run_screen_test
async def test_the_cursor_stays_where_it_was_when_its_row_is_gone() -> None:
    app = Bare()
    async with app.run_test(size=(60, 12)) as pilot:
        app.grid.show_rows(MANY[:10], None)
        await pilot.press("end")
        app.grid.show_rows(MANY[:5], None)
        assert (app.grid.cursor_index, app.grid.cursor_key) == (4, "row-00004")
        app.grid.show_view(Numbers(), "row-00002")
        app.grid.show_rows(MANY[:5], None)
        assert app.grid.cursor_index == 2


@run_screen_test
async def test_only_lines_that_show_something_else_are_drawn_again() -> None:
    app, drawn = Bare(), []
    async with app.run_test(size=(60, 12)) as pilot:
        app.grid.show_rows(MANY[:5], None)
        await pilot.pause()
        line = app.grid.render_line
        app.grid.render_line = lambda y: drawn.append(y) or line(y)  # type: ignore[method-assign,func-returns-value]
        app.grid.show_rows([*MANY[:3], ("row-00003", -1), MANY[4]], None)
        await pilot.pause()
        assert drawn == [4]
        drawn.clear()
        await press(pilot, "down")
        assert sorted(set(drawn)) == [1, 2]


@run_screen_test
async def test_old_rows_are_dim_and_no_rows_are_explained() -> None:
    app = Bare()
    async with app.run_test(size=(40, 8)) as pilot:
        app.grid.show_rows([], None)
        await pilot.pause()
        assert "no numbers" in screen_to_text(app)
        app.grid.show_rows([], None, "unknown: nobody answers")
        await pilot.pause()
        assert screen_to_text(app).splitlines()[2] == " unknown: nobody answers"
        app.grid.show_rows(MANY[:1], None, None, True)
        assert {cell.tone for cell in app.grid._row_cells(0)[1][1:]} == {"dim"}
        app.grid.show_rows(MANY[:1], None)
        assert "strong" in {cell.tone for cell in app.grid._row_cells(0)[1]}


@run_screen_test
async def test_a_line_has_its_cells_cut_and_free_of_what_moves_the_cursor() -> None:
    app = Bare()
    async with app.run_test(size=(24, 8)) as pilot:
        heading = Heading("prod", (Cell("2 rows", "dim"),), False)
        app.grid.show_rows([heading, ("a\x1b[2J[2J", 7), ("b", 8)], SortOrder("second", True))
        await pilot.pause()
        assert screen_to_text(app).splitlines()[:4] == [
            " NAME     SECOND▼",
            "▌▾ prod  2 rows",
            " a\\x1b[2… 7",
            " b        8",
        ]
        assert app.grid._header_cells()[2].tone == "headChosen"
        assert [app.grid._row_cells(index)[0] for index in range(3)] == ["cursor", "odd", "base"]
        await press(pilot, "down")
        app.grid.marked_keys = {"b"}
        assert [app.grid._row_cells(index)[0] for index in range(2)] == ["panel", "cursor"]
        assert [app.grid._row_cells(index)[1][0].text for index in range(3)] == [" ", "▌", "◆"]
        app.grid.blur()
        await pilot.pause()
        assert app.grid._row_cells(1)[0] == "odd"


@run_screen_test
async def test_a_row_that_cannot_be_drawn_says_so() -> None:
    app = Bare()
    async with app.run_test(size=(60, 8)) as pilot:
        app.grid.show_rows([("a", 1)], None)
        await pilot.pause()
        app.grid.rows = [("a",)]
        assert "this row cannot be shown: IndexError: tuple index" in app.grid._draw_line(1).text
