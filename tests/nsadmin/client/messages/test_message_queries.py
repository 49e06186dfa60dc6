"""Messages: by key, by id, by place; what brokers give beside what was asked for is left out."""

from collections.abc import Iterator

import pytest

from namesrv_core.errors import RequestError, ResponseCode, TopicNotExist
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.messages.message_queries import END_OF_TIME_MS, FoundMessages
from tests.support.fake_servers import FakeNameServer, answer_garbage, closed_port, refuse_with
from tests.support.message_brokers import MessageBroker

KEY = "7F00000126FE7DAF6CD06917D8E20000"
"""A unique key, by its pid."""


@pytest.fixture
def first_broker(message_broker: MessageBroker) -> MessageBroker:
    return message_broker


@pytest.fixture
def second_broker() -> Iterator[MessageBroker]:
    with MessageBroker() as running:
        yield running


@pytest.fixture
def admin(first_broker: MessageBroker, second_broker: MessageBroker) -> Iterator[AdminClient]:
    groups = {"C": {"broker-a": {0: first_broker.addr}, "broker-b": {0: second_broker.addr}}}
    with FakeNameServer(groups) as server:
        server.routes = {"T": {"broker-a": 6, "broker-b": 6}, "Other": {"broker-b": 6}}
        with AdminClient(server.addr, timeout=5) as client:
            yield client


def bodies(found: FoundMessages) -> list[tuple[str | None, bytes]]:
    return [(item.broker_name, item.message.body) for item in found.messages]


def test_a_key_is_looked_for_on_every_broker_and_compared(
    admin: AdminClient, first_broker: MessageBroker, second_broker: MessageBroker
) -> None:
    second_broker.store_message(b"later", KEYS="x")
    first_broker.store_message(b"hash", KEYS="order-4712")
    first_broker.store_message(b"mine", KEYS="a order-4711 b", TAGS="A")
    second_broker.store_message(b"mine too", KEYS="order-4711")
    first_broker.store_message(b"elsewhere", "Other", KEYS="order-4711")
    matches = admin.messages.find_by_key("T", "order-4711", max_num=5, begin_ms=1, end_ms=2)
    assert bodies(matches) == [("broker-a", b"mine"), ("broker-b", b"mine too")]
    assert matches.errors == [None, None]
    assert first_broker.asked[-1].ext == {
        "topic": "T",
        "key": "order-4711",
        "maxNum": "5",
        "beginTimestamp": "1",
        "endTimestamp": "2",
        "_UNIQUE_KEY_QUERY": "false",
    }


def test_a_tag_can_be_looked_for_too(admin: AdminClient, first_broker: MessageBroker) -> None:
    first_broker.store_message(b"tagged", TAGS="A", KEYS="B")
    first_broker.store_message(b"keyed", TAGS="B", KEYS="A")
    matches = admin.messages.find_by_key("T", "A", by_tag=True, last_key="L")
    assert bodies(matches) == [("broker-a", b"tagged")]
    assert first_broker.asked[-1].ext is not None
    assert (first_broker.asked[-1].ext["indexType"], first_broker.asked[-1].ext["lastKey"]) == ("T", "L")


def test_brokers_that_fail_stand_beside_those_that_have_something(
    admin: AdminClient, first_broker: MessageBroker, second_broker: MessageBroker
) -> None:
    first_broker.store_message(b"mine", KEYS="k")
    second_broker.handlers[12] = refuse_with(1, "index is broken")
    matches = admin.messages.find_by_key("T", "k")
    assert bodies(matches) == [("broker-a", b"mine")]
    assert [str(error) for error in matches.errors] == ["None", "SYSTEM_ERROR (1): index is broken"]
    second_broker.handlers[12] = answer_garbage
    assert "another protocol" in str(admin.messages.find_by_key("T", "k").errors[1]) or matches.errors[1]


def test_bytes_that_are_no_message_are_told_and_hide_nothing(
    admin: AdminClient, first_broker: MessageBroker
) -> None:
    whole = first_broker.store_message(b"mine", KEYS="k")
    first_broker.handlers[12] = lambda asked: build_reply(asked, body=whole + b"garbage")
    matches = admin.messages.find_by_key("T", "k")
    assert bodies(matches) == [("broker-a", b"mine")]
    assert str(matches.errors[0]) == f"{first_broker.addr}: 7 bytes of the answer are not messages"


def test_the_brokers_of_another_route_may_be_asked(
    admin: AdminClient, first_broker: MessageBroker, second_broker: MessageBroker
) -> None:
    second_broker.store_message(b"lite", "Lite", KEYS="k")
    with pytest.raises(TopicNotExist):
        admin.messages.find_by_key("Lite", "k")
    assert bodies(admin.messages.find_by_key("Lite", "k", route_topic="Other")) == [("broker-b", b"lite")]
    assert first_broker.asked == []


def test_a_unique_key_finds_all_that_were_called_so(
    admin: AdminClient, first_broker: MessageBroker, second_broker: MessageBroker
) -> None:
    first_broker.store_message(b"first", UNIQ_KEY=KEY)
    second_broker.store_message(b"other", UNIQ_KEY="x", KEYS=KEY)
    second_broker.store_message(b"again", UNIQ_KEY=KEY)
    assert bodies(admin.messages.find_by_unique_key("T", KEY)) == [
        ("broker-a", b"first"),
        ("broker-b", b"again"),
    ]
    assert first_broker.asked[-1].ext is not None
    assert first_broker.asked[-1].ext["_UNIQUE_KEY_QUERY"] == "true"
    assert first_broker.asked[-1].ext["endTimestamp"] == str(END_OF_TIME_MS)


def test_an_id_of_either_kind_finds_its_message(admin: AdminClient, first_broker: MessageBroker) -> None:
    first_broker.store_message(b"before")
    first_broker.store_message(b"mine", UNIQ_KEY=KEY)
    [item] = admin.messages.find_by_id("T", KEY).messages
    assert first_broker.asked_codes() == [12]
    again = admin.messages.find_by_id("T", item.message.offset_msg_id.lower())
    assert again.messages == (item,)
    assert item.broker_name == "broker-a"
    assert first_broker.asked_codes() == [12, 33]


def test_an_offset_id_whose_broker_does_not_answer_is_looked_for_on_the_others(
    admin: AdminClient, first_broker: MessageBroker, second_broker: MessageBroker
) -> None:
    """A slave has its master's messages byte for byte."""
    port = closed_port()
    second_broker.port, real = port, second_broker.port
    second_broker.store_message(b"of the master that is gone")
    second_broker.port = real
    first_broker.store_message(b"at the same position")
    result = admin.messages.find_by_id("T", f"7F000001{port:08X}{0:016X}")
    assert bodies(result) == [("broker-b", b"of the master that is gone")]
    assert result.errors == [None, None]


def test_an_offset_id_that_nobody_has_tells_who_was_silent(
    admin: AdminClient, first_broker: MessageBroker
) -> None:
    silent = f"7F000001{closed_port():08X}{9000:016X}"
    result = admin.messages.find_by_id("T", silent)
    assert result.messages == ()
    assert [str(error).partition(": ")[2] for error in result.errors if error is not None] == [
        "connection refused, no server listens on this port"
    ]
    assert admin.messages.find_by_id("T", f"7F000001{first_broker.port:08X}{9000:016X}") == FoundMessages(
        (), admin.messages.find_by_unique_key("T", "x").broker_results
    )


def test_a_unique_key_may_look_like_an_offset_id(admin: AdminClient, first_broker: MessageBroker) -> None:
    looks_like = f"7F000001{first_broker.port:08X}{9000:016X}"
    first_broker.store_message(b"mine", UNIQ_KEY=looks_like)
    assert bodies(admin.messages.find_by_id("T", looks_like)) == [("broker-a", b"mine")]


def test_the_name_of_the_broker_is_not_worth_a_failure(
    admin: AdminClient, first_broker: MessageBroker
) -> None:
    first_broker.store_message(b"mine", "Gone")
    [item] = admin.messages.find_by_id("Gone", f"7F000001{first_broker.port:08X}{0:016X}").messages
    assert (item.broker_name, item.message.topic) == (None, "Gone")


def test_a_place_in_a_queue(admin: AdminClient, first_broker: MessageBroker) -> None:
    first_broker.store_message(b"zero", queue_id=3)
    first_broker.store_message(b"one", queue_id=3)
    item = admin.messages.get_at_offset("T", "broker-a", 3, 1)
    assert (item.broker_name, item.message.body) == ("broker-a", b"one")
    ext = first_broker.asked[-1].ext or {}
    assert (ext["consumerGroup"], ext["sysFlag"], ext["maxMsgNums"]) == ("TOOLS_CONSUMER", "4", "1")
    for offset in (2, 99):
        with pytest.raises(NotFound, match=r"queue 3 of T on broker-a: the queue has offsets 0 to 1"):
            admin.messages.get_at_offset("T", "broker-a", 3, offset)
    with pytest.raises(NotFound, match=r'not on broker "broker-x": it is on broker-a, broker-b'):
        admin.messages.get_at_offset("T", "broker-x", 3, 0)


def test_a_queue_that_the_topic_does_not_have(admin: AdminClient, first_broker: MessageBroker) -> None:
    first_broker.handlers[11] = refuse_with(29, "queueId[99] is illegal")
    with pytest.raises(NotFound, match=r"^T has no queue 99: it has queues 0 to "):
        admin.messages.get_at_offset("T", "broker-a", 99, 0)
    with pytest.raises(RequestError, match="is illegal"):
        admin.messages.get_at_offset("T", "broker-a", 0, 0)


@pytest.mark.parametrize("ext", [{"nextBeginOffset": "0"}, {"minOffset": "0", "maxOffset": "x"}])
def test_offsets_that_a_broker_does_not_say_are_not_an_empty_queue(
    admin: AdminClient, first_broker: MessageBroker, ext: dict[str, str]
) -> None:
    first_broker.handlers[11] = lambda asked: build_reply(asked, ResponseCode.PULL_NOT_FOUND, ext=ext)
    with pytest.raises(NotFound, match="the broker did not say which offsets the queue has"):
        admin.messages.get_at_offset("T", "broker-a", 0, 5)


def test_static_topics_count_by_a_delta(admin: AdminClient, first_broker: MessageBroker) -> None:
    stored = first_broker.store_message(b"zero")

    def pull(asked: RemotingCommand) -> RemotingCommand:
        return build_reply(asked, ext={"offsetDelta": "500", "nextBeginOffset": "501"}, body=stored)

    first_broker.handlers[11] = pull
    assert admin.messages.get_at_offset("T", "broker-a", 0, 500).message.queue_offset == 500
