"""orderConfCheck: rows, severities, exit codes."""

import json

import pytest

from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer


@pytest.fixture(autouse=True)
def configured_orders(first_server: FakeNameServer, second_server: FakeNameServer) -> None:
    for server in (first_server, second_server):
        server.kv = {"ORDER_TOPIC_CONFIG": {"T": "broker-a:8;broker-b:8", "U": "broker-a:8"}}
        server.config["orderMessageEnable"] = "true"


def test_a_broker_that_is_gone_is_an_error(run: Run, both_servers: str, first_server: FakeNameServer) -> None:
    result = run("orderConfCheck", both_servers, "--json")
    assert result.code == 1
    one, other = json.loads(result.out)
    assert (one["topic"], one["severity"], one["kind"]) == ("T", "error", "broker-gone")
    assert one["orderConf"] == "broker-a:8;broker-b:8"
    assert len(one["namesrvAddrs"]) == 2
    assert (other["topic"], other["severity"], other["kind"]) == ("U", "warning", "no-topic")
    assert result.err == "nsadmin: 2 order configurations, 1 error, 1 warning\n"


def test_warnings_alone_are_0_and_one_that_is_silent_3(run: Run, both_servers: str, dead_addr: str) -> None:
    result = run("orderConfCheck", "U", both_servers)
    assert (result.code, len(result.out.splitlines())) == (0, 2)
    result = run("orderConfCheck", "U", both_servers, "-n", dead_addr)
    assert (result.code, f"name server {dead_addr}" in result.err) == (3, True)
    assert run("orderConfCheck", "-n", dead_addr).code == 4


def test_a_topic_without_an_order_configuration_is_not_an_unknown_one(
    run: Run, both_servers: str, first_server: FakeNameServer, dead_addr: str
) -> None:
    first_server.routes = {"plain": {"broker-a": 6}}
    result = run("orderConfCheck", "plain", both_servers)
    assert (result.code, result.err) == (0, 'nsadmin: topic "plain" has no order configuration\n')
    result = run("orderConfCheck", "plian", both_servers)
    assert (result.code, result.out) == (5, "")
    assert result.err.startswith('nsadmin: no topic "plian"; did you mean "plain"?')
    # The silent name server may have it.
    assert run("orderConfCheck", "plian", both_servers, "-n", dead_addr).code == 3


def test_all_is_well(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    first_server.kv = second_server.kv = {"ORDER_TOPIC_CONFIG": {"T": "broker-a:8"}}
    result = run("orderConfCheck", both_servers, "--json")
    assert (result.code, result.out) == (0, "[]\n")
