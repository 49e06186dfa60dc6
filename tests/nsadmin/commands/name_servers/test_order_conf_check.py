"""orderConfCheck: rows, severities, exit codes."""

import json

import pytest

from tests.nsadmin.conftest import Run
from tests.support.servers import FakeNameServer


@pytest.fixture(autouse=True)
def configured(first: FakeNameServer, second: FakeNameServer) -> None:
    for server in (first, second):
        server.kv = {"ORDER_TOPIC_CONFIG": {"T": "broker-a:8;broker-b:8", "U": "broker-a:8"}}
        server.config["orderMessageEnable"] = "true"


def test_a_broker_that_is_gone_is_an_error(run: Run, both: str, first: FakeNameServer) -> None:
    done = run("orderConfCheck", both, "--json")
    assert done.code == 1
    one, other = json.loads(done.out)
    assert (one["topic"], one["severity"], one["kind"]) == ("T", "error", "broker-gone")
    assert one["orderConf"] == "broker-a:8;broker-b:8"
    assert len(one["servers"]) == 2
    assert (other["topic"], other["severity"], other["kind"]) == ("U", "warning", "no-topic")
    assert done.err == "nsadmin: 2 order configurations, 1 error, 1 warning\n"


def test_warnings_alone_are_0_and_one_that_is_silent_3(run: Run, both: str, dead: str) -> None:
    done = run("orderConfCheck", "U", both)
    assert (done.code, len(done.out.splitlines())) == (0, 2)
    done = run("orderConfCheck", "U", both, "-n", dead)
    assert (done.code, f"name server {dead}" in done.err) == (3, True)
    assert run("orderConfCheck", "-n", dead).code == 4


def test_all_is_well(run: Run, both: str, first: FakeNameServer, second: FakeNameServer) -> None:
    first.kv = second.kv = {"ORDER_TOPIC_CONFIG": {"T": "broker-a:8"}}
    done = run("orderConfCheck", both, "--json")
    assert (done.code, done.out) == (0, "[]\n")
