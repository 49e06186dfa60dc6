"""Two name servers and a broker, and the -n that names both; a lab, and commands about it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from tests.nsadmin.conftest import CommandResult, Run
from tests.support.fake_servers import FakeBroker, FakeNameServer, closed_port
from tests.support.lab import Lab, start_lab
from tests.support.message_brokers import MessageBroker


@pytest.fixture
def broker() -> Iterator[FakeBroker]:
    with FakeBroker({"brokerVersionDesc": "V5_5_0", "putTps": "1.5 2 3"}) as running:
        yield running


@pytest.fixture
def first_server(broker: FakeBroker) -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"broker-a": {0: broker.addr}}}) as running:
        running.routes = {"T": {"broker-a": 7}}
        yield running


@pytest.fixture
def second_server(broker: FakeBroker) -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"broker-a": {0: broker.addr}}}) as running:
        running.routes = {"T": {"broker-a": 7}}
        yield running


@pytest.fixture
def both_servers(first_server: FakeNameServer, second_server: FakeNameServer) -> str:
    return f"-n{first_server.addr};{second_server.addr}"


@pytest.fixture
def ask(run: Run, first_server: FakeNameServer, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command about the first name server."""
    monkeypatch.setenv("NAMESRV_ADDR", first_server.addr)
    return run


@pytest.fixture
def dead_addr() -> str:
    """An address where nothing listens."""
    return f"127.0.0.1:{closed_port()}"


@pytest.fixture
def message_broker(message_broker: MessageBroker, first_server: FakeNameServer) -> MessageBroker:
    """The only broker that the first name server knows, with the topic T."""
    first_server.clusters = {"C": {"broker-a": {0: message_broker.addr}}}
    first_server.routes = {"T": {"broker-a": 6}}
    return message_broker


@pytest.fixture
def run_json(run: Run, first_server: FakeNameServer, message_broker: MessageBroker) -> Run:
    """Run a command about messages, its rows in JSON."""

    def run_json(*words: str) -> CommandResult:
        return run(*words, "-n", first_server.addr, "--json")

    return run_json


@pytest.fixture
def running_lab(tmp_path: Path) -> Iterator[Lab]:
    """A name server, and two masters with a slave each."""
    with start_lab(tmp_path / "lab", FleetPlan(1, 2, 2, 6)) as running:
        yield running


@pytest.fixture
def run_on_lab(running_lab: Lab, run: Run) -> Run:
    """A command about the lab; what it writes is JSON."""

    def run_on_lab(*words: str) -> CommandResult:
        return run(*words, "-n", running_lab.namesrv_addr, "--json")

    return run_on_lab
