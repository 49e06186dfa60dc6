"""A broker that stores what is sent to it, and commands that ask it."""

from collections.abc import Iterator

import pytest

from tests.nsadmin.conftest import CommandResult, Run
from tests.support.dead_letter_brokers import DeadLetterBroker
from tests.support.fake_servers import FakeNameServer


@pytest.fixture
def store(first_server: FakeNameServer) -> Iterator[DeadLetterBroker]:
    """The only broker that the first name server knows, with the topic T."""
    with DeadLetterBroker() as running:
        first_server.clusters = {"C": {"broker-a": {0: running.addr}}}
        first_server.routes = {"T": {"broker-a": 6}}
        yield running


@pytest.fixture
def stream(run: Run, first_server: FakeNameServer, store: DeadLetterBroker) -> Run:
    """Run a command about the messages of that broker."""

    def stream(*words: str) -> CommandResult:
        return run(*words, "-n", first_server.addr)

    return stream
