"""The commands of checks that ask servers and have options of their own."""

import json

import pytest

from tests.nsadmin.commands.checks.conftest import found
from tests.nsadmin.conftest import Run
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeBroker, FakeNameServer


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
    all_groups = found(run, "lag", "-n", first_server.addr, "--critical", "9")
    assert (all_groups["state"], all_groups["summary"].split(":")[0]) == (
        "CRITICAL",
        "1 of 1 group is not healthy",
    )
    excluded = found(run, "lag", "-n", first_server.addr, "--critical", "9", "--exclude", "^G$")
    assert (excluded["state"], excluded["summary"]) == ("OK", "no groups")
    assert "-t needs a group: nsadmin consumerProgress -t T" in run("check", "lag", "-t", "T").err
    assert "--min-clients needs groups" in run("check", "lag", "--min-clients", "1").err


def test_several_groups_by_list_or_pattern(
    run: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker
) -> None:
    consumer_broker.configs |= {name: {"groupName": name} for name in ("G-one", "other")}
    consumer_broker.clients = {"G": ["c1"], "G-one": ["c1"]}
    consumer_broker.offsets |= {("G-one", "T", 0): 70, ("G-one", "T", 1): 50, ("G", "T", 1): 50}
    addr = ("-n", first_server.addr)

    def judge(*words: str) -> tuple[str, str, dict[str, str]]:
        report = found(run, "lag", *words, *addr, "--warning", "20", "--critical", "1000")
        return report["state"], report["summary"], {c["about"]: c["state"] for c in report["checks"]}

    assert judge("G*") == (
        "WARNING",
        "1 of 2 groups is not OK: G-one WARNING",
        {"G": "OK", "G-one": "WARNING"},
    )
    assert judge("G,G-one", "-t", "T")[0] == "WARNING"
    assert judge("G*", "--exclude", "one")[:2] == ("OK", "1 group")
    assert judge("G,nosuch") == (
        "UNKNOWN",
        "1 of 2 groups is not OK: nosuch UNKNOWN",
        {"G": "OK", "nosuch": "UNKNOWN"},
    )
    assert found(run, "lag", "zz*", *addr)["summary"] == 'no consumer group matches "zz*"'
    assert found(run, "lag", "zz*", *addr)["state"] == "UNKNOWN"
    assert run("check", "lag", "G,", *addr).code == 3


def test_several_topics_by_list_or_pattern(run: Run, both_servers: str, first_server: FakeNameServer) -> None:
    first_server.routes["T-two"] = {"broker-a": 6}
    every = found(run, "topic", "T*", both_servers)
    assert [c["about"] for c in every["checks"]] == ["T", "T-two"]
    missing = found(run, "topic", "T,nosuch", both_servers)
    assert (missing["state"], missing["summary"]) == ("CRITICAL", "1 of 2 topics is not OK: nosuch CRITICAL")
    assert found(run, "topic", "zz*", both_servers)["summary"] == 'no topic matches "zz*"'


def test_name_servers_that_differ(run: Run, both_servers: str, second_server: FakeNameServer) -> None:
    assert found(run, "divergence", both_servers)["state"] == "OK"
    second_server.routes = {}
    assert found(run, "divergence", both_servers, "--settle", "0")["state"] == "CRITICAL"
    assert found(run, "divergence", both_servers, "--settle", "0", "--critical", "1")["state"] == "WARNING"
    assert run("check", "divergence", both_servers, "--settle", "-1").code == 3


def test_registrations_of_a_cluster_or_a_broker(
    run: Run, both_servers: str, broker: FakeBroker, dead_addr: str
) -> None:
    assert found(run, "registrationSize", both_servers)["state"] == "UNKNOWN"
    assert found(run, "registration-size", "-b", dead_addr)["details"] == [
        f"{dead_addr}: connection refused, no server listens on this port"
    ]
    assert run("check", "registrationSize", both_servers, "-b", dead_addr, "--clusterName", "C").code == 3


def test_clients_before_a_release_are_a_warning(
    run: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker
) -> None:
    consumer_broker.clients = {"G": ["c"]}
    consumer_broker.producers = {"P": ["p"]}
    result = run("check", "clients", "-n", first_server.addr, "--json")
    report = json.loads(result.out)
    assert (result.code, report["summary"]) == (1, "1 of 2 clients is older than 5.0.0")
    assert report["details"] == ["p at 10.0.0.1:5: JAVA V4_9_7, groups P"]
    assert run("check", "clients", "--min-version", "4.9.7", "-n", first_server.addr).code == 0
    assert run("check", "clients", "--critical", "0", "-n", first_server.addr).code == 2


@pytest.mark.parametrize(
    ("ordinal", "state"), [(63, "WARNING"), (35, "WARNING"), (-1, "UNKNOWN"), (700, "UNKNOWN"), (407, "OK")]
)
def test_only_a_known_release_passes(
    run: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker, ordinal: int, state: str
) -> None:
    consumer_broker.producers, consumer_broker.producer_version = {"P": ["p"]}, ordinal
    result = run("check", "clients", "--min-version", "4.9.7", "-n", first_server.addr)
    assert result.out.startswith(f"{state}: "), result.out


@pytest.mark.parametrize("version", ["five", "5.x", "", "V5_0_0"])
def test_a_version_that_is_none(run: Run, version: str) -> None:
    result = run("check", "clients", "--min-version", version)
    assert result.code == 3
    assert f'invalid version "{version}" for --min-version: use a release such as 5.0.0' in result.err
