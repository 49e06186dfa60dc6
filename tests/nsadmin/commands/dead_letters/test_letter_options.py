"""Options that select dead letters."""

import pytest

from nsadmin.client.messages.dead_letter_selection import DeadLetterSelection
from nsadmin.commands.dead_letters.letter_options import parse_selection
from nsadmin.console.exit_codes import UsageError


def test_each_option_is_a_condition() -> None:
    selection = parse_selection("c", "1000", "2000", ["T"], ["k", "l"], ["A"], "x+", 5)
    assert selection.body_pattern is not None
    assert selection._replace(body_pattern=None) == DeadLetterSelection(
        1000, 2000, frozenset({"T"}), frozenset({"k", "l"}), frozenset({"A"}), None, 5
    )
    assert selection.body_pattern.pattern == "x+"


def test_without_options_all_are_selected() -> None:
    selection = parse_selection("c", None, None, None, None, None, None, None)
    assert selection.describe_rules() | {"endMs": 0} == DeadLetterSelection(end_ms=0).describe_rules()


def test_a_time_range_that_is_empty() -> None:
    with pytest.raises(UsageError, match="--from 2000 is after --until 1000: swap them"):
        parse_selection("c", "2000", "1000", None, None, None, None, None)
