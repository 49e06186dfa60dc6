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


def test_a_topic_without_an_order_configuration_is_named(run: Run, both_servers: str) -> None:
    result = run("orderConfCheck", "order", both_servers)
    assert result.err == "nsadmin: no order configuration of order, 0 errors, 0 warnings\n"


def test_all_is_well(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    first_server.kv = second_server.kv = {"ORDER_TOPIC_CONFIG": {"T": "broker-a:8"}}
    result = run("orderConfCheck", both_servers, "--json")
    assert (result.code, result.out) == (0, "[]\n")
