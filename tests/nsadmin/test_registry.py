"""The table of commands, against the modules it names and against mqadmin's flags."""

from importlib import import_module
from inspect import signature

import pytest

from nsadmin.registry import (
    COMMANDS,
    CommandEntry,
    find_command,
    list_check_names,
    nearest_commands,
    take_command,
)


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_every_entry_names_a_documented_function(entry: CommandEntry) -> None:
    function = getattr(import_module(f"nsadmin.commands.{entry.module_name}"), entry.function_name)
    assert function.__doc__
    assert next(iter(signature(function).parameters)) == ("argv" if entry.kind == "program" else "session")


@pytest.mark.parametrize(
    "word", ["topicRoute", "topicroute", "TOPICROUTE", "topic-route", "topic_route", "Topic-Route"]
)
def test_names_are_found_however_they_are_written(word: str) -> None:
    entry = find_command(word)
    assert entry is not None
    assert entry.name == "topicRoute"


def test_unknown_names_have_neighbours() -> None:
    assert find_command("topicrout") is None
    assert nearest_commands("topicrout")[0] == "topicRoute"
    assert nearest_commands("qqqqqqq") == []


def test_a_line_begins_with_a_name_in_one_word_or_in_two() -> None:
    assert take_command(["topicRoute", "T"]) == (find_command("topicRoute"), ["T"])
    assert take_command(["topic", "route", "T"]) == (find_command("topicRoute"), ["T"])
    assert take_command(["Topic-", "route"])[0] == find_command("topicRoute")
    assert take_command(["topic"]) == (None, [])
    assert take_command(["topic", "--help"]) == (None, ["--help"])
    assert take_command(["lab", "up"]) == (find_command("lab"), ["up"])


def test_checks_are_known_by_what_stands_behind_check() -> None:
    assert list_check_names()[:2] == ["namesrv", "brokers"]
    for name in list_check_names():
        entry, behind = take_command(["check", name, "-n", "h:1"])
        assert entry is not None
        assert (entry.kind, behind) == ("check", ["-n", "h:1"])
