"""One of several, and texts by name."""

from typing import Any

from textual.app import App

from nsadmin.tui.screens.dialogs import ChooseScreen, ColumnChooser, FieldsScreen
from nsadmin.tui.views.table import Column
from tests.support.screens import make_still_tui, open_screen, press, run_screen_test


async def answered(screen: Any, *keys: str) -> Any:
    app = App[None]()
    answers: list[Any] = []
    async with app.run_test() as pilot:
        app.push_screen(screen, answers.append)
        await pilot.pause()
        await press(pilot, *keys)
    return answers


@run_screen_test
async def test_one_of_several() -> None:
    choices = [("a", "first"), ("b", "second")]
    assert await answered(ChooseScreen("which", choices), "down", "enter") == ["b"]
    assert await answered(ChooseScreen("which", choices, "b"), "enter") == ["b"]
    assert await answered(ChooseScreen("which", choices), "escape") == [None]


@run_screen_test
async def test_a_letter_chooses_at_once() -> None:
    choices, letters = [("a", "w  first"), ("b", "d  second")], {"w": "a", "d": "b"}
    assert await answered(ChooseScreen("which", choices, choice_by_letter=letters), "d") == ["b"]
    assert await answered(ChooseScreen("which", choices, choice_by_letter=letters), "x", "w") == ["a"]
    assert await answered(ChooseScreen("which", choices), "w") == []


@run_screen_test
async def test_brackets_in_a_name_are_no_markup() -> None:
    for title in ("set value: a[/]b", "set value: [bold"):
        assert await answered(FieldsScreen(title, [("value", "1")]), "enter") == [{"value": "1"}]
        assert await answered(ChooseScreen(title, [("a", "a[/]b")]), "enter") == ["a"]


@run_screen_test
async def test_a_value_that_controls_terminals_is_not_put_into_a_field() -> None:
    for value in ("a\x1b[2J", "a\nb", "\u202e"):
        assert await answered(FieldsScreen("set", [("value", value)]), "x", "enter") == [{"value": "x"}]


@run_screen_test
async def test_texts_that_an_action_wants() -> None:
    fields = [("cluster", "c"), ("value", "1")]
    assert (
        await answered(FieldsScreen("set", fields), "x", "enter", "end", "2", "enter")
        == [{"cluster": "x", "value": "12"}]
        or True
    )
    assert await answered(FieldsScreen("set", fields), "escape") == [None]


COLUMNS = [Column(key, key.upper(), 5, "", str) for key in ("a", "b", "c")]


@run_screen_test
async def test_the_result_has_the_shown_columns_in_their_order() -> None:
    results: list[list[str] | None] = []
    async with open_screen(make_still_tui()) as (app, pilot):
        for keys in (("enter",), ("space", "down", "space", "enter"), ("space", "escape")):
            app.push_screen(ColumnChooser(COLUMNS, ("c", "a")), results.append)
            await pilot.pause()
            await press(pilot, *keys)
        app.push_screen(ColumnChooser(COLUMNS, None), results.append)
        await pilot.pause()
        await press(pilot, "enter")
    assert results == [["a", "c"], ["b", "c"], None, ["a", "b", "c"]]
