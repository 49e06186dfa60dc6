"""Help of a view: its columns, and every key."""

import pytest

from nsadmin.tui.actions.key_bindings import KEY_BINDINGS
from nsadmin.tui.custom_commands.command_file import CustomCommands, Plugin
from nsadmin.tui.screens.help_screen import HelpScreen, help_lines
from nsadmin.tui.screens.screen_text import screen_to_text
from nsadmin.tui.views.base_view import View
from nsadmin.tui.views.brokers.broker_table import BROKER_COLUMNS, BrokersView
from tests.support.screens import (
    compare_golden,
    join_cells,
    make_still_tui,
    open_screen,
    press,
    run_screen_test,
)


def text(view: View) -> str:
    return "\n".join(join_cells(line) for line in help_lines(view, 1000))


def test_every_column_and_every_key_is_explained() -> None:
    help_text = text(BrokersView())
    assert all(column.meaning in help_text for column in BROKER_COLUMNS)
    assert all(key.help_text in help_text for key in KEY_BINDINGS)


def test_what_is_too_long_goes_on_in_the_next_line() -> None:
    narrow = help_lines(BrokersView(), 40)
    assert all(sum(len(cell.text) for cell in line) <= 41 for line in narrow)
    assert len(narrow) > len(help_lines(BrokersView(), 1000))


@pytest.mark.parametrize("width", [31, 40, 67])
def test_no_line_is_wider_than_the_panel(width: int) -> None:
    assert max(sum(len(cell.text) for cell in line) for line in help_lines(BrokersView(), width)) <= width


def test_a_view_without_columns_has_the_keys_alone() -> None:
    assert text(View()).startswith("Everywhere\n  ?")


def test_a_search_shows_matching_lines_under_their_headings() -> None:
    lines = help_lines(BrokersView(), 1000, None, "DISK")
    assert [join_cells(line).split() for line in lines] == [
        ["Columns"], ["DISK", "used", "disk", "space"],
    ]  # fmt: skip
    assert help_lines(BrokersView(), 1000, None, "zzz")[0][0].text == 'no column and no key has "zzz"'


def test_own_commands_are_explained() -> None:
    own_commands = CustomCommands(
        {"pay": "topics /pay"}, {"f2": "groups /x"}, [Plugin("p", "P", ["ssh", "{broker}"])]
    )
    lines = help_lines(View(), 1000, own_commands)
    assert [join_cells(line).split() for line in lines[-4:]] == [
        ["Your", "own", "commands"], ["f2", "groups", "/x"], ["P", "ssh", "{broker}", "(all)"],
        [":pay", "topics", "/pay"],
    ]  # fmt: skip


@run_screen_test
async def test_typing_searches_and_escape_clears_then_closes() -> None:
    async with open_screen(make_still_tui(), size=(100, 24)) as (app, pilot):
        await press(pilot, "question_mark")
        assert isinstance(app.screen, HelpScreen)
        await press(pilot, *"replica")
        compare_golden(app, "help-search")
        await press(pilot, "escape", "down", "pagedown", "pageup", "up")
        assert "messages put per second" in screen_to_text(app)
        await pilot.press("escape")
        assert len(app.screen_stack) == 1
        await pilot.press("question_mark", "x", "enter")
        assert len(app.screen_stack) == 1
