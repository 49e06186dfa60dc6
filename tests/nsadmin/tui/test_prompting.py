"""What may be typed behind the colon."""

import pytest

from nsadmin.tui.prompting import Typed, offered, read

SCREENS = ("brokers", "topics")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("", Typed()),
        ("topics", Typed(screen="topics")),
        ("q", Typed(own="quit")),
        ("theme nord", Typed(own="theme", argument="nord")),
        ("context", Typed(own="context")),
        ("nsadmin topicRoute 'a b'", Typed(words=["topicRoute", "a b"])),
        ("topicRoute orders", Typed(words=["topicRoute", "orders"])),
        ("say 'so", Typed(error="no closing quotation")),
    ],
)
def test_lines(line: str, found: Typed) -> None:
    assert read(line, SCREENS) == found


def test_screens_are_offered_first_and_no_program() -> None:
    lines = offered(SCREENS, ["nord"], ["prod"])
    assert lines[:2] == ["brokers", "topics"]
    assert {"theme nord", "context prod", "topicRoute"} <= set(lines)
    assert not {"tui", "lab", "batch"} & set(lines)
