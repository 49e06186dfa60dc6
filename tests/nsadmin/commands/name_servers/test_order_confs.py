"""updateOrderConf."""

import json

import pytest

from namesrv_core.protocol.codes import RequestCode
from tests.nsadmin.conftest import Run
from tests.support.servers import FakeNameServer

SPACE = "ORDER_TOPIC_CONFIG"


@pytest.fixture(autouse=True)
def _enabled(first: FakeNameServer, second: FakeNameServer) -> None:
    for server in (first, second):
        server.config["orderMessageEnable"] = "true"


@pytest.mark.parametrize(
    "words",
    [
        ("T", "put", "a:4;b:8"),
        ("-t", "T", "-m", "put", "-v", "a:4;b:8"),
        ("--topic", "T", "--method", "put", "--orderConf", "a:4;b:8"),
    ],
)
def test_it_is_put_read_and_deleted_everywhere(
    run: Run, both: str, first: FakeNameServer, second: FakeNameServer, words: tuple[str, ...]
) -> None:
    done = run("updateOrderConf", *words, both, "--json")
    assert (done.code, done.err) == (0, "")
    assert first.kv[SPACE] == second.kv[SPACE] == {"T": "a:4;b:8"}
    done = run("updateOrderConf", "T", "get", both, "--json")
    assert [(row["orderConf"], row["result"]) for row in json.loads(done.out)] == [("a:4;b:8", "found")] * 2
    second.kv[SPACE] = {"T": "a:1"}
    done = run("updateOrderConf", "T", "put", "a:4;b:8", both, "--json")
    assert [row["changes"] for row in json.loads(done.out)] == [None, "a:1 -> a:4;b:8"]
    del second.kv[SPACE]["T"]
    done = run("updateOrderConf", "T", "delete", both, "--yes", "--json")
    assert [row["before"] for row in json.loads(done.out)] == ["a:4;b:8", None]
    assert (done.code, [row["result"] for row in json.loads(done.out)]) == (0, ["done", "not found"])
    assert first.kv[SPACE] == {}
    assert run("updateOrderConf", "T", "delete", both, "--yes").code == 5
    assert run("updateOrderConf", "T", "get", both).code == 5


def test_dry_runs_write_nothing(run: Run, both: str, first: FakeNameServer) -> None:
    done = run("updateOrderConf", "T", "put", "a:4", both, "--dry-run", "--json")
    assert (done.code, [row["result"] for row in json.loads(done.out)]) == (0, ["dry-run"] * 2)
    assert [(row["changes"], row["after"]) for row in json.loads(done.out)] == [("new: a:4", "a:4")] * 2
    assert run("updateOrderConf", "T", "delete", both, "--dry-run").code == 5
    assert RequestCode.PUT_KV_CONFIG not in first.codes()
    assert RequestCode.DELETE_KV_CONFIG not in first.codes()


def test_servers_that_keep_it_to_themselves_are_told(run: Run, both: str, second: FakeNameServer) -> None:
    second.config["orderMessageEnable"] = "false"
    done = run("updateOrderConf", "T", "put", "a:4", both)
    line = f"nsadmin: name server {second.addr}: clients do not get it, orderMessageEnable is false\n"
    assert (done.code, done.err) == (0, line)


@pytest.mark.parametrize("words", [("put",), ("put", "a"), ("put", "a:b"), ("set", "a:1"), ("delete",)])
def test_bad_lines(run: Run, both: str, first: FakeNameServer, words: tuple[str, ...]) -> None:
    done = run("updateOrderConf", "T", *words, both)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert first.asked == []


def test_a_read_only_context_may_be_asked_but_not_written(run: Run, first: FakeNameServer) -> None:
    run("contextSet", "p", "-n", first.addr, "--readOnly")
    first.kv[SPACE] = {"T": "a:4"}
    done = run("updateOrderConf", "T", "get", "--context", "p", "--columns", "orderConf", "--output", "value")
    assert done == (0, "a:4\n", "")
    for words in (("put", "a:5"), ("delete", "-y")):
        done = run("updateOrderConf", "T", *words, "--context", "p")
        assert (done.code, done.out, "read-only" in done.err) == (6, "", True)
    assert first.kv[SPACE] == {"T": "a:4"}
    assert run("updateOrderConf", "T", "put", "a:5", "--context", "p", "--dry-run").code == 0
