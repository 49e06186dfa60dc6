"""Contexts, as they are set and as other commands use them."""

import json
from collections.abc import Iterator

import pytest

from tests.nsadmin.conftest import Run
from tests.support.servers import FakeNameServer


@pytest.fixture
def server() -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"a": {0: "h:1"}}}) as running:
        running.routes = {"T": {"a": 6}}
        yield running


def test_the_first_context_is_in_use_at_once_and_another_when_it_is_chosen(run: Run) -> None:
    assert run("contextSet", "lab", "-n", "a").code == 0
    assert run("contextSet", "prod", "-n", "b,c:1", "--timeout", "5", "--readOnly").code == 0
    rows = json.loads(run("contextList", "--json").out)
    assert [(row["name"], row["current"], row["namesrvAddr"]) for row in rows] == [
        ("lab", True, "a:9876"),
        ("prod", False, "b:9876;c:1"),
    ]
    assert json.loads(run("contextUse", "prod", "--json").out)[0]["readOnly"] is True
    assert json.loads(run("contextShow", "--json").out)[0]["name"] == "prod"
    assert json.loads(run("contextUse", "-", "--json").out)[0]["name"] == "lab"


def test_what_is_not_named_stays(run: Run) -> None:
    run("contextSet", "p", "-n", "a", "--timeout", "5", "--readOnly", "--defaultOutput", "csv")
    [row] = json.loads(run("contextSet", "p", "--writable", "--json").out)
    assert list(row.values()) == ["p", True, "a:9876", 5.0, "csv", False]


def test_commands_ask_the_name_servers_of_the_context(
    run: Run, server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("contextSet", "p", "-n", server.addr, "--defaultOutput", "jsonl")
    expected = (0, '{"topic": "T"}\n', "")
    assert run("topicList") == expected
    run("contextSet", "dead", "-n", "127.0.0.1:1")
    run("contextUse", "dead")
    assert run("topicList").code == 4
    assert run("--context", "p", "topicList") == expected
    monkeypatch.setenv("NSADMIN_CONTEXT", "p")
    assert run("topicList") == expected


def test_what_is_given_wins_then_the_environment_then_the_context(
    run: Run, server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("contextSet", "dead", "-n", "127.0.0.1:1", "--defaultOutput", "csv")
    assert run("topicList", "-n", server.addr).code == 0
    monkeypatch.setenv("NAMESRV_ADDR", server.addr)
    assert run("topicList").code == 0
    assert run("topicList", "--context", "dead").code == 4
    monkeypatch.setenv("NSADMIN_OUTPUT", "name")
    assert run("topicList").out == "T\n"
    assert run("topicList", "--output", "tsv").out == "topic\nT\n"


def test_a_read_only_context_refuses_what_changes_but_shows_what_would_be(
    run: Run, server: FakeNameServer
) -> None:
    run("contextSet", "p", "-n", server.addr, "--readOnly")
    for args in (("updateKvConfig", "n", "k", "v"), ("deleteKvConfig", "n", "k", "--yes")):
        done = run(*args)
        assert (done.code, done.out) == (6, "")
        assert done.err == f"nsadmin: {args[0]} changes something, and the context is read-only\n"
    assert server.kv == {}
    assert run("updateKvConfig", "n", "k", "v", "--dry-run").code == 0
    assert run("topicList").code == 0


def test_a_context_is_forgotten(run: Run) -> None:
    run("contextSet", "p", "-n", "a")
    assert run("contextDelete", "p").code == 0
    assert run("contextList", "--json").out == "[]\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("contextUse", "x"), "no context 'x'; there are: p"),
        (("contextUse", "-"), "there is no context of before"),
        (("contextShow", "x"), "no context 'x'"),
        (("contextDelete", "x"), "no context 'x'"),
        (("topicList", "--context", "x"), "no context 'x'"),
        (("contextSet", "q"), "contextSet: q needs name servers; type: nsadmin contextSet q -n HOST:PORT"),
        (("contextSet", "-n", "a", "--", "-"), 'contextSet: "-" cannot be a name'),
        (("contextSet", "q", "-n", "a:b"), "'a:b' is no address"),
        (("contextSet", "q", "-n", "a", "--defaultOutput", "xml"), "--defaultOutput xml is unknown"),
        (("contextSet", "q", "-n", "a", "--timeout", "0"), "--timeout 0 cannot be"),
    ],
)
def test_what_cannot_be_is_one_line_and_changes_nothing(run: Run, args: tuple[str, ...], said: str) -> None:
    run("contextSet", "p", "-n", "a")
    before = run("contextList").out
    done = run(*args)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"nsadmin: {said}")
    assert run("contextList").out == before


def test_a_broken_file_of_contexts_is_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    with open(f"{tmp_path}/config.yaml", "w") as file:
        file.write("contexts: [")
    done = run("topicList")
    assert done.code == 2
    assert done.err.startswith("nsadmin: ")
    assert done.err.count("\n") == 1
