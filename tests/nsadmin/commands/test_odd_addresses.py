"""Addresses that brokers registered and that are no HOST:PORT: they are shown, and end no command."""

import json
from pathlib import Path

import pytest

from nsadmin.client.connection.address_map import AddressMap
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeBroker, FakeNameServer

ADDRS = [":30971", "x", ":", "", "10.0.0.1", "a..b:1", "x" * 70 + ":1", "host:99999", "localhost", "broker-a"]
COMMANDS = """
clusterList
clusterList -m
clusterList --addressMap 10.0.0.0/8=127.0.0.1
check brokers
check all --settle 0
check clients --min-version 4.9.7
orphans
statsAll
bundle create {folder}/incident.zip
proxy list
discovery prometheus
topicRoute T
topicStatus T
route explain T
client list
configDiff
spread
haStatus -c C
whatIf --down broker-a
collect {folder}/journals --once
snapshot save {folder}/snapshot
""".strip().splitlines()


@pytest.fixture
def namesrv_addr(first_server: FakeNameServer) -> str:
    first_server.routes = {"T": {"broker-a": 6, "broker-b": 6}}
    return first_server.addr


def register(first_server: FakeNameServer, broker: FakeBroker, *odd_addrs: str) -> None:
    odd_brokers = {
        f"broker-{letter}": {0: addr} for letter, addr in zip("bcdefghijkl", odd_addrs, strict=False)
    }
    first_server.clusters = {"C": {"broker-a": {0: broker.addr}, **odd_brokers}}


@pytest.mark.parametrize("line", COMMANDS)
def test_no_command_ends_with_an_internal_error(
    line: str, run: Run, namesrv_addr: str, first_server: FakeNameServer, broker: FakeBroker, tmp_path: Path
) -> None:
    register(first_server, broker, *ADDRS)
    result = run(*line.format(folder=tmp_path).split(), "-n", namesrv_addr, "--timeout", "1")
    assert "run the command again with --debug" not in result.err
    assert result.code != 2 or line.startswith("check"), result.err


@pytest.mark.parametrize("addr", ADDRS)
def test_the_broker_is_listed_as_one_that_does_not_answer(
    addr: str, run: Run, namesrv_addr: str, first_server: FakeNameServer, broker: FakeBroker
) -> None:
    register(first_server, broker, addr)
    result = run("clusterList", "-n", namesrv_addr, "--json", "--timeout", "1")
    good_row, odd_row = json.loads(result.out)
    assert (result.code, good_row["reachable"], odd_row["reachable"]) == (3, True, False)
    assert odd_row["brokerAddr"] == (addr or ":")
    if addr not in ("a..b:1", "x" * 70 + ":1"):
        assert f'invalid address "{addr or ":"}"' in odd_row["error"]
    assert run("check", "brokers", "-n", namesrv_addr, "--timeout", "1").code == 2


def test_such_an_address_is_no_target_of_prometheus(
    run: Run, namesrv_addr: str, first_server: FakeNameServer, broker: FakeBroker
) -> None:
    register(first_server, broker, ":9000", "http://a:1")
    for port_words in ([], ["--port", "9100"]):
        groups = json.loads(run("discovery", "prometheus", "-n", namesrv_addr, *port_words).out)
        targets_by_addr = {group["labels"]["__meta_rocketmq_address"]: group["targets"] for group in groups}
        assert (targets_by_addr[":9000"], targets_by_addr["http://a:1"]) == ([], [])
        assert len(targets_by_addr[broker.addr]) == 1


def test_a_map_leaves_such_an_address_alone() -> None:
    address_map = AddressMap([("10.0.0.1", "127.0.0.1")])
    assert [address_map(addr) for addr in (":30971", "x", "", "10.0.0.1:1")] == [
        ":30971",
        "x",
        "",
        "127.0.0.1:1",
    ]
