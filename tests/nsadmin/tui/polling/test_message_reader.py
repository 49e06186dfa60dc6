"""Messages of a query, step by step: where reading begins and ends, what is left out, and what fails."""

import re
from collections.abc import Callable, Iterator

import pytest

from nsadmin import AdminClient
from nsadmin.client.messages.message_filter import MessageFilter
from nsadmin.client.messages.topic_follower import FROM_EARLIEST, FollowStart
from nsadmin.operations.collector.request_pace import RequestPace
from nsadmin.tui.messages.message_query import MessageQuery, MessageTools, query_topic
from nsadmin.tui.polling import message_reader
from nsadmin.tui.polling.message_reader import MessageReader
from nsadmin.tui.polling.poll_records import MessagesPolled
from nsadmin.tui.polling.server_polls import RequestStopwatch, ServerProbe
from tests.support.dead_letter_brokers import DEAD, DeadLetterBroker
from tests.support.fake_servers import FakeNameServer, answer_json, refuse_with
from tests.support.message_brokers import CREATED


@pytest.fixture
def broker() -> Iterator[DeadLetterBroker]:
    with DeadLetterBroker() as running:
        yield running


@pytest.fixture
def name_server(broker: DeadLetterBroker) -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"broker-a": {0: broker.addr}}}) as server:
        server.routes = {topic: {"broker-a": 6} for topic in (DEAD, "T")}
        yield server


@pytest.fixture
def admin(name_server: FakeNameServer) -> Iterator[AdminClient]:
    with AdminClient(name_server.addr, timeout=5) as client:
        yield client


def read_with(admin: AdminClient, query: MessageQuery, tools: MessageTools | None = None) -> MessageReader:
    return MessageReader(
        ServerProbe(admin, RequestStopwatch(), lambda: 7, RequestPace(10_000)),
        query,
        1,
        tools or MessageTools(),
    )


def read_until(reader: MessageReader, condition: Callable[[MessagesPolled], object]) -> list[MessagesPolled]:
    """All polls up to the first that meets the condition."""
    polls = []
    for _ in range(100):
        poll = reader.read_step()
        if poll is not None:
            polls.append(poll)
            if condition(poll):
                return polls
    raise AssertionError(polls[-3:])


def is_waiting(poll: MessagesPolled) -> bool:
    return poll.state == "waiting"


def list_bodies(polls: list[MessagesPolled]) -> list[bytes]:
    return [browsed.message.body for poll in polls for browsed in poll.messages]


EARLIEST = MessageQuery("T", follow_start=FROM_EARLIEST)


def test_a_tail_shows_only_messages_to_come(admin: AdminClient, broker: DeadLetterBroker) -> None:
    broker.store_message(b"old")
    reader = read_with(admin, query_topic("T"))
    assert list_bodies(read_until(reader, is_waiting)) == []
    assert reader.read_step() is None
    broker.store_message(b"new", KEYS="k1", TAGS="A")
    polls = read_until(reader, lambda poll: poll.messages)
    assert list_bodies(polls) == [b"new"]
    [browsed] = polls[-1].messages
    assert (browsed.position_text, browsed.preview, browsed.body_size) == ("broker-a/0 1", "new", 3)


def test_a_topic_that_claims_two_billion_queues_is_an_error(
    admin: AdminClient, name_server: FakeNameServer
) -> None:
    queues = {"brokerName": "broker-a", "perm": 6, "readQueueNums": 2**31 - 1, "writeQueueNums": 1}
    name_server.handlers[105] = lambda asked: answer_json(asked, {"queueDatas": [queues]})
    poll = read_with(admin, EARLIEST).read_step()
    assert poll is not None
    assert poll.state == "waiting"
    assert poll.errors == {"": "the route has 2147483647 queues, more than the 100000 that nsadmin lists"}


@pytest.mark.parametrize(
    ("query", "bodies"),
    [
        (EARLIEST, [b"0", b"1", b"2", b"3"]),
        (EARLIEST._replace(follow_start=FollowStart(offset=2), queue_id=0), [b"2", b"3"]),
        (EARLIEST._replace(follow_start=FollowStart(time_ms=CREATED + 3000)), [b"3"]),
        (EARLIEST._replace(message_filter=MessageFilter(keys=frozenset({"k2"}))), [b"2"]),
        (EARLIEST._replace(message_filter=MessageFilter(properties={"color": "red"})), [b"1"]),
        (EARLIEST._replace(message_filter=MessageFilter(body_pattern=re.compile("[03]"))), [b"0", b"3"]),
        (EARLIEST._replace(expression="A"), [b"0", b"1"]),
        (EARLIEST._replace(queue_id=5), []),
        (query_topic("T", "broker-b"), []),
    ],
)
def test_conditions_select_messages(
    admin: AdminClient, broker: DeadLetterBroker, query: MessageQuery, bodies: list[bytes]
) -> None:
    for number in range(4):
        broker.store_message(
            b"%d" % number, KEYS=f"k{number}", TAGS="AB"[number // 2], color="red" if number == 1 else ""
        )
    reader = read_with(admin, query)
    polls = read_until(reader, lambda poll: poll.state in ("waiting", "done"))
    assert list_bodies(polls) == bodies
    assert broker.sent == []


def test_a_key_is_looked_up_in_the_index_of_the_brokers(admin: AdminClient, broker: DeadLetterBroker) -> None:
    for number in range(3):
        broker.store_message(b"%d" % number, KEYS=f"k{number}")
    reader = read_with(admin, MessageQuery("T", index_key="k1"))
    assert list_bodies(read_until(reader, lambda poll: poll.state == "done")) == [b"1"]
    assert reader.read_step() is None


def test_reading_of_old_messages_stops_at_the_limit_and_continues_after_it_is_raised(
    admin: AdminClient, broker: DeadLetterBroker
) -> None:
    for number in range(70):
        broker.store_message(b"%d" % number)
    query = EARLIEST._replace(read_limit=20)
    reader = read_with(admin, query)
    polls = read_until(reader, lambda poll: poll.state == "full")
    assert list_bodies(polls) == [b"%d" % number for number in range(20)]
    assert reader.read_step() is None
    reader.raise_limit(query.read_more().read_limit)
    polls += read_until(reader, is_waiting)
    assert list_bodies(polls) == [b"%d" % number for number in range(70)]


def test_until_ends_the_reading(admin: AdminClient, broker: DeadLetterBroker) -> None:
    for number in range(4):
        broker.store_message(b"%d" % number)
    query = EARLIEST._replace(message_filter=MessageFilter(end_ms=CREATED + 1500), queue_id=0)
    polls = read_until(read_with(admin, query), lambda poll: poll.state == "done")
    assert list_bodies(polls) == [b"0", b"1"]


def test_a_broker_that_refuses_is_named_and_the_others_are_read(
    name_server: FakeNameServer, broker: DeadLetterBroker
) -> None:
    broker.store_message(b"here")
    with DeadLetterBroker() as other, AdminClient(name_server.addr, timeout=5) as admin:
        other.store_message(b"there")
        other.handlers[31] = refuse_with(2, "busy")
        name_server.clusters = {"C": {"broker-a": {0: broker.addr}, "broker-b": {0: other.addr}}}
        name_server.routes = {"T": {"broker-a": 6, "broker-b": 6}}
        polls = read_until(read_with(admin, EARLIEST), is_waiting)
    assert list_bodies(polls) == [b"here"]
    assert list(polls[-1].errors) == ["broker-b"]
    assert "busy" in polls[-1].errors["broker-b"]


def test_a_queue_that_failed_is_left_out_for_a_while(
    admin: AdminClient, broker: DeadLetterBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.store_message(b"one")
    answer_pull = broker.handlers[11]
    broker.handlers[11] = refuse_with(2, "busy")
    reader = read_with(admin, EARLIEST)
    read_until(reader, lambda poll: poll.errors)
    broker.handlers[11] = answer_pull
    assert reader.read_step() is None
    monkeypatch.setattr(message_reader, "monotonic", lambda: 1e12)
    poll = read_until(reader, lambda poll: poll.messages)[-1]
    assert poll.errors == {}


def test_a_topic_without_a_route_is_an_error_and_reading_begins_when_it_has_one(
    admin: AdminClient, name_server: FakeNameServer, broker: DeadLetterBroker
) -> None:
    reader = read_with(admin, EARLIEST._replace(topic="U"))
    poll = reader.read_step()
    assert poll is not None
    assert "U" in poll.errors[""]
    name_server.routes |= {"U": {"broker-a": 6}}
    broker.store_message(b"first", "U")
    assert list_bodies(read_until(reader, is_waiting)) == [b"first"]


def test_a_tail_skips_messages_that_it_would_drop_anyway(
    admin: AdminClient, broker: DeadLetterBroker
) -> None:
    reader = read_with(admin, query_topic("T", queue_id=0))
    read_until(reader, is_waiting)
    for number in range(2000):
        broker.store_message(b"%d" % number)
    polls = read_until(reader, lambda poll: poll.skipped)
    skipped = polls[-1].skipped
    assert skipped == 2000 - len(list_bodies(polls))
    assert polls[-1].examined == len(list_bodies(polls)) == 5 * 32
    read_until(reader, is_waiting)
    broker.store_message(b"last")
    assert list_bodies(read_until(reader, lambda poll: poll.messages)) == [b"last"]


def test_a_long_body_is_cut_and_its_size_is_known(admin: AdminClient, broker: DeadLetterBroker) -> None:
    broker.store_message(b"x" * 300_000)
    [browsed] = read_until(read_with(admin, EARLIEST), lambda poll: poll.messages)[-1].messages
    assert (len(browsed.message.body), browsed.body_size) == (message_reader.MAX_BODY_BYTES, 300_000)


def test_decoders_make_the_preview(admin: AdminClient, broker: DeadLetterBroker) -> None:
    broker.store_message(b"one")
    broker.store_message(b"two")
    tools = MessageTools(
        decode_body=lambda body, names: (
            ({"decoded": body.decode()}, None) if body == b"one" else ("", f"not {names[0]}: bad")
        )
    )
    reader = read_with(admin, EARLIEST._replace(decoders=("avro",)), tools)
    previews = [browsed.preview for poll in read_until(reader, is_waiting) for browsed in poll.messages]
    assert previews == ['{ "decoded": "one" }', "(not avro: bad)"]
