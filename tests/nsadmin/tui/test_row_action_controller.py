"""Actions on several rows: marks, one preview for all, and one confirmation."""

from typing import Any

from textual.widgets import OptionList

from nsadmin.tui.app import Tui
from nsadmin.tui.polling.poll_records import AnyPoll
from nsadmin.tui.screens.confirmation import BatchChangeScreen, ChangeScreen
from nsadmin.tui.screens.dialogs import FieldsScreen
from nsadmin.tui.screens.screen_text import screen_to_text
from tests.support.screens import (
    compare_golden,
    feed_polls,
    make_broker_poll,
    make_server_poll,
    make_still_tui,
    open_screen,
    press,
    run_screen_test,
)

SIZE = (120, 30)
NAMES = {f"broker-{letter}": {0: f"10.0.1.{at}:10911"} for at, letter in enumerate("abc", 1)}
THREE: list[AnyPoll] = [
    make_server_poll(groups=NAMES),
    *(make_broker_poll(f"10.0.1.{at}:10911") for at in (1, 2, 3)),
]


async def words_after(app: Tui, pilot: Any, *keys: str) -> list[list[str]]:
    """The command lines of the screen that these keys open."""
    await press(pilot, *keys)
    assert isinstance(app.screen, BatchChangeScreen)
    return [list(progress.command.words) for progress in app.screen.progress_list]


@run_screen_test
async def test_m_marks_rows_and_an_action_takes_all_of_them() -> None:
    async with open_screen(make_still_tui(), THREE, size=SIZE) as (app, pilot):
        await pilot.press("m", "down", "m")
        assert app.view_state.marked_keys == {
            "broker-a 0 10.0.1.1:10911", "broker-c 0 10.0.1.3:10911",
        }  # fmt: skip
        compare_golden(app, "marked")
        assert await words_after(app, pilot, "w") == [
            ["wipeWritePerm", "broker-a"], ["wipeWritePerm", "broker-c"],
        ]  # fmt: skip
        await press(pilot, "escape", "m", "w")
        assert isinstance(app.screen, ChangeScreen), "one marked row is one change"
        assert app.screen.words == ["wipeWritePerm", "broker-a", "--dry-run"]


@run_screen_test
async def test_a_capital_m_marks_the_filtered_rows_and_removes_all_marks() -> None:
    async with open_screen(make_still_tui(), THREE, size=SIZE) as (app, pilot):
        await pilot.press("slash", *"/-[bc] ", "enter", "M")
        assert len(app.view_state.marked_keys) == 2
        await pilot.press("escape")
        assert "2 marked" in screen_to_text(app)
        await pilot.press("M")
        assert "marked" not in screen_to_text(app)


@run_screen_test
async def test_a_row_that_is_gone_has_no_mark_any_more_and_a_heading_gets_none() -> None:
    app = make_still_tui()
    async with app.run_test(size=SIZE) as pilot:
        await feed_polls(app, pilot, [make_server_poll(kv={"NS": {"k": "v", "l": "w"}})])
        await pilot.press("5", "M")
        assert len(app.view_state.marked_keys) == 2
        await feed_polls(app, pilot, [make_server_poll(kv={"NS": {"k": "v"}})])
        assert app.view_state.marked_keys == {"NS k"}
        await pilot.press("b", "g", "m")
        assert "a heading cannot be marked" in screen_to_text(app)


@run_screen_test
async def test_fields_are_asked_for_once() -> None:
    async with open_screen(make_still_tui(home="topics"), THREE, size=SIZE) as (app, pilot):
        await press(pilot, "M", "x")
        assert isinstance(app.screen, FieldsScreen)
        assert "delete topic: 2 marked rows" in screen_to_text(app)
        assert await words_after(app, pilot, "enter") == [
            ["deleteTopic", "-t", "orders", "-c", "cluster-a"],
            ["deleteTopic", "-t", "payments", "-c", "cluster-a"],
        ]


@run_screen_test
async def test_the_menu_names_the_number_of_rows() -> None:
    async with open_screen(make_still_tui(), THREE, size=SIZE) as (app, pilot):
        await press(pilot, "M", "space")
        assert "Actions on 3 rows" in screen_to_text(app)
        assert app.screen.query_one(OptionList).option_count == 5
        assert len(await words_after(app, pilot, "a")) == 3


@run_screen_test
async def test_an_action_that_does_not_apply_to_all_marked_rows_says_so() -> None:
    async with open_screen(make_still_tui(), THREE, size=SIZE) as (app, pilot):
        await pilot.press("M", "x")
        assert "fix applies to 0 of 3 marked rows: unmark the others with m" in screen_to_text(app)
