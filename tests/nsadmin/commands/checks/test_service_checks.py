"""Each check as a command; what it judges, and how, is tested where it lives."""

import json
from typing import Any

from tests.nsadmin.conftest import Run
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeNameServer


def found(run: Run, *words: str) -> dict[str, Any]:
    result = run("check", *words, "--json")
    value: dict[str, Any] = json.loads(result.out)
    assert value["exitCode"] == result.code
    return value


def test_name_servers_with_other_limits(run: Run, both_servers: str, dead_addr: str) -> None:
    assert found(run, "namesrv", both_servers)["state"] == "OK"
    assert found(run, "namesrv", both_servers, "--critical", "3:")["state"] == "CRITICAL"
    assert found(run, "namesrv", f"{both_servers};{dead_addr}")["state"] == "WARNING"
    assert found(run, "namesrv", f"{both_servers};{dead_addr}", "--warning", "1")["state"] == "OK"


def test_brokers_of_a_cluster_and_how_many_are_expected(
    run: Run, both_servers: str, first_server: FakeNameServer
) -> None:
    assert found(run, "brokers", both_servers)["state"] == "OK"
    assert found(run, "brokers", both_servers, "--clusterName", "C", "--expect", "1")["state"] == "OK"
    assert found(run, "brokers", both_servers, "--expect", "2")["state"] == "CRITICAL"
    assert found(run, "brokers", both_servers, "--clusterName", "X")["state"] == "UNKNOWN"
    first_server.clusters = {}
    assert found(run, "brokers", both_servers)["state"] == "WARNING"


def test_a_topic_by_position_or_by_flag(run: Run, both_servers: str) -> None:
    assert found(run, "topic", "T", both_servers)["about"] == "T"
    assert found(run, "topic", "-t", "T", both_servers, "--critical", "2:")["state"] == "CRITICAL"
    assert run("check", "topic", both_servers).code == 3


def test_all_topics_but_some(run: Run, both_servers: str, first_server: FakeNameServer) -> None:
    assert found(run, "writable", both_servers)["state"] == "OK"
    first_server.routes["U"] = {"broker-a": 4}
    assert found(run, "writable", both_servers)["state"] == "CRITICAL"
    assert found(run, "writable", both_servers, "--exclude", "^U$")["state"] == "OK"
    assert found(run, "writable", both_servers, "--critical", "1")["state"] == "OK"
    result = run("check", "writable", both_servers, "--exclude", "(")
    assert result.code == 3
    assert (
        'invalid regular expression "(" for --exclude: missing ), unterminated subpattern at position 0'
    ) in result.err


def test_a_group_on_one_topic(
    run: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker
) -> None:
    consumer_broker.clients = {"G": ["c1"]}
    consumer_broker.offsets["G", "T", 1] = 50
    assert found(run, "lag", "G", "-n", first_server.addr)["state"] == "OK"
    assert found(run, "lag", "G", "-n", first_server.addr, "-t", "T", "--warning", "9")["state"] == "WARNING"
    assert found(run, "lag", "G", "-n", first_server.addr, "--critical", "9")["state"] == "CRITICAL"
    assert found(run, "lag", "X", "-n", first_server.addr)["state"] == "UNKNOWN"


def test_name_servers_that_differ(run: Run, both_servers: str, second_server: FakeNameServer) -> None:
    assert found(run, "divergence", both_servers)["state"] == "OK"
    second_server.routes = {}
    assert found(run, "divergence", both_servers, "--settle", "0")["state"] == "CRITICAL"
    assert found(run, "divergence", both_servers, "--settle", "0", "--critical", "1")["state"] == "WARNING"
    assert run("check", "divergence", both_servers, "--settle", "-1").code == 3
