"""Two name servers and a broker to ask."""

from collections.abc import Iterator

import pytest

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
