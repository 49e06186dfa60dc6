"""`lab up` as a user meets it: a process that says where to go, and leaves nothing behind."""

import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from namesrv_core.storage.journal import reader
from namesrv_core.transport import event_loop
from tests.namesrv_core.fleet.running import ask, cluster_info

ROOT = Path(__file__).parents[3]
SMALL = ("--clusters", "1", "--groups", "1", "--replicas", "2", "--topics", "3")


@contextmanager
def lab(*flags: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running lab and the address it gave."""
    command = [sys.executable, "-m", "nsadmin", "lab", "up", *SMALL, *flags]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        export_match = re.fullmatch(r"export NAMESRV_ADDR='(.+)'\n", child.stdout.readline())
        assert export_match, child.communicate()
        yield child, export_match[1]
    finally:
        child.terminate()
        child.communicate(timeout=10)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_it_runs_until_it_is_told_to_stop_and_leaves_nothing(number: signal.Signals) -> None:
    with lab() as (child, address):
        assert (
            len(
                event_loop.run_coroutine(cluster_info(address))["brokerAddrTable"]["broker-a-0"][
                    "brokerAddrs"
                ]
            )
            == 2
        )
        child.send_signal(number)
        _, errors = child.communicate(timeout=30)
        assert (child.returncode, errors) == (0, "")
        with pytest.raises(OSError, match="refused"):
            event_loop.run_coroutine(cluster_info(address))


def test_it_joins_name_servers_that_are_there() -> None:
    with lab() as (_, address), lab("-n", f"{address};127.0.0.1:1", "--seed", "2") as (other, given):
        assert given == f"{address};127.0.0.1:1"
        other.send_signal(signal.SIGTERM)
        _, errors = other.communicate(timeout=5)
        assert other.returncode == 0
        assert "127.0.0.1:1" in errors


def test_a_port_in_use_is_one_line_and_exit_code_1() -> None:
    with lab() as (_, address):
        port = address.rpartition(":")[2]
        command = [sys.executable, "-m", "nsadmin", "lab", "up", *SMALL, "--namesrv-port", port]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(f"nsadmin: ns-1 cannot listen at 127.0.0.1:{port}: ")
    assert result.stderr.endswith(": pass another --namesrv-port, or omit it for free ports\n")
    assert len(result.stderr.splitlines()) == 1


def test_a_broker_s_port_in_use_is_one_line_that_names_it(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "nsadmin", "lab", "up", *SMALL, "--broker-port", port]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(f"nsadmin: broker-a-0:0 cannot listen at 127.0.0.1:{port}: ")
    assert result.stderr.endswith(": pass another --broker-port, or omit it for free ports\n")
    assert len(result.stderr.splitlines()) == 1


def test_ordered_topics_have_their_configuration_in_a_lab_with_a_name_server_of_its_own() -> None:
    with lab() as (_, address):
        ext = {"namespace": "ORDER_TOPIC_CONFIG", "key": "orders"}
        assert event_loop.run_coroutine(ask(address, 101, ext)).ext == {"value": "broker-a-0:8"}
        event_loop.run_coroutine(ask(address, 102, ext))
        with lab("-n", address, "--seed", "2"):
            assert event_loop.run_coroutine(ask(address, 101, ext)).code == 22


def test_one_that_is_killed_leaves_nothing_behind() -> None:
    with lab() as (child, address):
        child.kill()
        child.communicate(timeout=5)
        with pytest.raises(OSError, match="refused"):
            event_loop.run_coroutine(cluster_info(address))


def test_several_name_servers_know_the_same_brokers_and_keep_journals(tmp_path: Path) -> None:
    with lab("--namesrvs", "2", "--dir", str(tmp_path)) as (_, addresses):
        first, second = addresses.split(";")
        assert event_loop.run_coroutine(cluster_info(first)) == event_loop.run_coroutine(cluster_info(second))
    for name in ("ns-1", "ns-2"):
        records = list(reader.read_records(tmp_path / name / "journal"))
        assert [record.event_type for record in records].count("BrokerRegistered") == 2
        assert (records[-1].event_type, records[-1].server_name) == ("ServerStopping", name)


def test_a_scenario_goes_on_while_one_looks_at_it(tmp_path: Path) -> None:
    scenario = tmp_path / "mine.yaml"
    scenario.write_text(
        "namesrvs: 1\nfleet: {clusters: 1, groups: 1, replicas: 2, topics: 2}\n"
        "faults: [{at: 30s, fault: kill, brokers: 'broker-a-0:0'}]\n"
    )
    command = [sys.executable, "-m", "nsadmin", "lab", "up", "--scenario", str(scenario), "--speed", "max"]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        address = child.stdout.readline().split("'")[1]
        while (
            len(
                event_loop.run_coroutine(cluster_info(address))["brokerAddrTable"]["broker-a-0"][
                    "brokerAddrs"
                ]
            )
            > 1
        ):
            time.sleep(0.01)
    finally:
        child.terminate()
        child.communicate(timeout=10)
