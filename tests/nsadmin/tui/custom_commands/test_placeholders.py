"""Placeholders become arguments as they are; no shell sees them."""

import pytest

from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.custom_commands.placeholders import (
    PLACEHOLDER_NAMES,
    MissingValueError,
    collect_values,
    fill_words,
    list_placeholders,
)

VALUES = collect_values(
    RowSubject(topic="a b; rm -rf $HOME", group="--yes", value="x\0y"), "prod", ["h:1", "h:2"]
)


def test_a_word_stays_one_argument() -> None:
    assert fill_words(["echo", "{topic}", "-t={group}", "{{topic}}", "{context} {namesrv}"], VALUES) == [
        "echo", "a b; rm -rf $HOME", "-t=--yes", "{topic}", "prod h:1;h:2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("{broker}", "this row has no broker"),
        ("{group}", 'the group "--yes" looks like an option'),
        ("x{value}", "a value contains a NUL character"),
    ],
)
def test_what_cannot_be_replaced_is_refused(word: str, problem: str) -> None:
    with pytest.raises(MissingValueError, match=problem):
        fill_words([word], VALUES)


def test_every_placeholder_is_explained() -> None:
    full_subject = RowSubject("b", "h:1", "c", "t", "g", "n", "k", "v")
    assert set(collect_values(full_subject, "prod", ())) == set(PLACEHOLDER_NAMES)
    assert list_placeholders(["{topic}", "{{group}}", "{a}{b}", "{no-name}"]) == ["topic", "a", "b"]
