"""kvDiff, kvSync, kvExport, kvImport."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.nsadmin.conftest import CommandResult, Run
from tests.support.fake_servers import FakeNameServer, refuse_with

ORDERS = "ORDER_TOPIC_CONFIG"
WRITES = {100, 102}


@pytest.fixture(autouse=True)
def differing_servers(first_server: FakeNameServer, second_server: FakeNameServer) -> None:
    first_server.kv = {ORDERS: {"T": "a:4", "U": "a:8"}, "N": {"k": "v", "token": "hidden"}}
    second_server.kv = {ORDERS: {"T": "a:2", "V": "a:8"}, "N": {"k": "v", "token": "other"}}


def rows(result: CommandResult, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in json.loads(result.out)]


# kvDiff


def test_only_keys_that_differ(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    result = run("kvDiff", both_servers, "--json")
    assert result.code == 1
    assert rows(result, "namespace", "key") == [(ORDERS, "T"), (ORDERS, "U"), (ORDERS, "V")]
    assert rows(result, "differs")[:2] == [
        (f"a:4 on {first_server.addr}, a:2 on {second_server.addr}",),
        (f"on {first_server.addr}, not on {second_server.addr}",),
    ]
    assert json.loads(result.out)[1]["values"] == {first_server.addr: "a:8", second_server.addr: None}
    first, second = first_server.addr, second_server.addr
    sync = f"nsadmin kv sync -s {ORDERS} -k"
    delete = f"nsadmin deleteKvConfig {ORDERS}"
    notes = result.err.splitlines()
    assert (notes[0], notes[-3:]) == (
        f"nsadmin: 3 differences in {ORDERS}",
        [
            f"nsadmin: next: find out which value is right, and run `{sync} T --from {first}` for that of "
            f"{first}, or `{sync} T --from {second}` for that of {second}",
            f"nsadmin: next: run `{sync} U --from {first}` to copy it, or `{delete} U` to delete it",
            f"nsadmin: next: run `{sync} V --from {second}` to copy it, or `{delete} V` to delete it",
        ],
    )


@pytest.mark.parametrize("words", [("N",), ("-s", "N"), ("--namespace", "M", "-s", "N")])
def test_secrets_are_not_told(run: Run, both_servers: str, words: tuple[str, ...]) -> None:
    result = run("kvDiff", *words, both_servers, "--json")
    assert rows(result, "key") == [("token",)]
    assert "hidden" not in result.out + result.err


def test_a_word_that_is_no_address_may_be_a_namespace(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    for verb, words in (("sync", ("N",)), ("export", ("--from", "N"))):
        result = run("kv", verb, *words, both_servers)
        assert result.code == 2
        assert result.err.startswith(
            f'nsadmin: "N" is not HOST:PORT of the source: use one of {first_server.addr}, '
            f"{second_server.addr}; for a namespace: `nsadmin kv {verb} --from {first_server.addr} -s N"
        )


def test_what_cannot_be_told(
    run: Run, both_servers: str, first_server: FakeNameServer, dead_addr: str
) -> None:
    result = run("kvDiff", "-n", first_server.addr)
    assert (
        result.code,
        "nothing was compared: 1 of 1 name servers answered, and a comparison needs two" in result.err,
    ) == (
        3,
        True,
    )
    result = run("kvDiff", "-n", f"{first_server.addr};{dead_addr}")
    assert (result.code, f"name server {dead_addr}: connection refused" in result.err) == (3, True)
    # They agree, and one does not answer.
    result = run("kvDiff", both_servers, "-n", dead_addr, "-s", "none")
    assert result.code == 3
    assert run("kvDiff", both_servers, "-n", dead_addr).code == 1
    result = run("kvDiff", both_servers, "-s", "none")
    assert (result.code, 'no name server has the namespace "none"' in result.err) == (5, True)


def test_what_was_compared_is_named(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    second_server.kv[ORDERS] = first_server.kv[ORDERS]
    result = run("kvDiff", both_servers)
    assert result.code == 0
    assert result.err == (
        f"nsadmin: 2 name servers agree on {ORDERS} (2 keys)\nnsadmin: {first_server.addr}, "
        f"{second_server.addr} cannot list namespaces: pass others with -s NAMESPACE\n"
    )


def test_namespaces_that_a_name_server_lists_are_compared(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    second_server.kv[ORDERS] = first_server.kv[ORDERS]
    first_server.config["kvNamespaces"] = json.dumps(list(first_server.kv))
    result = run("kvDiff", both_servers, "--json")
    assert (result.code, rows(result, "namespace", "key")) == (1, [("N", "token")])
    assert f"1 difference in N, {ORDERS}\n" in result.err
    assert f"nsadmin: {second_server.addr} cannot list namespaces" in result.err


# kvSync


def test_a_copy_goes_to_all_others_and_only_where_it_differs(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    result = run("kvSync", "--from", first_server.addr, both_servers, "--json", "--yes")
    assert result.code == 0
    assert rows(result, "namesrvAddr", "key", "before", "after", "result") == [
        (second_server.addr, "T", "a:2", "a:4", "done"),
        (second_server.addr, "U", None, "a:8", "done"),
    ]
    assert second_server.kv[ORDERS] == {"T": "a:4", "U": "a:8", "V": "a:8"}
    assert first_server.kv[ORDERS] == {"T": "a:4", "U": "a:8"}
    assert WRITES.isdisjoint(first_server.asked_codes())
    result = run("kvSync", "--from", first_server.addr, both_servers, "--yes", "--json")
    assert (result.code, result.out) == (0, "[]\n")
    assert f"{second_server.addr} already has all values" in result.err


def test_a_dry_run_writes_nothing(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    result = run("kvSync", first_server.addr, both_servers, "--prune", "--dry-run", "--json")
    assert result.code == 0
    assert rows(result, "key", "changes", "result") == [
        ("T", "a:2 -> a:4", "dry-run"),
        ("U", "new: a:8", "dry-run"),
        ("V", "removed: a:8", "dry-run"),
    ]
    assert WRITES.isdisjoint(second_server.asked_codes())


def test_pruning_needs_a_yes(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    result = run("kvSync", first_server.addr, both_servers, "--prune")
    assert (result.code, "kv sync --prune: this would delete " in result.err) == (2, True)
    assert WRITES.isdisjoint(second_server.asked_codes())
    assert run("kvSync", first_server.addr, both_servers, "--prune", "--yes").code == 0
    assert second_server.kv[ORDERS] == first_server.kv[ORDERS]


def test_one_key(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    assert run("kvSync", first_server.addr, both_servers, "-k", "U", "--yes").code == 0
    assert second_server.kv[ORDERS] == {"T": "a:2", "U": "a:8", "V": "a:8"}
    result = run("kvSync", first_server.addr, both_servers, "-k", "V")
    assert (result.code, 'no key "V" in ORDER_TOPIC_CONFIG' in result.err) == (5, True)


def test_what_cannot_be_copied_changes_nothing(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer, dead_addr: str
) -> None:
    result = run("kvSync", first_server.addr, both_servers, "-s", "none", "--prune", "--yes")
    assert (result.code, 'has no namespace "none": nothing was changed' in result.err) == (5, True)
    assert run("kvSync", dead_addr, both_servers).code == 4
    result = run("kvSync", first_server.addr, "-n", first_server.addr)
    assert (result.code, "no name server other than" in result.err) == (2, True)
    result = run("kvSync", first_server.addr, both_servers, "-k", "T", "--prune")
    assert (
        result.code,
        "--prune and --key exclude each other: --prune applies to whole namespaces" in result.err,
    ) == (2, True)
    assert WRITES.isdisjoint(first_server.asked_codes() + second_server.asked_codes())


def test_one_that_is_silent_and_one_that_refuses_are_told(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer, dead_addr: str
) -> None:
    second_server.handlers[100] = refuse_with(1, "disk full")
    result = run("kvSync", first_server.addr, both_servers, "-n", dead_addr, "-k", "T", "--yes", "--json")
    assert result.code == 1
    assert rows(result, "namesrvAddr", "result") == [(second_server.addr, "failed"), (dead_addr, "failed")]
    assert "disk full" in json.loads(result.out)[0]["error"]
    del second_server.handlers[100]
    second_server.handlers[100] = second_server._put
    result = run("kvSync", first_server.addr, both_servers, "-n", dead_addr, "-k", "T", "--yes")
    assert result.code == 3


# kvExport and kvImport


def test_a_file_goes_out_and_comes_in_again(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer, tmp_path: Path
) -> None:
    file = tmp_path / "kv.json"
    result = run(
        "kvExport", str(file), both_servers, "--from", first_server.addr, "-s", ORDERS, "-s", "N", "--json"
    )
    assert result.code == 0
    assert rows(result, "namespace", "entries") == [(ORDERS, 2), ("N", 2)]
    assert json.loads(file.read_text()) == {"configTable": first_server.kv}
    assert file.stat().st_mode & 0o777 == 0o600
    result = run("kvImport", str(file), both_servers, "-s", ORDERS, "--yes", "--json")
    assert rows(result, "namesrvAddr", "key") == [(second_server.addr, "T"), (second_server.addr, "U")]
    assert second_server.kv["N"]["token"] == "other"
    assert run("kvImport", str(file), both_servers, "--prune", "--yes").code == 0
    assert second_server.kv == first_server.kv
    assert run("kvExport", str(file), both_servers, "--from", first_server.addr).code == 2


def test_to_standard_output(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    result = run("kvExport", "-n", first_server.addr)
    assert (result.code, json.loads(result.out)) == (0, {"configTable": {ORDERS: first_server.kv[ORDERS]}})
    second_server.kv = first_server.kv
    assert run("kvExport", both_servers).out == result.out


def test_who_differs_is_not_exported(run: Run, both_servers: str) -> None:
    result = run("kvExport", both_servers)
    assert (result.code, result.out) == (1, "")
    assert (
        f"name servers have different values of {ORDERS} T: run nsadmin kv diff, or select one with --from"
    ) in result.err


def test_what_is_not_there_is_told(run: Run, first_server: FakeNameServer, dead_addr: str) -> None:
    result = run("kvExport", "-n", f"{first_server.addr};{dead_addr}", "-s", "N", "-s", "none")
    assert (result.code, 'no name server that answered has the namespace "none"' in result.err) == (3, True)
    assert run("kvExport", "-n", first_server.addr, "-s", "none").code == 5
    assert run("kvExport", "-n", dead_addr).code == 4


@pytest.mark.parametrize(
    ("text", "words", "reason"),
    [
        ("{", (), "not JSON"),
        ('{"configTable": {}}', (), " has no namespace"),
        ('{"configTable": {"N": {}}}', ("-s", "M"), ' has no namespace "M": use N'),
        (None, (), "No such file"),
    ],
)
def test_a_file_that_is_none_is_one_line(
    run: Run, both_servers: str, tmp_path: Path, text: str | None, words: tuple[str, ...], reason: str
) -> None:
    file = tmp_path / "kv.json"
    if text is not None:
        file.write_text(text)
    result = run("kvImport", str(file), both_servers, *words)
    assert result.code == 2
    assert str(file) in result.err
    assert reason in result.err
    assert result.err.count("\n") == 1
