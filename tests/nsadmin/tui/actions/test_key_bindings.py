"""The table of keys: each has something to do, and no two are the same."""

from textual.actions import parse
from textual.binding import Binding

from nsadmin.tui.action_controller import KEY_ACTIONS
from nsadmin.tui.actions.key_bindings import GRID_BINDING_IDS, KEY_BINDINGS, list_binding_ids
from nsadmin.tui.app import Tui
from nsadmin.tui.preferences import Preferences
from nsadmin.tui.screens.screen_text import screen_to_text
from nsadmin.tui.widgets.grid import Grid
from tests.support.screens import make_still_tui, run_screen_test


def test_each_key_has_an_action_of_the_app() -> None:
    for key in KEY_BINDINGS:
        name, args = parse(key.app_action)[1:]
        assert hasattr(Tui, f"action_{name}"), key.binding_id
        assert name != "run_key" or args == (key.binding_id,), key.binding_id
        assert name != "act" or args == (key.key_names,), key.binding_id


def test_each_key_of_the_controller_is_in_its_table() -> None:
    ids = {key.binding_id for key in KEY_BINDINGS if parse(key.app_action)[1] == "run_key"}
    assert ids == KEY_ACTIONS.keys()


def test_no_key_means_two_things() -> None:
    every = [key_name for key in KEY_BINDINGS for key_name in key.key_names.split(",")]
    assert len(set(every)) == len(every)
    assert len({key.binding_id for key in KEY_BINDINGS}) == len(KEY_BINDINGS)


def test_what_stands_in_the_last_line_is_short() -> None:
    assert all(len(key.footer_hint) <= 8 for key in KEY_BINDINGS)


def test_keys_of_rows_are_those_of_the_table() -> None:
    assert {binding.id for binding in Grid.BINDINGS if isinstance(binding, Binding)} == set(GRID_BINDING_IDS)
    assert not set(GRID_BINDING_IDS) & set(list_binding_ids())


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
