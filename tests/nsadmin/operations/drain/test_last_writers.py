"""The clients that wrote to a broker last."""

from collections.abc import Iterator

import pytest

from nsadmin import AdminClient
from nsadmin.operations.drain.last_writers import read_last_writers
from tests.support.fake_servers import closed_port, refuse_with
from tests.support.message_brokers import MessageBroker


@pytest.fixture
def broker() -> Iterator[MessageBroker]:
    with MessageBroker() as running:
        yield running


def writers(broker_addr: str, **puts: int) -> dict[str, tuple[str, ...]]:
    with AdminClient("h:1", timeout=5) as admin:
        return read_last_writers(admin, "broker-a", broker_addr, dict.fromkeys(puts, 4), puts)


def test_the_last_message_of_each_queue_has_the_writer(broker: MessageBroker) -> None:
    broker.store_message(topic="orders", __BORNHOST="before")
    broker.store_message(topic="orders", __BORNHOST="app-1")
    broker.store_message(topic="orders", queue_id=1)
    broker.store_message(topic="pay")
    assert writers(broker.addr, pay=1, orders=9, quiet=0) == {
        "orders": ("app-1 (gRPC) through 127.0.0.1", "127.0.0.1"),
        "pay": ("127.0.0.1",),
    }


def test_only_the_busiest_topics_are_read(broker: MessageBroker) -> None:
    for topic in ("a", "b", "c", "d"):
        broker.store_message(topic=topic)
    assert [*writers(broker.addr, a=1, b=2, c=3, d=4)] == ["d", "c", "b"]


def test_what_cannot_be_read_is_left_out(broker: MessageBroker) -> None:
    broker.store_message(topic="orders")
    assert writers(f"127.0.0.1:{closed_port()}", orders=1) == {}
    broker.handlers[11] = refuse_with(16, "no permission")
    assert writers(broker.addr, orders=1) == {}
