"""Help of a view: its columns, and every key."""

import pytest

from nsadmin.tui.keys import KEYS
from nsadmin.tui.screens.help import lines
from nsadmin.tui.views.brokers import COLUMNS, Brokers
from nsadmin.tui.views.view import View


def text(view: View) -> str:
    return "\n".join("".join(cell.text for cell in line) for line in lines(view, 1000))


def test_every_column_and_every_key_is_explained() -> None:
    shown = text(Brokers())
    assert all(column.help in shown for column in COLUMNS)
    assert all(key.help in shown for key in KEYS)


def test_what_is_too_long_goes_on_in_the_next_line() -> None:
    narrow = lines(Brokers(), 40)
    assert all(sum(len(cell.text) for cell in line) <= 41 for line in narrow)
    assert len(narrow) > len(lines(Brokers(), 1000))


@pytest.mark.parametrize("width", [31, 40, 67])
def test_no_line_is_wider_than_the_panel(width: int) -> None:
    assert max(sum(len(cell.text) for cell in line) for line in lines(Brokers(), width)) <= width


def test_a_view_without_columns_has_the_keys_alone() -> None:
    assert text(View()).startswith("Everywhere\n  ?")
