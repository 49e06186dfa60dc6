"""What the screen remembers by context, saved views, and the choice of columns."""

from pathlib import Path

from textual.widgets import SelectionList

from nsadmin.tui.app import Tui
from nsadmin.tui.context import AvailableContexts
from nsadmin.tui.polling.poll_records import AnyPoll
from nsadmin.tui.screens.dialogs import ColumnChooser
from nsadmin.tui.screens.screen_text import screen_to_text
from nsadmin.tui.view_settings.settings_file import SettingsFile
from tests.support.screens import (
    compare_golden,
    make_broker_poll,
    make_context,
    make_server_poll,
    make_still_tui,
    open_screen,
    press,
    run_screen_test,
)

SIZE = (120, 30)
A = "10.0.1.1:10911"
ONE_BROKER: list[AnyPoll] = [make_server_poll(), make_broker_poll(A)]


def remembering(folder: Path, label: str = "lab") -> Tui:
    return make_still_tui(
        AvailableContexts(
            make_context(label=label), lambda: ["lab", "prod"], lambda name: make_context(label=name)
        ),
        settings_file=SettingsFile(folder / "tui-views.json"),
    )


@run_screen_test
async def test_sort_filter_modes_and_theme_are_remembered_by_context(tmp_path: Path) -> None:
    async with open_screen(remembering(tmp_path), ONE_BROKER, SIZE) as (app, pilot):
        await pilot.press("s", "r", "exclamation_mark", "2", "A")
        app.action_controller.use_theme("nord")
    async with open_screen(remembering(tmp_path), ONE_BROKER, SIZE) as (again, pilot):
        state = again.view_state
        assert state.sort_order is not None
        assert (state.sort_order.key, state.sort_order.descending) == ("cluster", True)
        assert (state.shows_problems_only, again.theme) == (True, "nord")
        await pilot.press("2")
        assert again.view_state.shows_hidden
        again.switch_context(make_context(label="prod"))
        assert again.theme == "nsadmin-dark"
        await pilot.press("1")
        assert not again.view_state.shows_problems_only


@run_screen_test
async def test_a_saved_view_opens_with_everything_in_every_context(tmp_path: Path) -> None:
    async with open_screen(remembering(tmp_path), ONE_BROKER, SIZE) as (app, pilot):
        await pilot.press("O")
        assert "no view is saved: V saves this one" in screen_to_text(app)
        await pilot.press("2", "slash", *"pay", "enter", "s", "V", *"payments", "enter")
        assert "saved the view payments: open it with :view payments" in screen_to_text(app)
        await pilot.press("V", *"a", "space", "b", "enter")
        assert 'invalid name "a b"' in app.log_lines[-1][1]
        await pilot.press("enter", "V", "x", "enter")
        assert "only the screens of number keys can be saved" in screen_to_text(app)
    async with open_screen(remembering(tmp_path, "prod"), ONE_BROKER, SIZE) as (other, pilot):
        await press(pilot, "O")
        await press(pilot, "enter")
        assert "1 of 2 rows  filter pay  by topic" in screen_to_text(other)
        other.action_controller.run_prompt_line("view lost")
        assert 'unknown view "lost": payments' in other.log_lines[-1][1]
        other.action_controller.run_prompt_line("deleteView payments")
        assert other.view_settings.list_view_names() == []
        other.action_controller.run_prompt_line("deleteView payments")
        assert 'unknown view "payments"' in other.log_lines[-1][1]


@run_screen_test
async def test_a_broken_file_is_a_line_and_the_screen_goes_on(tmp_path: Path) -> None:
    (tmp_path / "tui-views.json").write_text("{")
    app = remembering(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert "tui-views.json is ignored: it is not JSON" in app.log_lines[-1][1]


@run_screen_test
async def test_columns_are_chosen_and_remembered(tmp_path: Path) -> None:
    async with open_screen(remembering(tmp_path), ONE_BROKER, SIZE) as (app, pilot):
        assert "CLUSTER" in screen_to_text(app)
        await press(pilot, "C")
        assert isinstance(app.screen, ColumnChooser)
        compare_golden(app, "columns")
        app.screen.query_one(SelectionList).focus()
        await press(pilot, "space", "down", "down", "space", "enter")
        shown = screen_to_text(app)
        assert ("CLUSTER" in shown, "BROKER" in shown, "ROLE" in shown) == (False, True, False)
        await press(pilot, "C")
        await pilot.press("escape")
    async with open_screen(remembering(tmp_path), ONE_BROKER, SIZE) as (again, pilot):
        assert "CLUSTER" not in screen_to_text(again)
