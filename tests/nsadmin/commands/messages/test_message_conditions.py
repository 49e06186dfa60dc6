"""Conditions for messages as operators type them."""

import re

import pytest

from nsadmin.client.messages.topic_follower import FROM_EARLIEST, FollowStart
from nsadmin.commands.messages.message_conditions import parse_pairs, parse_regex, parse_start
from nsadmin.console.exit_codes import UsageError


@pytest.mark.parametrize(
    ("text", "follows", "start"),
    [
        (None, True, FollowStart(is_latest=True)),
        (None, False, FROM_EARLIEST),
        ("earliest", True, FROM_EARLIEST),
        ("latest", False, FollowStart(is_latest=True)),
        ("offset:7", False, FollowStart(offset=7)),
        ("2025-12-31T12:00Z", False, FollowStart(time_ms=1_767_182_400_000)),
    ],
)
def test_the_place_where_reading_begins(text: str | None, follows: bool, start: FollowStart) -> None:
    assert parse_start("consume", text, follows) == start


def test_pairs_and_expressions() -> None:
    assert parse_pairs("consume", "--property", ["a=1", "b=x=y"]) == {"a": "1", "b": "x=y"}
    assert parse_pairs("consume", "--property", None) == {}
    assert parse_regex("consume", "x+") == re.compile("x+")
    assert parse_regex("consume", None) is None


def test_mistakes_name_the_option() -> None:
    with pytest.raises(UsageError, match='consume: invalid offset "x" in --from'):
        parse_start("consume", "offset:x", False)
    with pytest.raises(UsageError, match='consume: invalid value "a" for --property: use NAME=VALUE'):
        parse_pairs("consume", "--property", ["a"])
    with pytest.raises(UsageError, match="invalid regular expression"):
        parse_regex("consume", "(")
