"""Two name servers and brokers to ask, and a client that does."""

from collections.abc import Iterator

import pytest

from nsadmin import AdminClient
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.servers import FakeBroker, FakeNameServer


@pytest.fixture
def broker() -> Iterator[FakeBroker]:
    with FakeBroker() as running:
        yield running


@pytest.fixture
def first(broker: FakeBroker) -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"broker-a": {0: broker.addr}}}) as running:
        running.routes = {"T": {"broker-a": 6}}
        yield running


@pytest.fixture
def second(broker: FakeBroker) -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"broker-a": {0: broker.addr}}}) as running:
        running.routes = {"T": {"broker-a": 6}}
        yield running


@pytest.fixture
def consumer_broker() -> Iterator[ConsumerBroker]:
    with ConsumerBroker() as running:
        yield running


@pytest.fixture
def admin(first: FakeNameServer, consumer_broker: ConsumerBroker) -> Iterator[AdminClient]:
    first.clusters = {"C": {"broker-a": {0: consumer_broker.addr}}}
    with AdminClient(first.addr, timeout=5) as client:
        yield client
