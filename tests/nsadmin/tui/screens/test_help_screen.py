"""Help of a view: its columns, and every key."""

import pytest

from nsadmin.tui.actions.key_bindings import KEY_BINDINGS
from nsadmin.tui.screens.help_screen import help_lines
from nsadmin.tui.views.base_view import View
from nsadmin.tui.views.brokers.broker_table import BROKER_COLUMNS, BrokersView


def text(view: View) -> str:
    return "\n".join("".join(cell.text for cell in line) for line in help_lines(view, 1000))


def test_every_column_and_every_key_is_explained() -> None:
    shown = text(BrokersView())
    assert all(column.help_text in shown for column in BROKER_COLUMNS)
    assert all(key.help_text in shown for key in KEY_BINDINGS)


def test_what_is_too_long_goes_on_in_the_next_line() -> None:
    narrow = help_lines(BrokersView(), 40)
    assert all(sum(len(cell.text) for cell in line) <= 41 for line in narrow)
    assert len(narrow) > len(help_lines(BrokersView(), 1000))


@pytest.mark.parametrize("width", [31, 40, 67])
def test_no_line_is_wider_than_the_panel(width: int) -> None:
    assert max(sum(len(cell.text) for cell in line) for line in help_lines(BrokersView(), width)) <= width


def test_a_view_without_columns_has_the_keys_alone() -> None:
    assert text(View()).startswith("Everywhere\n  ?")
