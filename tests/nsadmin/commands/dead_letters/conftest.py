"""A broker with dead letters, and commands that ask it."""

from collections.abc import Iterator

import pytest

from tests.nsadmin.conftest import CommandResult, Run
from tests.support.dead_letter_brokers import DEAD, RETRY, DeadLetterBroker
from tests.support.fake_servers import FakeNameServer
from tests.support.message_brokers import GroupReader


@pytest.fixture
def dead_letter_broker(first_server: FakeNameServer) -> Iterator[DeadLetterBroker]:
    """The only broker that the first name server knows."""
    with DeadLetterBroker() as running:
        running.readers = {"G": GroupReader(("c1",)), "H": GroupReader(("c2",))}
        first_server.clusters = {"C": {"broker-a": {0: running.addr}}}
        first_server.routes = {topic: {"broker-a": 6} for topic in (DEAD, RETRY, "T", "%DLQ%empty")}
        yield running


@pytest.fixture
def dlq(run: Run, first_server: FakeNameServer, dead_letter_broker: DeadLetterBroker) -> Run:
    """Run a command of the group dlq, its rows in JSON."""

    def dlq(*words: str) -> CommandResult:
        return run("dlq", *words, "-n", first_server.addr, "--json")

    return dlq
