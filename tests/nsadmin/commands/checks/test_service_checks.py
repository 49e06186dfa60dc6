"""Each check as a command; what it judges, and how, is tested where it lives."""

import json
from typing import Any

from tests.nsadmin.conftest import Run
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.servers import FakeNameServer


def found(run: Run, *words: str) -> dict[str, Any]:
    result = run("check", *words, "--json")
    value: dict[str, Any] = json.loads(result.out)
    assert value["exitCode"] == result.code
    return value


def test_name_servers_with_other_limits(run: Run, both: str, dead: str) -> None:
    assert found(run, "namesrv", both)["state"] == "OK"
    assert found(run, "namesrv", both, "--critical", "3:")["state"] == "CRITICAL"
    assert found(run, "namesrv", f"{both};{dead}")["state"] == "WARNING"
    assert found(run, "namesrv", f"{both};{dead}", "--warning", "1")["state"] == "OK"


def test_brokers_of_a_cluster_and_how_many_are_expected(run: Run, both: str, first: FakeNameServer) -> None:
    assert found(run, "brokers", both)["state"] == "OK"
    assert found(run, "brokers", both, "--clusterName", "C", "--expect", "1")["state"] == "OK"
    assert found(run, "brokers", both, "--expect", "2")["state"] == "CRITICAL"
    assert found(run, "brokers", both, "--clusterName", "X")["state"] == "UNKNOWN"
    first.clusters = {}
    assert found(run, "brokers", both)["state"] == "WARNING"


def test_a_topic_by_position_or_by_flag(run: Run, both: str) -> None:
    assert found(run, "topic", "T", both)["about"] == "T"
    assert found(run, "topic", "-t", "T", both, "--critical", "2:")["state"] == "CRITICAL"
    assert run("check", "topic", both).code == 3


def test_all_topics_but_some(run: Run, both: str, first: FakeNameServer) -> None:
    assert found(run, "writable", both)["state"] == "OK"
    first.routes["U"] = {"broker-a": 4}
    assert found(run, "writable", both)["state"] == "CRITICAL"
    assert found(run, "writable", both, "--exclude", "^U$")["state"] == "OK"
    assert found(run, "writable", both, "--critical", "1")["state"] == "OK"
    result = run("check", "writable", both, "--exclude", "(")
    assert result.code == 3
    assert (
        'invalid regular expression "(" for --exclude: missing ), unterminated subpattern at position 0'
    ) in result.err


def test_a_group_on_one_topic(run: Run, first: FakeNameServer, consumer_broker: ConsumerBroker) -> None:
    consumer_broker.clients = {"G": ["c1"]}
    assert found(run, "lag", "G", "-n", first.addr)["state"] == "OK"
    assert found(run, "lag", "G", "-n", first.addr, "-t", "T", "--warning", "9")["state"] == "WARNING"
    assert found(run, "lag", "G", "-n", first.addr, "--critical", "9")["state"] == "CRITICAL"
    assert found(run, "lag", "X", "-n", first.addr)["state"] == "UNKNOWN"


def test_name_servers_that_differ(run: Run, both: str, second: FakeNameServer) -> None:
    assert found(run, "divergence", both)["state"] == "OK"
    second.routes = {}
    assert found(run, "divergence", both, "--settle", "0")["state"] == "CRITICAL"
    assert found(run, "divergence", both, "--settle", "0", "--critical", "1")["state"] == "WARNING"
    assert run("check", "divergence", both, "--settle", "-1").code == 3
