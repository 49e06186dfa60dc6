"""A broker that stores messages of any topic, and a client."""

from collections.abc import Iterator

import pytest

from nsadmin import AdminClient
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
def admin(first_server: FakeNameServer, store: DeadLetterBroker) -> Iterator[AdminClient]:
    with AdminClient(first_server.addr, timeout=5) as client:
        yield client
