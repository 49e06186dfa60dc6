"""where: what won, what was overruled, who answers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.nsadmin.conftest import CommandResult, Run
from tests.support.endpoint import FakeEndpoint
from tests.support.fake_servers import FakeNameServer, closed_port


@pytest.fixture
def server() -> Iterator[FakeNameServer]:
    with FakeNameServer() as running:
        yield running


def rows(result: CommandResult) -> list[dict[str, Any]]:
    where_rows = json.loads(result.out)
    assert isinstance(where_rows, list)
    return where_rows


def test_what_is_given_is_asked_and_answers(run: Run, server: FakeNameServer) -> None:
    result = run("where", "-n", server.addr, "--json")
    [row] = rows(result)
    assert row.pop("latencyMillis") > 0
    assert row == {
        "namesrvAddr": server.addr,
        "source": "-n",
        "context": None,
        "reachable": True,
        "version": "V5_5_0",
        "signed": None,
        "tls": False,
        "readOnly": False,
        "error": None,
    }
    assert result.code == 0
    assert result.err == "nsadmin: requests are not signed\nnsadmin: connections are not encrypted\n"


def test_a_server_that_does_not_answer_hides_no_other(run: Run, server: FakeNameServer) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    result = run("where", "-n", f"{dead};{server.addr}", "--json")
    assert result.code == 3
    assert [(row["namesrvAddr"], row["reachable"]) for row in rows(result)] == [
        (dead, False),
        (server.addr, True),
    ]
    assert rows(result)[0]["error"] == "connection refused, no server listens on this port"
    assert run("where", "-n", dead).code == 4


def test_every_source_is_named_and_what_it_overruled(
    run: Run, server: FakeNameServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def source(*args: str) -> tuple[str, str | None, list[str]]:
        result = run("where", "--json", *args)
        [row] = rows(result)
        reasons = [
            line.removeprefix("nsadmin: not used, because another source comes first: ")
            for line in result.err.splitlines()
            if "not used" in line
        ]
        return row["source"], row["context"], reasons

    conf = tmp_path / "broker.conf"
    conf.write_text(f"namesrvAddr={server.addr}\n")
    run("contextSet", "lab", "-n", server.addr)
    assert source() == ("context lab", "lab", [])
    monkeypatch.setenv("NAMESRV_ADDR", server.addr)
    assert source() == ("NAMESRV_ADDR", "lab", [f"context lab ({server.addr})"])
    assert source("--context", "lab") == ("context lab", "lab", [f"NAMESRV_ADDR {server.addr}"])
    assert source("-n", server.addr) == (
        "-n",
        "lab",
        [f"NAMESRV_ADDR {server.addr}", f"context lab ({server.addr})"],
    )
    assert source("--configFile", str(conf))[0] == f"file {conf}"
    run("contextSet", "filed", "--configFile", str(conf))
    assert source("--context", "filed")[:2] == (f"file {conf}", "filed")


def test_an_endpoint_is_asked_and_what_it_said_last_counts_when_it_fails(
    run: Run, server: FakeNameServer
) -> None:
    with FakeEndpoint(server.addr) as endpoint:
        run("contextSet", "p", "--endpoint", endpoint.url)
        result = run("where", "--json")
        assert [(row["namesrvAddr"], row["source"]) for row in rows(result)] == [
            (server.addr, f"endpoint {endpoint.url}")
        ]
        endpoint.status = 503
        result = run("where", "--json")
        assert result.code == 0
        assert rows(result)[0]["namesrvAddr"] == server.addr
        assert f"{endpoint.url}: HTTP status 503 instead of 200; using its answer of 2" in result.err


def test_an_endpoint_that_tells_nothing_is_a_row_and_exit_code_4(run: Run) -> None:
    url = f"http://127.0.0.1:{closed_port()}/rocketmq/nsaddr"
    result = run("where", "--endpoint", url, "--json")
    assert result.code == 4
    [row] = rows(result)
    assert (row["namesrvAddr"], row["source"], row["reachable"]) == (None, f"endpoint {url}", False)
    assert "refused" in row["error"]
    assert run("topicList", "--endpoint", url).code == 4


def test_who_signs_and_where_brokers_are_is_told_but_no_secret(
    run: Run, server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NSADMIN_ACCESS_KEY", "me")
    monkeypatch.setenv("NSADMIN_SECRET_KEY", "s3cret")
    result = run("where", "-n", server.addr, "--addressMap", "10.0.0.0/8=gw:1", "--json")
    assert rows(result)[0]["signed"] == "env"
    assert "requests are signed with the credentials of env\n" in result.err
    assert "brokers at 10.0.0.0/8 are reached through gw:1\n" in result.err
    assert "s3cret" not in result.out + result.err
    assert server.asked[0].ext is not None
    assert server.asked[0].ext["AccessKey"] == "me"
    assert rows(run("where", "-n", server.addr, "--credentials", "none", "--json"))[0]["signed"] is None


def test_a_read_only_context_says_so_even_if_other_name_servers_are_asked(
    run: Run, server: FakeNameServer
) -> None:
    run("contextSet", "prod", "-n", "127.0.0.1:1", "--read-only")
    result = run("where", "-n", server.addr, "--json")
    assert rows(result)[0]["readOnly"] is True
    assert result.err.splitlines()[:2] == [
        "nsadmin: not used, because another source comes first: context prod (127.0.0.1:1)",
        "nsadmin: context prod is read-only: nsadmin refuses every change",
    ]
