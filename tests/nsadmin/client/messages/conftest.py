"""A broker with dead letters, and a client that asks it."""

from collections.abc import Iterator

import pytest

from nsadmin import AdminClient
from tests.support.dead_letter_brokers import DEAD, RETRY, DeadLetterBroker
from tests.support.fake_servers import FakeNameServer


@pytest.fixture
def dead_letter_broker() -> Iterator[DeadLetterBroker]:
    with DeadLetterBroker() as running:
        yield running


@pytest.fixture
def admin(dead_letter_broker: DeadLetterBroker) -> Iterator[AdminClient]:
    with FakeNameServer({"C": {"broker-a": {0: dead_letter_broker.addr}}}) as server:
        server.routes = {
            topic: {"broker-a": 6} for topic in (DEAD, RETRY, "T", "U", "%DLQ%empty", "RMQ_SYS_TRACE_TOPIC")
        }
        with AdminClient(server.addr, timeout=0.5) as client:
            yield client
