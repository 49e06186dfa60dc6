"""configDiff: what differs among brokers and name servers, and from the defaults."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol.command import build_reply
from tests.nsadmin.conftest import CommandResult, Run
from tests.support.fake_servers import FakeBroker, FakeNameServer, refuse_with


def config(broker: FakeBroker, **items: str) -> None:
    text = "".join(f"{key}={value}\n" for key, value in items.items())
    broker.handlers[26] = lambda asked: build_reply(asked, body=text.encode())


@pytest.fixture
def other_broker(
    broker: FakeBroker, first_server: FakeNameServer, second_server: FakeNameServer
) -> Iterator[FakeBroker]:
    with FakeBroker({"brokerVersionDesc": "V4_9_7"}) as running:
        for server in (first_server, second_server):
            server.clusters = {"C": {"broker-a": {0: broker.addr}}, "D": {"broker-b": {0: running.addr}}}
        config(broker, fileReservedTime="48", brokerName="broker-a", timerWheelEnable="false")
        config(running, fileReservedTime="72", brokerName="broker-b")
        yield running


def told(result: CommandResult) -> list[tuple[str, str]]:
    return [(row["kind"], row["key"]) for row in result.json]


def test_what_differs_among_brokers_and_among_name_servers(
    run: Run, both_servers: str, other_broker: FakeBroker, second_server: FakeNameServer
) -> None:
    second_server.config["waitSecondsForService"] = "1"
    result = run("configDiff", both_servers, "--json")
    assert result.code == 1
    assert told(result) == [("broker", "fileReservedTime"), ("namesrv", "waitSecondsForService")]
    row = result.json[0]
    assert row["differs"] == "48 on broker-a:0, 72 on broker-b:0"
    assert (row["default"], row["values"]) == ("72", {"broker-a:0": "48", "broker-b:0": "72"})
    assert told(run("configDiff", both_servers, "--brokers", "--json")) == [("broker", "fileReservedTime")]
    assert told(run("configDiff", both_servers, "--namesrvs", "--json")) == [
        ("namesrv", "waitSecondsForService")
    ]
    assert ("broker", "brokerName") in told(run("configDiff", both_servers, "--own", "--json"))


def test_one_alone_agrees_with_nobody(
    run: Run, both_servers: str, other_broker: FakeBroker, first_server: FakeNameServer
) -> None:
    result = run("configDiff", both_servers, "-c", "D", "--brokers", "--json")
    assert (result.code, result.out) == (3, "[]\n")
    assert result.err == "nsadmin: only one broker answered: its settings were not compared\n"
    result = run("configDiff", both_servers, "-c", "D", "--json")
    assert (result.code, result.out) == (0, "[]\n")
    assert result.err == (
        "nsadmin: only one broker answered: its settings were not compared\n"
        "nsadmin: no differences among 2 name servers\n"
    )
    result = run("configDiff", "-n", first_server.addr, "--namesrvs")
    assert result.err == "nsadmin: only one name server answered: its settings were not compared\n"
    assert run("configDiff", both_servers, "-c", "E").code == 5


def test_what_is_not_the_default(run: Run, both_servers: str, other_broker: FakeBroker) -> None:
    result = run("configDiff", both_servers, "--default", "--brokers", "--json")
    assert result.code == 0
    assert [(row["key"], row["values"], row["default"]) for row in result.json] == [
        ("fileReservedTime", {"broker-a:0": "48"}, "72"),
        ("timerWheelEnable", {"broker-a:0": "false"}, "true"),
    ]


def test_who_does_not_answer_is_told(
    run: Run, both_servers: str, other_broker: FakeBroker, dead_addr: str
) -> None:
    other_broker.handlers[26] = refuse_with(1, "no")
    result = run("configDiff", both_servers, "-n", dead_addr)
    assert result.code == 3
    assert f"broker broker-b:0 at {other_broker.addr}: SYSTEM_ERROR (1): no" in result.err
    assert result.err.count(f"name server {dead_addr}: connection refused") == 1


def test_another_release_of_the_same_generation(
    run: Run, both_servers: str, other_broker: FakeBroker
) -> None:
    other_broker.table["brokerVersionDesc"] = "V4_9_4"
    assert "defaults of 4.9.7 are used for brokers 4.9.4" in run("configDiff", both_servers).err
    other_broker.table["brokerVersionDesc"] = "V6_0_0"
    assert "no known defaults for brokers 6.0.0" in run("configDiff", both_servers).err


def test_only_these_and_only_those_is_nothing(run: Run, both_servers: str) -> None:
    result = run("configDiff", both_servers, "--brokers", "--namesrvs")
    assert (result.code, result.err.count("\n")) == (2, 1)


def test_only_defaults_are_said_to_be_so(run: Run, both_servers: str) -> None:
    result = run("configDiff", both_servers, "--default", "--namesrvs")
    assert (result.code, result.out) == (0, "")
    assert result.err == "nsadmin: no setting of 2 name servers differs from its default\n"


def test_two_clusters_are_compared(run: Run, both_servers: str, other_broker: FakeBroker) -> None:
    with FakeNameServer() as other_server:
        other_server.clusters = {"C": {"broker-a": {0: other_broker.addr}}}
        run("context", "set", "staging", "-n", other_server.addr)
        result = run("configDiff", both_servers, "-c", "C", "--with", "staging", "--brokers", "--json")
        assert (result.code, told(result)) == (1, [("broker", "fileReservedTime")])
        assert result.json[0]["differs"] == "48 on broker-a:0, 72 on staging/broker-a:0"
        result = run("configDiff", both_servers, "--with", other_server.addr, "--namesrvs")
        assert result.err == "nsadmin: no differences among 3 name servers\n"
    unknown = run("configDiff", both_servers, "--with", "production")
    assert unknown.code == 2
    assert 'unknown context "production" for --with' in unknown.err
