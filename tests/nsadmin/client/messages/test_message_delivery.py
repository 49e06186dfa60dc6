"""Messages handed to a client, or sent again."""

from collections.abc import Iterator

import pytest

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.stored_messages import parse_properties
from nsadmin import AdminClient
from nsadmin.client import NotApplied, NotFound
from nsadmin.client.messages.message_delivery import DeliveryOutcome
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.client.messages.message_sender import SendQueue
from tests.support.fake_servers import FakeNameServer, refuse_with
from tests.support.message_brokers import GroupReader, MessageBroker

KEY = "7F00000126FE7DAF6CD06917D8E20000"


@pytest.fixture
def admin(first_server: FakeNameServer, message_broker: MessageBroker) -> Iterator[AdminClient]:
    first_server.clusters = {"C": {"broker-a": {0: message_broker.addr}}}
    message_broker.readers = {"G": GroupReader(("c1", "c2"))}
    with AdminClient(first_server.addr, timeout=5) as client:
        yield client


@pytest.fixture
def located_message(admin: AdminClient, message_broker: MessageBroker) -> LocatedMessage:
    fate = {"TRAN_MSG": "true", "DELAY": "3", "TIMER_DELAY_MS": "5", "RECONSUME_TIME": "2", "REAL_TOPIC": "X"}
    message_broker.store_message(b"one", "T", 3, 0, UNIQ_KEY=KEY, KEYS="k", TAGS="A", mine="1", **fate)
    [message] = admin.messages.find_by_unique_key("T", KEY).messages
    return message


def test_a_client_says_what_it_made_of_a_message(
    admin: AdminClient, message_broker: MessageBroker, located_message: LocatedMessage
) -> None:
    receiver = admin.delivery.find_receiver(located_message, "G", "c2")
    assert admin.delivery.deliver_message(receiver) == DeliveryOutcome("CR_SUCCESS", 29, None)
    [asked] = [command for command in message_broker.asked if command.code == 309]
    assert asked.ext == {
        "consumerGroup": "G", "clientId": "c2", "msgId": located_message.message.offset_msg_id, "topic": "T",
    }  # fmt: skip
    message_broker.verdict = {"consumeResult": "CR_THROW_EXCEPTION", "remark": "Oops"}
    assert admin.delivery.deliver_message(receiver) == DeliveryOutcome("CR_THROW_EXCEPTION", None, "Oops")
    message_broker.handlers[309] = refuse_with(207, "slow")
    with pytest.raises(RocketMQError, match="slow"):
        admin.delivery.deliver_message(receiver)


def test_nobody_else_is_handed_anything(
    admin: AdminClient, message_broker: MessageBroker, located_message: LocatedMessage
) -> None:
    with pytest.raises(NotFound, match=r'no client "c3" of group "G" is connected to .*: use one of c1, c2'):
        admin.delivery.find_receiver(located_message, "G", "c3")
    with pytest.raises(NotFound, match='no client of group "H" is connected to'):
        admin.delivery.find_receiver(located_message, "H", "c1")
    message_broker.readers["G"] = GroupReader(("c1",), consume_type="CONSUME_ACTIVELY")
    with pytest.raises(NotApplied, match="no push consumers"):
        admin.delivery.find_receiver(located_message, "G", "c1")
    message_broker.handlers[203] = refuse_with(1, "busy")
    with pytest.raises(RocketMQError, match="busy"):
        admin.delivery.find_receiver(located_message, "G", "c1")
    assert 309 not in message_broker.asked_codes()


def test_what_is_sent_again_has_no_past(
    admin: AdminClient, message_broker: MessageBroker, located_message: LocatedMessage
) -> None:
    place = admin.delivery.choose_resend_queue(located_message)
    assert place == SendQueue("T", "broker-a", message_broker.addr, 3)
    assert admin.delivery.resend_message(place, located_message.message).msg_id == KEY
    [sent] = message_broker.sent
    assert sent.body == b"one"
    assert parse_properties(((sent.ext or {})["i"] or "").encode()) == {
        "UNIQ_KEY": KEY, "KEYS": "k", "TAGS": "A", "mine": "1", "WAIT": "true",
    }  # fmt: skip


def test_another_queue_is_taken_where_the_first_is_gone(
    admin: AdminClient, located_message: LocatedMessage, message_broker: MessageBroker
) -> None:
    gone = located_message._replace(message=located_message.message._replace(queue_id=99))
    assert admin.delivery.choose_resend_queue(gone).queue_id < 8
    unread = located_message.message._replace(body_error="unknown compression type")
    with pytest.raises(NotApplied, match="the body of the message is malformed"):
        admin.delivery.resend_message(admin.delivery.choose_resend_queue(located_message), unread)
    assert message_broker.sent == []
