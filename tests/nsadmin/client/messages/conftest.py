"""A broker with dead letters, and a client that asks it."""

from collections.abc import Iterator

import pytest

from nsadmin import AdminClient
from tests.support.dead_letter_brokers import DEAD, RETRY, DeadLetterBroker
from tests.support.fake_servers import FakeNameServer


@pytest.fixture
def dlq() -> Iterator[DeadLetterBroker]:
    with DeadLetterBroker() as running:
        yield running


@pytest.fixture
def admin(dlq: DeadLetterBroker, request: pytest.FixtureRequest) -> Iterator[AdminClient]:
    """Its timeout is 5 s. A test that waits for it gives a shorter one."""
    with FakeNameServer({"C": {"broker-a": {0: dlq.addr}}}) as server:
        server.routes = {
            topic: {"broker-a": 6}
            for topic in (DEAD, RETRY, "T", "U", "%DLQ%empty", "RMQ_SYS_TRACE_TOPIC", "SCHEDULE_TOPIC_XXXX")
        }
        with AdminClient(server.addr, timeout=getattr(request, "param", 5)) as client:
            yield client
