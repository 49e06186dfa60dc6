"""`lab up` as a user meets it: a process that says where to go, and leaves nothing behind."""

import os
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

from namesrv_core.fleet.lab import main, parser
from namesrv_core.transport import loop
from tests.namesrv_core.fleet.running import ask, cluster_info

ROOT = Path(__file__).parents[3]
SMALL = ("--clusters", "1", "--groups", "1", "--replicas", "2", "--topics", "3")


@contextmanager
def lab(*flags: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running lab and the address it gave."""
    command = [sys.executable, "-m", "namesrv_core.fleet", "up", *SMALL, *flags]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        found = re.fullmatch(r"export NAMESRV_ADDR='(.+)'\n", child.stdout.readline())
        assert found, child.communicate()
        yield child, found[1]
    finally:
        # Not killed: its name server would be left behind.
        child.terminate()
        child.communicate(timeout=10)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_it_runs_until_it_is_told_to_stop_and_leaves_nothing(number: signal.Signals) -> None:
    with lab() as (child, address):
        assert len(loop.run(cluster_info(address))["brokerAddrTable"]["broker-a-0"]["brokerAddrs"]) == 2
        before = time.monotonic()
        child.send_signal(number)
        _, errors = child.communicate(timeout=5)
        assert (child.returncode, errors) == (0, "")
        assert time.monotonic() - before < 2
        with pytest.raises(OSError, match="refused"):
            loop.run(cluster_info(address))


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
        command = [sys.executable, "-m", "namesrv_core.fleet", "up", *SMALL, "--namesrv-port", port]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("nsadmin lab: the name server did not start: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_broker_s_port_in_use_is_one_line_that_names_it(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "namesrv_core.fleet", "up", *SMALL, "--broker-port", port]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"nsadmin lab: broker-a-0:0 cannot listen at 127.0.0.1:{port}: ")
    assert len(done.stderr.splitlines()) == 1


def test_ordered_topics_have_their_configuration_in_a_lab_with_a_name_server_of_its_own() -> None:
    with lab() as (_, address):
        ext = {"namespace": "ORDER_TOPIC_CONFIG", "key": "orders"}
        assert loop.run(ask(address, 101, ext)).ext == {"value": "broker-a-0:8"}
        loop.run(ask(address, 102, ext))
        with lab("-n", address, "--seed", "2"):
            assert loop.run(ask(address, 101, ext)).code == 22


def test_it_ends_when_its_name_server_does() -> None:
    with lab() as (child, _):
        children = Path(f"/proc/{child.pid}/task/{child.pid}/children")
        if not children.exists():
            pytest.skip("needs /proc to find the name server's process")
        os.kill(int(children.read_text().split()[0]), signal.SIGKILL)
        _, errors = child.communicate(timeout=5)
    assert child.returncode == 1
    assert "nsadmin lab: the name server ended with exit code -9" in errors


@pytest.mark.parametrize(
    "argv", [[], ["up", "--groups", "0"], ["up", "-n", "nowhere"], ["up", "--topics", "x"]]
)
def test_a_wrong_command_line_is_exit_code_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(argv)
    assert end.value.code == 2
    assert "nsadmin lab" in capsys.readouterr().err


def test_the_defaults() -> None:
    flags = parser().parse_args(["up"])
    assert (flags.clusters, flags.groups, flags.replicas, flags.topics, flags.namesrv_port) == (
        2,
        3,
        2,
        40,
        0,
    )
    assert parser().parse_args(["up", "-n", "a:1;b:2, [::1]:3"]).namesrvAddr == ["a:1", "b:2", "[::1]:3"]
