"""Sending: where to, as what, and what the broker said."""

from collections.abc import Iterator

import pytest

from namesrv_core.errors import RequestError
from namesrv_core.protocol.message_ids import UniqueKey, parse_message_id
from namesrv_core.protocol.stored_messages import parse_properties
from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.messages.message_sender import SendQueue
from nsadmin.client.messages.message_traces import TRACE_TOPIC
from tests.support.clock import set_calls_clock
from tests.support.fake_servers import FakeNameServer, answer_nothing, refuse_with
from tests.support.message_brokers import MessageBroker

CAUSE = "`nsadmin route explain T` finds the cause and the remedy"


@pytest.fixture
def admin(message_broker: MessageBroker) -> Iterator[AdminClient]:
    groups = {"C": {"broker-a": {0: message_broker.addr}, "broker-b": {1: "h:1"}, "broker-c": {0: "h:2"}}}
    with FakeNameServer(groups) as server:
        server.routes = {"T": {"broker-a": 6, "broker-b": 6, "broker-c": 4}, TRACE_TOPIC: {"broker-a": 6}}
        with AdminClient(server.addr, timeout=5) as client:
            yield client


def test_any_queue_that_can_be_written_to(admin: AdminClient, message_broker: MessageBroker) -> None:
    """Neither broker-b, which has no master, nor broker-c, which is read only."""
    places = {admin.message_sender.choose_queue("T") for _ in range(30)}
    assert {(place.broker_name, place.broker_addr) for place in places} == {("broker-a", message_broker.addr)}
    assert {place.queue_id for place in places} <= set(range(8))
    assert len(places) > 1
    assert admin.message_sender.choose_queue("T", "broker-a", 7) == SendQueue(
        "T", "broker-a", message_broker.addr, 7
    )


@pytest.mark.parametrize(
    ("name", "queue", "text"),
    [
        ("broker-x", None, 'T is not on broker "broker-x"'),
        ("broker-b", None, "T has no writable queue on broker-b: " + CAUSE),
        ("broker-c", None, "T has no writable queue on broker-c: " + CAUSE),
        ("broker-a", 8, "T has no write queue 8 on broker-a: it has 8, counted from 0"),
    ],
)
def test_no_place_to_send_to(name: str, queue: int | None, text: str) -> None:
    groups = {"C": {"broker-a": {0: "h:0"}, "broker-b": {1: "h:1"}, "broker-c": {0: "h:2"}}}
    with FakeNameServer(groups) as server:
        server.routes = {"T": {"broker-a": 6, "broker-b": 6, "broker-c": 4}}
        with AdminClient(server.addr, timeout=5) as admin, pytest.raises(NotFound) as caught:
            admin.message_sender.choose_queue("T", name, queue)
    assert str(caught.value) == text


def test_what_is_sent(admin: AdminClient, message_broker: MessageBroker) -> None:
    place = admin.message_sender.choose_queue("T", "broker-a", 3)
    sent = admin.message_sender.send_message(place, b" hello ", keys="a b", tags="A", properties={"x": "y"})
    [asked] = message_broker.sent
    ext = dict(asked.ext or {})
    assert parse_properties((ext.pop("i") or "").encode()) == {
        "KEYS": "a b", "TAGS": "A", "UNIQ_KEY": sent.msg_id, "WAIT": "true", "x": "y"
    }  # fmt: skip
    assert int(ext.pop("g") or 0) > 1_700_000_000_000
    assert ext == {
        "a": "TOOLS_PRODUCER", "b": "T", "c": "T", "d": "4", "e": "3", "f": "0", "h": "0", "j": "0",
        "k": "false", "m": "false", "n": "broker-a",
    }  # fmt: skip
    assert asked.body == b" hello "
    assert (sent.send_queue, sent.queue_offset) == (place, 7)
    assert isinstance(parse_message_id(sent.msg_id), UniqueKey)


def test_each_message_has_an_id_of_its_own(admin: AdminClient) -> None:
    place = admin.message_sender.choose_queue("T")
    assert len({admin.message_sender.send_message(place, b"x").msg_id for _ in range(5)}) == 5


def test_a_refusal_and_a_message_that_is_less_safe_than_it_should_be(
    admin: AdminClient, message_broker: MessageBroker
) -> None:
    place = admin.message_sender.choose_queue("T")
    message_broker.handlers[310] = refuse_with(17, "topic[T] not exist")
    with pytest.raises(RequestError, match=r"topic\[T\] not exist"):
        admin.message_sender.send_message(place, b"x")
    message_broker.handlers[310] = refuse_with(12, "")
    with pytest.raises(
        RequestError, match=r"FLUSH_SLAVE_TIMEOUT \(12\): the message is stored as 7F000001.*less safely"
    ):
        admin.message_sender.send_message(place, b"x")
    with pytest.raises(ValueError, match="cannot contain"):
        admin.message_sender.send_message(place, b"x", keys="a\x02b")


def test_silence_may_mean_that_it_was_stored(
    message_broker: MessageBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    message_broker.handlers[310] = answer_nothing
    set_calls_clock(monkeypatch, lambda: len(message_broker.asked))
    with (
        AdminClient("127.0.0.1:1", timeout=0.2) as admin,
        pytest.raises(Exception, match="the change is possibly done"),
    ):
        admin.message_sender.send_message(SendQueue("T", "broker-a", message_broker.addr, 0), b"x")


def test_a_trace_of_what_was_sent(admin: AdminClient, message_broker: MessageBroker) -> None:
    sent = admin.message_sender.send_message(admin.message_sender.choose_queue("T", "broker-a", 0), b"x")
    admin.message_sender.send_trace(sent, 1, message_keys="k", message_tags="A", began_ms=5, cost_ms=6)
    _, asked = message_broker.sent
    assert (asked.ext or {})["b"] == TRACE_TOPIC
    assert parse_properties(((asked.ext or {})["i"] or "").encode())["KEYS"] == f"{sent.msg_id} k"
    assert asked.body.decode().split("\x01") == [
        "Pub", "5", "DefaultRegion", "TOOLS_PRODUCER", "T", sent.msg_id, "A", "k", message_broker.addr, "1",
        "6", "0", sent.offset_msg_id, "true\x02",
    ]  # fmt: skip


def test_all_queues_that_can_be_written_to(admin: AdminClient, message_broker: MessageBroker) -> None:
    assert admin.message_sender.list_queues("T") == [
        SendQueue("T", "broker-a", message_broker.addr, queue) for queue in range(8)
    ]
    with FakeNameServer({"C": {"broker-c": {0: "h:2"}}}) as server:
        server.routes = {"T": {"broker-c": 4}}
        with AdminClient(server.addr, timeout=5) as other, pytest.raises(NotFound, match="no writable queue"):
            other.message_sender.list_queues("T")
