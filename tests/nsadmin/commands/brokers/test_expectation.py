"""Brokers of the inventory and of --expect that left all name servers, in every command that names them."""

import json
from collections.abc import Sequence

import pytest

from nsadmin.console.exit_codes import ExitCode
from nsadmin.operations.checks.masters import LOOKED_AT
from tests.nsadmin.conftest import CommandResult, Run
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeBroker, FakeNameServer

MISSING = "missing: no name server lists it"


@pytest.fixture
def broker_b(
    first_server: FakeNameServer, second_server: FakeNameServer, broker: FakeBroker, run: Run
) -> None:
    """broker-b: a command saw it and its topics, and then it left both name servers."""
    for server in (first_server, second_server):
        server.clusters = {"C": {"broker-a": {0: broker.addr}, "broker-b": {0: "127.0.0.1:9"}}}
        server.routes = {
            "T": {"broker-a": 6, "broker-b": 6},
            "OnlyA": {"broker-a": 6},
            "OnlyB": {"broker-b": 6},
        }
    run("check", "writable", "-n", f"{first_server.addr};{second_server.addr}")
    for server in (first_server, second_server):
        server.clusters = {"C": {"broker-a": {0: broker.addr}}}
        server.routes = {"T": {"broker-a": 6}, "OnlyA": {"broker-a": 6}}


@pytest.fixture
def both_servers(first_server: FakeNameServer, second_server: FakeNameServer) -> str:
    return f"{first_server.addr};{second_server.addr}"


def check(run: Run, *words: str) -> tuple[str, str, list[str]]:
    """State, summary and details of a check."""
    finding = json.loads(run("check", *words, "--json").out)
    return finding["state"], finding["summary"], finding["details"]


def test_check_topic_counts_a_missing_broker_that_had_the_topic(
    run: Run, both_servers: str, broker_b: None
) -> None:
    state, summary, details = check(run, "topic", "T", "-n", both_servers)
    assert (state, summary) == ("WARNING", "1 of 2 brokers of T accept messages " + LOOKED_AT)
    assert details[0].startswith(f"broker-b: {MISSING}")
    state, summary, details = check(run, "topic", "OnlyB", "-n", both_servers)
    assert (state, summary) == ("CRITICAL", "0 of 1 brokers of OnlyB accept messages " + LOOKED_AT)
    assert any(line.startswith(f"broker-b: {MISSING}") for line in details)


def test_check_topic_ignores_a_missing_broker_that_never_had_the_topic(
    run: Run, both_servers: str, broker_b: None
) -> None:
    assert check(run, "topic", "OnlyA", "-n", both_servers)[0] == "OK"


def test_check_topic_warns_of_an_expected_broker_whose_topics_are_unknown(
    run: Run, both_servers: str
) -> None:
    assert check(run, "topic", "T", "-n", both_servers)[0] == "OK"
    state, _, details = check(run, "topic", "T", "-n", both_servers, "--expect", "broker-z")
    assert (state, details) == (
        "WARNING",
        [f"broker-z: {MISSING}, and nsadmin never saw it; nsadmin does not know its topics"],
    )
    # --expect is not saved.
    assert check(run, "topic", "T", "-n", both_servers)[0] == "OK"


def test_check_divergence_is_critical_without_an_expected_broker(
    run: Run, both_servers: str, broker_b: None
) -> None:
    state, summary, details = check(run, "divergence", "-n", both_servers, "--settle", "0")
    assert (state, summary) == (
        "CRITICAL",
        "2 of 2 name servers agree (KV namespaces: ORDER_TOPIC_CONFIG), and no name server lists broker-b:0",
    )
    assert details[-1].startswith(f"broker-b:0: {MISSING}")


def test_check_divergence_names_missing_brokers_of_a_single_name_server(
    run: Run, first_server: FakeNameServer
) -> None:
    state, summary, _ = check(
        run, "divergence", "-n", first_server.addr, "--settle", "0", "--expect", "broker-z"
    )
    assert (state, summary) == (
        "CRITICAL",
        "1 of 1 name servers answered: a comparison needs two, and no name server lists broker-z:0",
    )


def test_check_writable_warns_of_an_expected_broker_whose_topics_are_unknown(
    run: Run, both_servers: str
) -> None:
    state, _, details = check(run, "writable", "-n", both_servers, "--expect", "broker-a,broker-z")
    assert (state, details) == (
        "WARNING",
        [f"broker-z: {MISSING}, and nsadmin never saw it; nsadmin does not know its topics"],
    )
    assert check(run, "writable", "-n", both_servers, "--expect", "broker-a")[0] == "OK"


def test_check_all_uses_the_inventory_for_topics_and_divergence(
    run: Run, both_servers: str, broker_b: None
) -> None:
    result = run(
        "check", "all", "-n", both_servers, "-t", "T", "--settle", "0", "--skip", "registrationSize", "--json"
    )
    states = {
        (finding["check"], finding["about"]): finding["state"] for finding in json.loads(result.out)["checks"]
    }
    assert (states["divergence", None], states["topic", "T"]) == ("CRITICAL", "WARNING")


def test_expect_names_a_broker_that_was_forgotten(
    run: Run, first_server: FakeNameServer, broker_b: None
) -> None:
    both = ("-n", first_server.addr)
    run("check", "brokers", *both, "--expect", "broker-a,broker-b")
    run("inventory", "pin", "broker-b", *both)
    assert run("inventory", "forget", "broker-b", *both).code == 0
    assert run("clusterList", *both).code == 0
    result = run("clusterList", *both, "--expect", "broker-b")
    assert (result.code, "broker-b:0 is missing" in result.err) == (3, True)
    # It is forgotten all the same.
    assert run("clusterList", *both).code == 0


EXPECTING: dict[str, tuple[Sequence[str], int]] = {
    "clusterList": ((), ExitCode.PARTLY),
    "divergence": (("--settle", "0"), ExitCode.FAILED),
    "consumerProgress": (("G",), ExitCode.PARTLY),
    "routeExplain": (("T",), ExitCode.PARTLY),
}


def texts(result: CommandResult) -> str:
    return result.out + result.err


@pytest.mark.parametrize("command", EXPECTING)
def test_a_command_names_an_expected_broker_that_is_missing(
    command: str, run: Run, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    more_words, missing_code = EXPECTING[command]
    with ConsumerBroker() as broker:
        broker.clients = {"G": ["c1"]}
        for server in (first_server, second_server):
            server.clusters = {"C": {"broker-a": {0: broker.addr}}}
        words = (command, *more_words, "-n", f"{first_server.addr};{second_server.addr}")
        code_without = run(*words).code
        result = run(*words, "--expect", "broker-z")
        assert "broker-z" in texts(result)
        assert result.code == missing_code != code_without
        listed = run(*words, "--expect", "broker-a")
        assert (listed.code, "broker-a is missing" in texts(listed)) == (code_without, False)
        bad = run(*words, "--expect", "no such file")
        assert (bad.code, f"{command}: --expect" in bad.err) == (ExitCode.USAGE, True)
