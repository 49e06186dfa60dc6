"""Contexts, as they are set and as other commands use them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.errors import ResponseCode
from namesrv_core.protocol.codes import RequestCode
from nsadmin.console import advice
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer, answer_json
from tests.support.topic_brokers import TopicBroker, topic_config


@pytest.fixture
def server() -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"a": {0: "h:1"}}}) as running:
        running.routes = {"T": {"a": 6}}
        yield running


def test_the_first_context_is_in_use_at_once_and_another_when_it_is_chosen(run: Run) -> None:
    assert run("contextSet", "lab", "-n", "a").code == 0
    assert run("contextSet", "prod", "-n", "b,c:1", "--timeout", "5", "--read-only").code == 0
    rows = json.loads(run("contextList", "--json").out)
    assert [(row["name"], row["current"], row["namesrvAddr"]) for row in rows] == [
        ("lab", True, "a:9876"),
        ("prod", False, "b:9876;c:1"),
    ]
    assert json.loads(run("contextUse", "prod", "--json").out)[0]["readOnly"] is True
    assert json.loads(run("contextShow", "--json").out)[0]["name"] == "prod"
    assert json.loads(run("contextUse", "-", "--json").out)[0]["name"] == "lab"


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
    run("contextSet", "p", "-n", server.addr, "--read-only")
    for args in (("updateKvConfig", "n", "k", "v"), ("deleteKvConfig", "n", "k", "--yes")):
        result = run(*args)
        assert (result.code, result.out) == (6, "")
        assert result.err == (
            f"nsadmin: {args[0]} changes the cluster, and the context p is read-only: use another "
            "context, or run nsadmin context set p --writable\n"
        )
    assert server.kv == {}
    assert run("updateKvConfig", "n", "k", "v", "--dry-run").code == 0
    assert run("topicList").code == 0


SECRETS = """\
contexts:
  p:
    namesrvAddr: a
    accessKey: me
    secretKey: s3cret
    securityToken: t0ken
    tls: {caFile: ca.pem, keyPassword: pa55word, verify: false}
"""


@pytest.mark.parametrize("form", ["table", "wide", "json", "jsonl", "yaml", "csv", "tsv", "name", "value"])
def test_a_secret_is_never_shown(run: Run, tmp_path: Path, form: str) -> None:
    (tmp_path / "config.yaml").write_text(SECRETS)
    for args in (("contextShow", "p"), ("contextList",), ("contextUse", "p"), ("contextSet", "p")):
        result = run(*args, "--output", form)
        assert result.code == 0
        output = result.out + result.err
        assert not any(secret in output for secret in ("s3cret", "t0ken", "pa55word"))


def test_of_a_secret_it_is_shown_where_it_is(run: Run, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(SECRETS)
    [row] = json.loads(run("contextShow", "p", "--json").out)
    assert row["credentials"] == "access key me, secret key and security token in the file of contexts"
    assert row["tls"] == {"caFile": "ca.pem", "keyPassword": "in the file of contexts", "verify": False}


def test_a_table_has_the_columns_that_are_set(run: Run) -> None:
    run("contextSet", "p", "--endpoint", "http://h", "--color", "red", "--timeout", "2")
    assert run("contextList").out.split()[:6] == ["name", "current", "endpoint", "color", "p", "true"]
    assert "timeout" in run("contextShow", "p").out
    assert "configFile" in run("contextList", "--output", "wide").out


def test_a_context_is_forgotten(run: Run) -> None:
    run("contextSet", "p", "-n", "a")
    assert run("contextDelete", "p").code == 0
    assert run("contextList", "--json").out == "[]\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("contextUse", "x"), 'no context "x": choose from p'),
        (("contextUse", "-"), "there is no previous context: run nsadmin context use NAME"),
        (("contextShow", "x"), 'no context "x": choose from p'),
        (("contextDelete", "x"), 'no context "x": choose from p'),
        (("topicList", "--context", "x"), 'no context "x": choose from p'),
    ],
)
def test_what_cannot_be_is_one_line_and_changes_nothing(run: Run, args: tuple[str, ...], said: str) -> None:
    run("contextSet", "p", "-n", "a")
    before = run("contextList").out
    result = run(*args)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"nsadmin: {said}")
    assert run("contextList").out == before


def test_a_broken_file_of_contexts_is_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    with open(f"{tmp_path}/config.yaml", "w") as file:
        file.write("contexts: [")
    result = run("topicList")
    assert result.code == 2
    assert result.err.startswith("nsadmin: ")
    assert result.err.count("\n") == 1


def test_without_a_context_in_use_there_is_none_to_show(run: Run) -> None:
    result = run("contextShow")
    assert (result.code, result.out, result.err) == (
        5,
        "",
        "nsadmin: no context is in use: run nsadmin context use NAME, or nsadmin context set "
        "NAME -n HOST:PORT\n",
    )


@pytest.mark.usefixtures("carrying_advice")
def test_an_advised_command_reaches_the_servers_of_the_command(
    run: Run, server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def advised(*words: str) -> str:
        return run("undrain", "a", *words).err.split("`")[1]

    with TopicBroker(topic_config("T"), name="a") as broker:
        server.clusters, server.routes = {"C": {"a": {0: broker.addr}}}, {"T": {"a": 4}}
        broker.handlers[RequestCode.GET_ALL_TOPIC_CONFIG] = lambda asked: answer_json(
            asked, {"topicConfigTable": broker.configs}
        )
        repair = "nsadmin repair wipe a"
        assert advised("-n", server.addr) == f"{repair} -n {server.addr}"
        run("contextSet", "other", "-n", "127.0.0.1:1")
        run("contextUse", "other")
        run("contextSet", "this", "-n", server.addr)
        assert advised("-n", server.addr) == f"{repair} -n {server.addr}"
        assert advised("--context", "this") == f"{repair} --context this"
        # A command that a sentence names carries them, too.
        assert (
            f"run nsadmin topicList -n {server.addr} to list"
            in run("topicRoute", "none", "-n", server.addr).err
        )
        # Also beside a command that has them already.
        mixed = f"nsadmin undrain a -n {server.addr}, then nsadmin topicList"
        with monkeypatch.context() as patched:
            patched.setitem(advice._ADVICE_BY_CODE, ResponseCode.TOPIC_NOT_EXIST, mixed)
            told = run("topicRoute", "none", "-n", server.addr).err
        assert f"nsadmin: {mixed} -n {server.addr}\n" in told
        run("contextUse", "this")
        assert "run nsadmin topicList to list" in run("topicRoute", "none").err
        assert advised("--context", "this") == advised() == advised("--timeout", "9") == repair
