"""discovery prometheus."""

import json

from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer


def test_name_servers_and_brokers_as_targets(run: Run) -> None:
    with FakeNameServer({"C": {"a": {0: "h:1", 1: "h:2"}}}) as server:
        groups = json.loads(run("discovery", "prometheus", "-n", server.addr).out)
        assert [group["targets"] for group in groups] == [[server.addr], ["h:1"], ["h:2"]]
        assert groups[2]["labels"]["__meta_rocketmq_broker_id"] == "1"
        groups = json.loads(run("discovery", "prometheus", "-n", server.addr, "--port", "9100").out)
        assert [group["targets"] for group in groups] == [["127.0.0.1:9100"], ["h:9100"], ["h:9100"]]


def test_without_a_name_server(run: Run) -> None:
    assert run("discovery", "prometheus", "-n", "127.0.0.1:1").code == 4
