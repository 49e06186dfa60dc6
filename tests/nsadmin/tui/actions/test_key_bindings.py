"""The table of keys: each has something to do, and no two are the same."""

from inspect import signature
from operator import attrgetter

from textual.actions import parse

from nsadmin.tui.actions.key_bindings import GRID_BINDINGS, KEY_BINDINGS, list_binding_ids
from nsadmin.tui.app import Tui
from nsadmin.tui.preferences import Preferences
from nsadmin.tui.screens.screen_text import screen_to_text
from nsadmin.tui.widgets.grid import Grid
from tests.support.screens import make_still_tui, run_screen_test


def test_each_key_has_an_action_of_the_app_or_of_a_controller() -> None:
    app = make_still_tui()
    for key in KEY_BINDINGS:
        name, args = parse(key.app_action)[1:]
        assert hasattr(Tui, f"action_{name}"), key.binding_id
        if name == "do":
            method_path, *arguments = args
            signature(attrgetter(str(method_path))(app)).bind(*arguments)


def test_each_key_of_rows_has_an_action_of_the_table() -> None:
    for _, action in GRID_BINDINGS.values():
        assert hasattr(Grid, f"action_{parse(action)[1]}"), action


def test_no_key_means_two_things() -> None:
    every = [key_name for key in KEY_BINDINGS for key_name in key.key_names.split(",")]
    assert len(set(every)) == len(every)
    assert len(set(list_binding_ids())) == len(list_binding_ids())


def test_what_stands_in_the_last_line_is_short() -> None:
    assert all(len(key.footer_hint) <= 8 for key in KEY_BINDINGS)


@run_screen_test
async def test_preferences_give_keys_others() -> None:
    app = make_still_tui(preferences=Preferences(theme="nord", keys={"pause": "f5", "down": "n"}))
    async with app.run_test() as pilot:
        await pilot.press("p")
        assert not app.feed.is_paused
        await pilot.press("f5")
        assert (app.feed.is_paused, app.theme) == (True, "nord")


@run_screen_test
async def test_a_theme_that_is_none_is_said_and_ours_is_taken() -> None:
    app = make_still_tui(
        preferences=Preferences(theme="mauve", themes={"mine": {"primary": "#ff0000", "dark": "false"}})
    )
    async with app.run_test():
        assert (app.theme, "mine" in app.available_themes) == ("nsadmin-dark", True)
        assert 'unknown theme "mauve"' in screen_to_text(app)
