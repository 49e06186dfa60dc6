"""A broker with consumers, and a client that asks it."""

from collections.abc import Iterator

import pytest

from nsadmin import AdminClient
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeNameServer


@pytest.fixture
def consumer_broker() -> Iterator[ConsumerBroker]:
    with ConsumerBroker() as running:
        yield running


@pytest.fixture
def admin(first_server: FakeNameServer, consumer_broker: ConsumerBroker) -> Iterator[AdminClient]:
    first_server.clusters = {"C": {"broker-a": {0: consumer_broker.addr}}}
    with AdminClient(first_server.addr, timeout=5) as client:
        yield client
