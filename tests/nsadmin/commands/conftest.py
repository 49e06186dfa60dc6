"""Two name servers and a broker, and the -n that names both; a lab, and commands about it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from tests.nsadmin.conftest import CommandResult, Run
from tests.support.lab import Lab, lab
from tests.support.message_brokers import MessageBroker
from tests.support.servers import FakeBroker, FakeNameServer, closed_port


@pytest.fixture
def broker() -> Iterator[FakeBroker]:
    with FakeBroker({"brokerVersionDesc": "V5_5_0", "putTps": "1.5 2 3"}) as running:
        yield running


@pytest.fixture
def first(broker: FakeBroker) -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"broker-a": {0: broker.addr}}}) as running:
        running.routes = {"T": {"broker-a": 7}}
        yield running


@pytest.fixture
def second(broker: FakeBroker) -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"broker-a": {0: broker.addr}}}) as running:
        running.routes = {"T": {"broker-a": 7}}
        yield running


@pytest.fixture
def both(first: FakeNameServer, second: FakeNameServer) -> str:
    return f"-n{first.addr};{second.addr}"


@pytest.fixture
def dead() -> str:
    """An address where nothing listens."""
    return f"127.0.0.1:{closed_port()}"


@pytest.fixture
def holder(holder: MessageBroker, first: FakeNameServer) -> MessageBroker:
    """The only broker that the first name server knows, with the topic T."""
    first.clusters = {"C": {"broker-a": {0: holder.addr}}}
    first.routes = {"T": {"broker-a": 6}}
    return holder


@pytest.fixture
def ask(run: Run, first: FakeNameServer, holder: MessageBroker) -> Run:
    """Run a command about messages, its rows in JSON."""

    def ask(*words: str) -> CommandResult:
        return run(*words, "-n", first.addr, "--json")

    return ask


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Lab]:
    """A name server, and two masters with a slave each."""
    with lab(tmp_path / "lab", FleetPlan(1, 2, 2, 6)) as running:
        yield running


@pytest.fixture
def do(there: Lab, run: Run) -> Run:
    """A command about the lab; what it writes is JSON."""

    def do(*words: str) -> CommandResult:
        return run(*words, "-n", there.namesrv_addr, "--json")

    return do
