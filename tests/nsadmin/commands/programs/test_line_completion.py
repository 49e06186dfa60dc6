"""The words that TAB offers in the prompt of the screen."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from nsadmin.commands.programs.line_completion import list_candidates

from tests.support.servers import FakeNameServer

ROOT = Path(__file__).parents[4]


def words(line: str, typed: str = "") -> list[str]:
    return [word for word, _ in list_candidates(line.split(), typed)]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeNameServer]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "cli")]))
    with FakeNameServer({"C": {"broker-a": {0: "h:1"}}}) as running:
        running.routes = {"orders": {"broker-a": 6}, "users": {"broker-a": 6}}
        running.kv = {"N": {"k": "v"}}
        yield running


def offered(server: FakeNameServer, line: str, typed: str = "") -> list[tuple[str, str]]:
    """What servers are asked for comes with the second TAB on a slow machine."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        candidates = list_candidates(line.split(), typed, ["-n", server.addr])
        if candidates:
            return candidates
    return []


def test_the_first_word_is_a_command_or_a_group_that_needs_no_terminal() -> None:
    assert words("", "topicr") == ["topicRoute"]
    assert "kv" in words("")
    assert {"tui", "lab", "namesrv", "batch"}.isdisjoint(words(""))
    assert dict(list_candidates([], "topicRoute"))["topicRoute"]


def test_the_second_word_of_a_group_is_one_of_its_commands() -> None:
    assert words("kv", "g") == ["get"]
    assert words("unheard") == []
    assert words("kv unheard") == []


def test_options_choices_and_columns() -> None:
    assert words("topicRoute", "--outp") == ["--output"]
    assert "-n" in words("topicRoute", "-")
    assert words("topicRoute --output", "js") == ["json", "jsonl"]
    assert words("topicRoute", "--output=csv") == ["--output=csv"]
    assert words("topicRoute", "--yes=") == []
    assert words("updateTopic orders -o", "t") == ["true"]
    assert words("topicList --columns topic,-", "") == []
    assert words("clusterList --columns", "brokerName,brokerI") == ["brokerName,brokerId"]


def test_files_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plans").mkdir()
    (tmp_path / "plan.yaml").touch()
    (tmp_path / ".plan").touch()
    monkeypatch.chdir(tmp_path)
    assert words("apply", "pl") == ["plan.yaml", "plans/"]
    assert words("journal stat", "pl") == ["plans/"]
    assert words("apply", "none/") == []


def test_values_of_the_servers_of_the_screen(server: FakeNameServer) -> None:
    assert offered(server, "topicRoute", "o") == [("orders", "")]
    assert offered(server, "wipeWritePerm", "b") == [("broker-a", "C")]
    assert offered(server, "kv get N", "") == [("k", "")]
    assert offered(server, "topicRoute", "-t") == [("-t", "Name of a topic.")]
