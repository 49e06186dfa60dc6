"""kvGet, kvList, updateKvConfig, deleteKvConfig."""

import json

import pytest

from tests.nsadmin.conftest import CommandResult, Run
from tests.support.fake_servers import FakeNameServer

MISSING = "QUERY_NOT_FOUND (22): No config item"
WRITES = {100, 102}


def told(result: CommandResult) -> list[tuple[object, ...]]:
    """The rows' key, value, result and error, in the servers' order."""
    rows = json.loads(result.out)
    assert all([*row] == ["namesrvAddr", "namespace", "key", "value", "result", "error"] for row in rows)
    return [(row["key"], row["value"], row["result"], row["error"]) for row in rows]


def changed(result: CommandResult) -> list[tuple[object, ...]]:
    """The rows' changes, before, after, result and error, in the servers' order."""
    names = ["changes", "before", "after", "result", "error"]
    rows = json.loads(result.out)
    assert all([*row] == ["namesrvAddr", "namespace", "key", *names] for row in rows)
    return [tuple(row[name] for name in names) for row in rows]


@pytest.mark.parametrize("words", [("N", "k"), ("-s", "N", "-k", "k"), ("--namespace", "N", "--key", "k")])
def test_a_value_is_shown_for_each_server(
    run: Run, both_servers: str, second_server: FakeNameServer, words: tuple[str, ...]
) -> None:
    second_server.kv = {"N": {"k": "v"}}
    result = run("kvGet", *words, both_servers, "--json")
    assert result.code == 3
    assert told(result) == [("k", None, "not found", MISSING), ("k", "v", "found", None)]


def test_a_value_that_nobody_has_is_not_found(run: Run, both_servers: str) -> None:
    assert run("kvGet", "N", "k", both_servers).code == 5


def test_a_namespace_is_listed_for_each_server(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    first_server.kv, second_server.kv = {"N": {"b": "2", "a": "1"}}, {"N": {}}
    result = run("kvList", "N", both_servers, "--json")
    assert result.code == 0
    assert told(result) == [("a", "1", "found", None), ("b", "2", "found", None), (None, None, "empty", None)]
    assert told(run("kvList", "M", both_servers, "--json")) == [(None, None, "not found", MISSING)] * 2


@pytest.mark.parametrize("words", [("N", "k", "v"), ("-s", "N", "-k", "k", "-v", "v"), ("-v", "v", "N", "k")])
def test_a_value_is_written_everywhere(
    run: Run,
    both_servers: str,
    first_server: FakeNameServer,
    second_server: FakeNameServer,
    words: tuple[str, ...],
) -> None:
    second_server.kv = {"N": {"k": "u"}}
    assert changed(run("updateKvConfig", *words, both_servers, "--json")) == [
        ("new: v", None, "v", "done", None),
        ("u -> v", "u", "v", "done", None),
    ]
    assert first_server.kv == second_server.kv == {"N": {"k": "v"}}
    again = run("updateKvConfig", *words, both_servers, "--json")
    assert changed(again) == [(None, "v", "v", "unchanged", None)] * 2


def test_a_value_may_be_empty(run: Run, both_servers: str, first_server: FakeNameServer) -> None:
    assert run("updateKvConfig", "N", "k", "", both_servers).code == 0
    assert first_server.kv == {"N": {"k": ""}}


def test_deleting_where_it_was_is_enough(run: Run, both_servers: str, second_server: FakeNameServer) -> None:
    second_server.kv = {"N": {"k": "v"}}
    result = run("deleteKvConfig", "N", "k", both_servers, "--yes", "--json")
    assert (result.code, result.err) == (0, "")
    assert changed(result) == [
        (None, None, None, "not found", MISSING),
        ("removed: v", "v", None, "done", None),
    ]
    assert run("deleteKvConfig", "N", "k", both_servers, "--yes").code == 5


def test_dry_runs_write_nothing_and_show_what_they_would(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer, dead_addr: str
) -> None:
    first_server.kv = {"N": {"k": "old"}}
    result = run("updateKvConfig", "N", "k", "new", both_servers, "-n", dead_addr, "--dry-run", "--json")
    assert result.code == 3
    assert changed(result) == [
        ("old -> new", "old", "new", "dry-run", None),
        ("new: new", None, "new", "dry-run", None),
        (None, None, None, "failed", "connection refused, no server listens on this port"),
    ]
    result = run("deleteKvConfig", "N", "k", both_servers, "--dry-run", "--json")
    assert changed(result) == [
        ("removed: old", "old", None, "dry-run", None),
        (None, None, None, "not found", MISSING),
    ]
    assert WRITES.isdisjoint({*first_server.asked_codes(), *second_server.asked_codes()})
    assert first_server.kv == {"N": {"k": "old"}}


def test_an_unknown_namespace_suggests_the_one_that_rocketmq_uses(run: Run, both_servers: str) -> None:
    result = run("kvList", "ORDERS", both_servers, "--json")
    assert (result.code, result.err) == (
        5,
        'nsadmin: no namespace "ORDERS": RocketMQ itself uses ORDER_TOPIC_CONFIG, whose keys are topics\n',
    )


def test_what_cannot_be_deleted_needs_no_consent(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer, dead_addr: str
) -> None:
    assert run("deleteKvConfig", "N", "k", "-n", dead_addr).code == 4
    result = run("deleteKvConfig", "N", "k", both_servers)
    assert (result.code, result.err) == (5, 'nsadmin: no key "k" in N\n')
    second_server.kv = {"N": {"k": "v"}}
    result = run("deleteKvConfig", "N", "k", both_servers)
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "nsadmin: deleteKvConfig N k: this would delete a value of the KV config, which cannot be undone: "
        "to do it without a terminal, pass --yes\n"
    )
    assert second_server.kv == {"N": {"k": "v"}}


def test_a_new_value_is_undone_by_its_deletion(run: Run, both_servers: str) -> None:
    created = run("updateKvConfig", "N", "k", "v", both_servers)
    assert created.err == "nsadmin: to undo it: nsadmin deleteKvConfig -s N -k k\n"
    changed_again = run("updateKvConfig", "N", "k", "w", both_servers)
    assert changed_again.err == "nsadmin: to undo it: nsadmin updateKvConfig -s N -k k -v v\n"
