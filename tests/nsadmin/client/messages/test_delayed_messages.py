"""Messages for later delivery, as two kinds of queues have them."""

from base64 import urlsafe_b64decode

import pytest

from namesrv_core.errors import RequestError, TopicNotExist
from namesrv_core.protocol.command import build_reply
from namesrv_core.protocol.stored_messages import decode_messages
from nsadmin import AdminClient
from nsadmin.client import NotApplied, NotFound
from nsadmin.client.messages.delayed_messages import (
    DEFAULT_DELAY_LEVELS,
    LEVEL_TOPIC,
    TIMER_TOPIC,
    DelayedMessage,
    build_recall_handle,
    parse_delay_levels,
    select_timed,
)
from nsadmin.client.messages.message_queries import LocatedMessage
from tests.support.dead_letter_brokers import DeadLetterBroker
from tests.support.fake_servers import FakeNameServer, refuse_with
from tests.support.message_brokers import CREATED
from tests.support.messages import encode_message

NOW = CREATED + 5000


def timed(**table: str) -> LocatedMessage:
    [message] = decode_messages(encode_message(b"x", TIMER_TOPIC, table=table)).messages
    return LocatedMessage("broker-a", message)


def test_levels_are_those_of_the_setting() -> None:
    assert parse_delay_levels("1s 2m 3h 1d") == [1000, 120_000, 10_800_000, 86_400_000]
    assert len(parse_delay_levels(DEFAULT_DELAY_LEVELS)) == 18


def test_a_timed_message_is_listed_once_until_it_is_due() -> None:
    future, past = str(NOW + 1000), str(NOW)
    messages = [
        timed(REAL_TOPIC="T", UNIQ_KEY="A", TIMER_OUT_MS=future),
        timed(REAL_TOPIC="T", UNIQ_KEY="A", TIMER_OUT_MS=future),
        timed(REAL_TOPIC="T", UNIQ_KEY="B", TIMER_OUT_MS=past),
        timed(REAL_TOPIC="U", UNIQ_KEY="C", TIMER_OUT_MS=future),
        timed(REAL_TOPIC="T", UNIQ_KEY="D", TIMER_OUT_MS=future),
        timed(REAL_TOPIC="T", UNIQ_KEY="E", TIMER_OUT_MS=future, TIMER_DEL_UNIQKEY="D"),
        timed(REAL_TOPIC="T", UNIQ_KEY="F", TIMER_OUT_MS=future),
        timed(REAL_TOPIC="T", UNIQ_KEY="G", TIMER_OUT_MS=future, TIMER_DEL_UNIQKEY="T_F"),
    ]
    timed_messages = select_timed("T", messages, NOW)
    assert [(item.located_message.message.msg_id, item.is_cancelled) for item in timed_messages] == [
        ("A", False),
        ("D", True),
        ("F", True),
    ]


def test_both_kinds_are_listed_in_the_order_of_delivery(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    dlq.handlers[26] = lambda asked: build_reply(asked, body=b"messageDelayLevel=1s 10s\n")
    dlq.store_message(b"delivered", LEVEL_TOPIC, 0, 0, REAL_TOPIC="T", UNIQ_KEY="A")
    dlq.store_message(b"later", LEVEL_TOPIC, 1, 0, REAL_TOPIC="T", UNIQ_KEY="B")
    dlq.store_message(b"other", LEVEL_TOPIC, 1, 0, REAL_TOPIC="U", UNIQ_KEY="C")
    dlq.store_message(b"timed", TIMER_TOPIC, 0, 0, REAL_TOPIC="T", UNIQ_KEY="D", TIMER_OUT_MS=str(NOW + 1))
    pending, errors = admin.delayed_messages.list_pending("T", NOW)
    assert errors == {}
    assert [
        (item.located_message.message.body, item.deliver_ms, item.delay_level, item.topic) for item in pending
    ] == [(b"timed", NOW + 1, None, "T"), (b"later", CREATED + 10_000, 2, "T")]


def test_all_topics_are_listed_without_those_of_the_broker(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    dlq.handlers[26] = lambda asked: build_reply(asked, body=b"messageDelayLevel=1s 10s\n")
    dlq.store_message(b"late", TIMER_TOPIC, 0, 0, REAL_TOPIC="T", UNIQ_KEY="A", TIMER_OUT_MS=str(NOW + 9))
    dlq.store_message(b"soon", TIMER_TOPIC, 0, 1, REAL_TOPIC="T", UNIQ_KEY="B", TIMER_OUT_MS=str(NOW + 1))
    dlq.store_message(b"", TIMER_TOPIC, 0, 2, REAL_TOPIC="rmq_sys_X", UNIQ_KEY="C", TIMER_OUT_MS=str(NOW + 9))
    dlq.store_message(b"other", LEVEL_TOPIC, 1, 0, REAL_TOPIC="S", UNIQ_KEY="D")
    pending, errors = admin.delayed_messages.list_pending(None, NOW)
    assert errors == {}
    assert [item.located_message.message.body for item in pending] == [b"other", b"soon", b"late"]


def test_without_a_broker_no_topic_of_the_broker_is_named() -> None:
    with FakeNameServer({}) as server, AdminClient(server.addr, timeout=5) as admin:
        with pytest.raises(NotFound, match="no broker is registered"):
            admin.delayed_messages.list_pending(None, NOW)
        with pytest.raises(TopicNotExist):
            admin.delayed_messages.list_pending("T", NOW)


def test_a_broker_that_refuses_is_an_error(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    dlq.handlers[26] = refuse_with(16, "no permission")
    pending, errors = admin.delayed_messages.list_pending("T", NOW)
    assert (pending, list(errors)) == ([], ["broker-a"])


def test_the_handle_is_that_of_the_producer() -> None:
    message = DelayedMessage(timed(REAL_TOPIC="T", UNIQ_KEY="A"), 1_795_519_631_000, None)
    assert urlsafe_b64decode(build_recall_handle(message)) == b"v1 T broker-a 1795519631001 A"


def test_only_a_timed_message_can_be_cancelled(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    message = DelayedMessage(timed(REAL_TOPIC="T", UNIQ_KEY="A"), NOW, None)
    with pytest.raises(NotApplied, match="delayed by a level"):
        admin.delayed_messages.cancel_message(message._replace(delay_level=3), dlq.addr)
    with pytest.raises(NotApplied, match="cancelled already"):
        admin.delayed_messages.cancel_message(message._replace(is_cancelled=True), dlq.addr)
    with pytest.raises(RequestError, match="not supported"):
        admin.delayed_messages.cancel_message(message, dlq.addr)
    dlq.handlers[370] = build_reply
    admin.delayed_messages.cancel_message(message, dlq.addr)
    assert (dlq.asked[-1].ext or {})["recallHandle"] == build_recall_handle(message)
