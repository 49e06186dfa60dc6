"""The table of commands, against the modules it names and against mqadmin's flags."""

from importlib import import_module
from inspect import signature

import pytest

from nsadmin.registry import COMMANDS, Entry, checks, find, nearest, take


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_every_entry_names_a_documented_function(entry: Entry) -> None:
    function = getattr(import_module(f"nsadmin.commands.{entry.module}"), entry.function)
    assert function.__doc__
    assert next(iter(signature(function).parameters)) == ("argv" if entry.kind == "program" else "session")


@pytest.mark.parametrize(
    "word", ["topicRoute", "topicroute", "TOPICROUTE", "topic-route", "topic_route", "Topic-Route"]
)
def test_names_are_found_however_they_are_written(word: str) -> None:
    entry = find(word)
    assert entry is not None
    assert entry.name == "topicRoute"


def test_unknown_names_have_neighbours() -> None:
    assert find("topicrout") is None
    assert nearest("topicrout")[0] == "topicRoute"
    assert nearest("qqqqqqq") == []


def test_a_line_begins_with_a_name_in_one_word_or_in_two() -> None:
    assert take(["topicRoute", "T"]) == (find("topicRoute"), ["T"])
    assert take(["topic", "route", "T"]) == (find("topicRoute"), ["T"])
    assert take(["Topic-", "route"])[0] == find("topicRoute")
    assert take(["topic"]) == (None, [])
    assert take(["topic", "--help"]) == (None, ["--help"])
    assert take(["lab", "up"]) == (find("lab"), ["up"])


def test_checks_are_known_by_what_stands_behind_check() -> None:
    assert checks()[:2] == ["namesrv", "brokers"]
    for name in checks():
        entry, behind = take(["check", name, "-n", "h:1"])
        assert entry is not None
        assert (entry.kind, behind) == ("check", ["-n", "h:1"])
