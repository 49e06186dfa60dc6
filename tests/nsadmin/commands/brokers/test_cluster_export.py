"""exportConfigs, exportMetadata, exportMetrics, in a lab and where brokers are dead."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeBroker, FakeNameServer, closed_port
from tests.support.lab import Lab, start_lab


@pytest.fixture(scope="module")
def running_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start_lab(Path(tmp_path_factory.mktemp("lab"))) as there:
        yield there


@pytest.mark.parametrize(
    ("command", "file", "key"),
    [
        ("exportConfigs", "configs.json", "brokerConfigs"),
        ("exportMetadata", "metadata.json", "topicConfigTable"),
        ("exportMetrics", "metrics.json", "evaluateReport"),
    ],
)
def test_to_standard_output_or_into_a_folder_the_same(
    run: Run, running_lab: Lab, tmp_path: Path, command: str, file: str, key: str
) -> None:
    printed = run(command, "cluster-a", "-n", running_lab.namesrv_addr)
    assert printed.code == 0
    result = run(
        command, "-c", "cluster-a", "-f", str(tmp_path / "out"), "-n", running_lab.namesrv_addr, "--json"
    )
    [row] = json.loads(result.out)
    written = tmp_path / "out" / file
    assert (result.code, row["file"], row["size"]) == (0, str(written), written.stat().st_size)
    assert set(json.loads(printed.out)[key]) == set(json.loads(written.read_text())[key])
    assert run(command, "cluster-x", "-n", running_lab.namesrv_addr).code == 5


def test_a_process_with_two_names_is_exported_once(
    run: Run, first_server: FakeNameServer, broker: FakeBroker
) -> None:
    broker.settings["brokerName"] = "b"
    first_server.clusters = {"C": {"a": {0: broker.addr}, "b": {0: broker.addr}}}
    result = run("exportConfigs", "C", "--all", "-n", first_server.addr)
    assert result.err == f"nsadmin: a and b are one process, at {broker.addr}: exported once, as a\n"
    assert set(json.loads(result.out)["brokerConfigs"]) == {"a"}


def test_one_table_of_one_broker_has_a_file_of_its_own(run: Run, running_lab: Lab, tmp_path: Path) -> None:
    addr = running_lab.brokers["broker-a-0", 0]
    for flag, name, table in (
        ("-t", "topic.json", "topicConfigTable"),
        ("-g", "subscriptionGroup.json", "subscriptionGroupTable"),
    ):
        assert run("exportMetadata", "-b", addr, flag, "-f", str(tmp_path)).code == 0
        assert set(json.loads((tmp_path / name).read_text())) == {table, "exportTime"}


def test_several_brokers_or_all_are_one_document(run: Run, running_lab: Lab) -> None:
    def tables_of(brokers: str) -> dict[str, Any]:
        document = json.loads(run("exportMetadata", "-b", brokers, "-n", running_lab.namesrv_addr).out)
        return {name: table for name, table in document.items() if name != "exportTime"}

    one, other = tables_of("broker-a-0"), tables_of("broker-a-1")
    both = tables_of("broker-a-0,broker-a-1")
    assert set(one["topicConfigTable"]) != set(other["topicConfigTable"])
    assert set(both["topicConfigTable"]) == set(one["topicConfigTable"]) | set(other["topicConfigTable"])
    assert set(both["topicConfigTable"]) < set(tables_of("*")["topicConfigTable"])


def test_what_was_exported_is_what_is_there(run: Run, running_lab: Lab, tmp_path: Path) -> None:
    addr = running_lab.brokers["broker-a-0", 0]
    assert run("exportMetadata", "-b", addr, "-t", "-f", str(tmp_path)).code == 0
    server = running_lab.namesrv_addr
    result = run("updateTopicList", str(tmp_path / "topic.json"), "-b", addr, "-n", server, "-y", "--json")
    assert (result.code, {row["result"] for row in json.loads(result.out)}) == (0, {"unchanged"})


def test_brokers_that_are_unlike_are_told_and_summed_up_only_if_wanted(run: Run, running_lab: Lab) -> None:
    server, addr = running_lab.namesrv_addr, running_lab.brokers["broker-a-0", 0]
    assert run("updateTopic", "uneven", "-b", addr, "-r", "2", "-w", "2", "-n", server, "-y").code == 0
    result = run("exportMetadata", "cluster-a", "-n", server)
    assert (
        "brokers have different settings, see perBroker: accounts, clicks, coupons-created, "
        "customers-archived, invoices, sessions-updated, uneven"
    ) in result.err
    assert "uneven" in result.err
    assert (
        json.loads(result.out)["perBroker"]["topicConfigTable"]["uneven"]["broker-a-0"]["readQueueNums"] == 2
    )
    orders = json.loads(result.out)["topicConfigTable"]["orders"]["readQueueNums"]
    summed = json.loads(run("exportMetadata", "cluster-a", "--sum", "-n", server).out)
    assert summed["topicConfigTable"]["orders"]["readQueueNums"] > orders


def test_a_dead_broker_is_named_and_a_folder_that_cannot_be_is_one_line(
    run: Run, running_lab: Lab, dead_addr: str, tmp_path: Path
) -> None:
    alive = running_lab.brokers["broker-a-0", 0]
    other_addr = f"127.0.0.1:{closed_port()}"
    with FakeNameServer(
        {"C": {"a": {0: alive}, "b": {0: dead_addr}, "c": {1: other_addr}}, "D": {"b": {0: dead_addr}}}
    ) as server:
        result = run("exportConfigs", "C", "-n", server.addr)
        assert "pass --all for all settings" in result.err
        assert result.code == 3
        assert "broker b: " in result.err
        assert "broker c: this broker has no master now" in result.err
        assert set(json.loads(result.out)["brokerConfigs"]) == {"a"}
        assert run("exportMetrics", "C", "-n", server.addr, "-f", str(tmp_path), "--json").code == 3
        assert run("exportConfigs", "D", "-n", server.addr, "-f", str(tmp_path / "no")).code == 4
        assert not (tmp_path / "no").exists()
    (tmp_path / "file").touch()
    result = run(
        "exportConfigs", "cluster-a", "--all", "-f", str(tmp_path / "file"), "-n", running_lab.namesrv_addr
    )
    assert (result.code, result.err.count("\n")) == (2, 1)


def test_neither_or_both_of_cluster_and_broker_is_a_mistake(run: Run) -> None:
    assert run("exportMetadata").code == run("exportMetadata", "C", "-b", "h:1").code == 2
