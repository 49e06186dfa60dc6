"""What may be typed behind the colon."""

import pytest

from nsadmin.tui.actions.prompt_parser import (
    BUILTIN_ALIASES,
    ParsedPromptLine,
    name_command,
    parse_moment,
    parse_prompt_line,
)
from tests.support.screens import NOON

SCREENS = ("brokers", "topics")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("", ParsedPromptLine()),
        ("topics", ParsedPromptLine(screen_name="topics")),
        ("q", ParsedPromptLine(builtin_command="quit")),
        ("theme nord", ParsedPromptLine(builtin_command="theme", argument="nord")),
        ("context prod", ParsedPromptLine(builtin_command="context", argument="prod")),
        ("context show", ParsedPromptLine(command_words=["context", "show"])),
        ("ctx prod", ParsedPromptLine(builtin_command="context", argument="prod")),
        ("topics /orders", ParsedPromptLine("topics", "orders")),
        ("topics  /!/a 'b\\\\.c/", ParsedPromptLine("topics", "!/a 'b\\\\.c/")),
        ("topics orders", ParsedPromptLine(command_words=["topics", "orders"])),
        ("pay", ParsedPromptLine("topics", "payments")),
        ("rt orders -n a:1", ParsedPromptLine(command_words=["topicRoute", "orders", "-n", "a:1"])),
        ("round", ParsedPromptLine(command_words=["round"])),
        ("messages orders --tag 'a b'", ParsedPromptLine(message_words=["orders", "--tag", "a b"])),
        ("messages", ParsedPromptLine(message_words=[])),
        ("context", ParsedPromptLine(builtin_command="context")),
        ("nsadmin topicRoute 'a b'", ParsedPromptLine(command_words=["topicRoute", "a b"])),
        ("topicRoute orders", ParsedPromptLine(command_words=["topicRoute", "orders"])),
        ("say 'so", ParsedPromptLine(error_text="no closing quotation")),
    ],
)
def test_lines(line: str, found: ParsedPromptLine) -> None:
    aliases = {**BUILTIN_ALIASES, "pay": "topics /payments", "tr": "topicRoute", "rt": "tr", "round": "round"}
    assert parse_prompt_line(line, SCREENS, aliases) == found


def test_arguments_of_messages_are_completed_as_those_of_consume() -> None:
    assert name_command(["messages", "orders"]) == ["consume", "orders"]
    assert name_command(["topicRoute", "orders"]) == ["topicRoute", "orders"]


def test_moments_are_times_of_day_or_seconds_from_here(utc: None) -> None:
    begin, end = NOON, NOON + 86_400_000
    assert parse_moment("+60", NOON, begin, end) == NOON + 60_000
    assert parse_moment("-5", NOON, begin, end) == NOON - 5_000
    assert parse_moment("12:00:30", 0, begin, end) == NOON + 30_000
    assert parse_moment("12:01", 0, begin, end) == NOON + 60_000
    assert parse_moment("00:30", 0, begin, end) == NOON + 45_000_000
    found = [parse_moment(text, 0, begin, end) for text in ("25:99", "24:00", "12:60", "12:00:60")]
    assert found == [None] * 4
    assert parse_moment("noon", 0, begin, end) is parse_moment("+x", 0, begin, end) is None
