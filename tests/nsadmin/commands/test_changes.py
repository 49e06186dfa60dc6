"""Changes in words."""

from typing import Any

import pytest

from nsadmin.commands.changes import change, gone, words


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ("48", "72", "48 -> 72"),
        ("", "72", "'' -> 72"),
        ("72", "72", None),
        (None, None, None),
        (None, "x", "new: x"),
        ("x", None, "gone: x"),
        ({"perm": 6, "order": False}, {"perm": 4, "order": False}, "perm rw- -> r--"),
        ({"a": 1}, {"a": 1, "b": True}, "b none -> true"),
        (None, {"perm": 2, "attributes": {}}, "new: perm -w-, attributes none"),
        ({"b": {"perm": 6, "n": 8}}, None, "gone: b perm=rw- n=8"),
    ],
)
def test_words(before: Any, after: Any, text: str | None) -> None:
    assert words(before, after) == text
    assert change(before, after) == {"changes": text, "before": before, "after": after}


def test_of_what_goes_the_settings_that_matter_most() -> None:
    assert gone({"perm": 6, "x": 1}, ("perm", "y")) == "gone: perm rw-"
    assert gone({"b": {"perm": 6}}, ("perm",)) == "gone: b perm=rw-"
    assert gone(None, ("perm",)) is None
