"""Whether moved offsets hold after clients committed theirs."""

from collections.abc import Iterator

import pytest

from nsadmin import AdminClient
from nsadmin.client import NotApplied
from nsadmin.client.consumers.offset_plans import OffsetMove
from nsadmin.client.message_queues import MessageQueue
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import answer_json, refuse_with


@pytest.fixture
def broker() -> Iterator[ConsumerBroker]:
    with ConsumerBroker() as running:
        yield running


def verify(broker: ConsumerBroker, old: int | None, new: int, result: str = "done") -> OffsetMove:
    move = OffsetMove(broker.addr, MessageQueue("T", "broker-a", 0), old, new, result, None)
    with AdminClient("h:1", timeout=5) as admin:
        [verified] = admin.offsets.verify_moves("G", [move])
    return verified


@pytest.mark.parametrize(
    ("old", "new", "current", "result"),
    [
        (20, 50, 50, "done"),
        (20, 50, 57, "done"),
        (20, 50, 21, "failed"),
        (20, 15, 15, "done"),
        (20, 15, 19, "done"),
        (20, 15, 14, "failed"),
        (20, 15, 20, "failed"),
        (None, 15, 15, "done"),
    ],
)
def test_a_move_holds_between_its_target_and_where_the_group_was(
    broker: ConsumerBroker, old: int | None, new: int, current: int, result: str
) -> None:
    broker.offsets["G", "T", 0] = current
    verified = verify(broker, old, new)
    assert verified.result == result
    assert isinstance(verified.error, NotApplied) == (result == "failed")


def test_deliveries_prove_that_messages_were_consumed_again(broker: ConsumerBroker) -> None:
    broker.offsets["G", "T", 0] = 20
    broker.handlers[315] = lambda asked: answer_json(asked, {"statsMinute": {"sum": 5}})
    assert verify(broker, 20, 15).result == "done"
    assert verify(broker, 20, 14).result == "failed"
    broker.handlers[315] = refuse_with(1, "The stats <GROUP_GET_NUMS> <T@G> not exist")
    assert verify(broker, 20, 15).result == "failed"


def test_a_pending_move_stays_pending_until_the_clients_carry_it_out(broker: ConsumerBroker) -> None:
    broker.offsets["G", "T", 0] = 20
    broker.handlers[315] = lambda asked: answer_json(asked, {"statsMinute": {"sum": 500}})
    assert verify(broker, 20, 15, "pending").result == "pending"
    assert verify(broker, 20, 50, "pending").result == "pending"
    broker.offsets["G", "T", 0] = 50
    assert verify(broker, 20, 50, "pending").result == "done"


def test_moves_that_failed_or_were_kept_are_not_read_again(broker: ConsumerBroker) -> None:
    assert verify(broker, 20, 20, "kept").result == "kept"
    assert broker.asked == []
