"""divergence: rows, exit codes, what is said."""

import json

import pytest

from namesrv_core.protocol.codes import RequestCode
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeBroker, FakeNameServer, refuse_with

NOW = ("--settle", "0")


def test_who_agrees_has_no_rows_and_exit_code_0(run: Run, both_servers: str) -> None:
    result = run("divergence", both_servers, "--json")
    assert (result.code, result.out) == (0, "[]\n")
    assert result.err == (
        "nsadmin: 2 name servers agree: 1 broker, 1 topic\nnsadmin: compared KV namespaces: "
        f"ORDER_TOPIC_CONFIG; {both_servers[2:].replace(';', ', ')} cannot list theirs: pass others with -s "
        "NAMESPACE\n"
    )


def test_topics_that_differ_alike_are_one_row_or_all_of_them(
    run: Run,
    both_servers: str,
    first_server: FakeNameServer,
    second_server: FakeNameServer,
    broker: FakeBroker,
) -> None:
    broker.handlers[RequestCode.GET_BROKER_CONFIG] = refuse_with(1, "no settings")
    first_server.routes = {f"T{number}": {"broker-a": 6} for number in range(400)}
    second_server.routes = {f"T{number}": {"broker-a": 4} for number in range(400)}
    result = run("divergence", both_servers, *NOW, "--json")
    assert result.code == 1
    [row] = result.json
    assert (row["what"], row["name"], row["brokerName"], row["count"]) == ("topic", "T0", "broker-a", 400)
    assert (row["state"], row["causeKind"]) == ("drift", "wiped")
    assert row["differs"] == f"perm: rw- on {first_server.addr}, r-- on {second_server.addr}"
    assert row["values"][second_server.addr]["perm"] == 4
    assert "name servers diverge: 400 differences" in result.err
    assert (
        "next: run `nsadmin repair wipe broker-a`, which restores the broker's own "
        "permissions, or `nsadmin wipeWritePerm broker-a` on every name server"
    ) in result.err
    rows = run("divergence", both_servers, *NOW, "--detail", "--json").json
    assert [row["count"] for row in rows] == [1] * 400
    assert len({row["name"] for row in rows}) == 400


def test_a_single_name_server_is_not_asked_for_its_routes(run: Run, first_server: FakeNameServer) -> None:
    for words in (("divergence",), ("check", "divergence")):
        result = run(*words, "-n", first_server.addr)
        assert result.code == 3
        assert "1 of 1 name servers answered" in result.err + result.out
    assert RequestCode.GET_ROUTEINFO_BY_TOPIC not in first_server.asked_codes()
    # Its hashes are for comparison with another time.
    run("divergence", "--hashes", "-n", first_server.addr)
    assert RequestCode.GET_ROUTEINFO_BY_TOPIC in first_server.asked_codes()


def test_topics_go_with_their_broker(run: Run, both_servers: str, second_server: FakeNameServer) -> None:
    second_server.clusters, second_server.routes = {}, {}
    result = run("divergence", both_servers, *NOW, "--json")
    [row] = result.json
    assert (row["what"], row["name"], row["brokerName"]) == ("broker", "broker-a:0", "broker-a")
    assert row["differs"].endswith(f"not on {second_server.addr}, with 1 topic")
    rows = run("divergence", both_servers, *NOW, "--detail", "--json").json
    assert [(row["what"], row["name"]) for row in rows] == [("broker", "broker-a:0"), ("topic", "T")]
    assert rows[1]["cause"] == "its broker broker-a is missing"


def test_kv_in_a_table(run: Run, both_servers: str, first_server: FakeNameServer) -> None:
    first_server.kv = {"n": {"k": "v"}}
    result = run("divergence", both_servers, *NOW, "-s", "n")
    assert result.code == 1
    head, row = result.out.splitlines()
    assert head.split() == ["what", "name", "brokerName", "count", "state", "seenFor", "differs", "cause"]
    assert row.startswith("kv    n k")
    assert run("divergence", both_servers, *NOW).code == 0
    assert run("divergence", both_servers, *NOW, "-s", "n", "--section", "topic").code == 0


def test_fewer_than_two_answers_are_unknown(run: Run, first_server: FakeNameServer, dead_addr: str) -> None:
    for addrs in (first_server.addr, f"{first_server.addr};{dead_addr}", dead_addr):
        result = run("divergence", "-n", addrs, "--json")
        assert (result.code, result.out) == (3, "[]\n")
        is_silent = addrs == dead_addr
        text = "unknown: no name server answered" if is_silent else " name servers answered, a comparison"
        assert text in result.err


def test_agreement_of_those_that_answer_is_partial(run: Run, both_servers: str, dead_addr: str) -> None:
    result = run("divergence", both_servers, "-n", dead_addr)
    assert result.code == 3
    assert "incomplete: 2 of 3 name servers answered, and agree" in result.err
    assert f"name server {dead_addr}: connection refused" in result.err


def test_one_whose_answers_are_not_whole_counts_as_silent(
    run: Run, both_servers: str, second_server: FakeNameServer
) -> None:
    second_server.handlers[105] = refuse_with(1, "busy")
    result = run("divergence", both_servers)
    assert result.code == 3
    assert f"name server {second_server.addr}: SYSTEM_ERROR (1): busy" in result.err


def test_hashes(run: Run, both_servers: str, dead_addr: str, second_server: FakeNameServer) -> None:
    second_server.routes = {"T": {"broker-a": 4}}
    result = run("divergence", both_servers, "-n", dead_addr, "--hashes", "--json")
    one, two, none = result.json
    assert one["brokerHash"] == two["brokerHash"]
    assert one["topicHash"] != two["topicHash"]
    assert (one["brokers"], one["topics"], one["error"]) == (1, 1, None)
    assert (none["namesrvAddr"], none["brokerHash"]) == (dead_addr, None)
    assert "refused" in none["error"]
    assert result.code == 1


def test_a_young_difference_is_waited_for(
    run: Run, both_servers: str, first_server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_server.kv = {"ORDER_TOPIC_CONFIG": {"T": "broker-a:4"}}
    monkeypatch.setattr(
        "nsadmin.commands.procedures.divergence.sleep", lambda seconds: first_server.kv.clear()
    )
    result = run("divergence", both_servers)
    assert (result.code, result.out) == (0, "")
    assert result.err.splitlines()[0] == (
        "nsadmin: 1 difference: waiting up to 2 s to see which of them remain (--settle 0 shows them now)"
    )


def test_watching_remembers_the_looks_before(
    run: Run, both_servers: str, first_server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_server.routes = {"T": {"broker-a": 4}}
    now = iter([0, 30, 60])
    monkeypatch.setattr("nsadmin.commands.procedures.divergence.monotonic", lambda: next(now))

    def sleep(seconds: float) -> None:
        if not left:
            raise KeyboardInterrupt
        left.pop()

    left = [1, 1]
    monkeypatch.setattr("nsadmin.console.session.sleep", sleep)
    result = run("divergence", both_servers, "--watch", "30", "--output", "jsonl")
    rows = [json.loads(line) for line in result.out.splitlines()]
    assert [(row["state"], row["seenFor"]) for row in rows] == [
        ("new", 0),
        ("new", 30_000),
        ("drift", 60_000),
    ]
    assert "no lasting difference: 1 new difference, which brokers may still remove" in result.err
    assert result.err.count("next: ") == 1


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--settle", "-1"), 'invalid value "-1" for --settle: expected seconds, 0 to 86400'),
        (
            ("--settle", "nan"),
            'invalid value "nan" for --settle: expected seconds, for example 3 or 0.5, at most 1000000000',
        ),
        (("--section", "topics"), 'unknown section "topics": use broker, topic, kv, setting'),
    ],
)
def test_what_cannot_be_is_one_line(run: Run, both_servers: str, words: tuple[str, ...], reason: str) -> None:
    result = run("divergence", both_servers, *words)
    assert (result.code, result.out, result.err) == (2, "", f"nsadmin: {reason}\n")


@pytest.mark.parametrize("command", ["divergence", "kvDiff", "checkDivergence", "checkNamesrv"])
def test_two_names_of_one_server_are_one_witness(
    run: Run, first_server: FakeNameServer, command: str
) -> None:
    port = first_server.addr.rpartition(":")[2]
    result = run(command, "-n", f"{first_server.addr};localhost:{port}")
    assert result.code == (1 if command == "checkNamesrv" else 3)
    assert f"localhost:{port}: same name server as {first_server.addr}" in result.out + result.err
