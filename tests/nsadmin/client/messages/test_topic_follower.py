"""A follower: where it begins, what it reads on, and what it survives."""

import pytest

from namesrv_core.errors import TopicNotExist
from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.messages.topic_follower import FollowStart, TopicFollower
from tests.support.dead_letter_brokers import DeadLetterBroker
from tests.support.fake_servers import refuse_with
from tests.support.message_brokers import CREATED


def read_bodies(follower: TopicFollower) -> list[bytes]:
    return [message.body for page in follower.poll_queues() for message in page.messages]


@pytest.mark.parametrize(
    ("start", "bodies"),
    [
        (FollowStart(), [b"0", b"1", b"2", b"3"]),
        (FollowStart(offset=3), [b"3"]),
        (FollowStart(offset=9), []),
        (FollowStart(is_latest=True), []),
        (FollowStart(time_ms=CREATED + 2000), [b"2", b"3"]),
    ],
)
def test_where_it_begins(
    admin: AdminClient, dlq: DeadLetterBroker, start: FollowStart, bodies: list[bytes]
) -> None:
    for number in range(4):
        dlq.store_message(b"%d" % number)
    assert read_bodies(admin.message_streams.open_follower("T", start)) == bodies


def test_it_reads_what_comes_page_by_page(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    follower = admin.message_streams.open_follower("T", FollowStart(is_latest=True))
    assert follower.poll_queues() == []
    for number in range(40):
        dlq.store_message(b"%d" % number)
    assert [len(read_bodies(follower)) for _ in range(3)] == [32, 8, 0]
    assert follower.get_position("broker-a", 0) == 40
    assert follower.find_ends()["broker-a", 0] == 40
    assert set(follower.list_queues()) == set(follower.find_ends())


def test_a_queue_that_appears_later_is_read_from_its_beginning(
    admin: AdminClient, dlq: DeadLetterBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nsadmin.client.messages.topic_follower._ROUTE_PERIOD_SECONDS", 0.0)
    get_route = admin.topics.get_route
    with monkeypatch.context() as patch:
        one_queue = get_route("T").queues[0]._replace(read_queue_nums=1)
        patch.setattr(admin.topics, "get_route", lambda topic: get_route(topic)._replace(queues=(one_queue,)))
        follower = admin.message_streams.open_follower("T", FollowStart(is_latest=True))
        assert follower.poll_queues() == []
    dlq.store_message(b"new", queue_id=5)
    assert read_bodies(follower) == [b"new"]


def test_an_error_is_a_page_and_the_next_poll_tries_again(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    dlq.store_message(b"one")
    known = dlq.handlers[31]
    dlq.handlers[31] = refuse_with(2, "busy")
    follower = admin.message_streams.open_follower("T", queue_id=0)
    [page] = follower.poll_queues()
    assert (page.broker_name, page.queue_id, page.messages, page.error is not None) == (
        "broker-a",
        0,
        (),
        True,
    )
    dlq.handlers[31] = known
    dlq.hang_up()
    assert read_bodies(follower) == [b"one"]


def test_a_route_that_is_gone_leaves_the_queues(
    admin: AdminClient, dlq: DeadLetterBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nsadmin.client.messages.topic_follower._ROUTE_PERIOD_SECONDS", 0.0)
    follower = admin.message_streams.open_follower("T")

    def fail(topic: str) -> None:
        raise TopicNotExist(topic)

    monkeypatch.setattr(admin.topics, "get_route", fail)
    dlq.store_message(b"one")
    assert read_bodies(follower) == [b"one"]
    with pytest.raises(TopicNotExist):
        admin.message_streams.open_follower("T")


def test_a_broker_that_left_the_route_is_an_error_without_requests_until_it_is_back(
    admin: AdminClient, dlq: DeadLetterBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nsadmin.client.messages.topic_follower._ROUTE_PERIOD_SECONDS", 0.0)
    follower = admin.message_streams.open_follower("T", queue_id=0)
    dlq.store_message(b"one")
    assert read_bodies(follower) == [b"one"]
    get_route = admin.topics.get_route
    with monkeypatch.context() as patch:
        others = (get_route("T").queues[0]._replace(broker_name="broker-z", read_queue_nums=0),)
        patch.setattr(admin.topics, "get_route", lambda topic: get_route(topic)._replace(queues=others))
        begun = len(dlq.asked)
        for _ in range(2):
            [page] = follower.poll_queues()
            assert str(page.error) == "broker-a has no queue 0 of T now"
        assert (len(dlq.asked), follower.find_ends()) == (begun, {})
    dlq.store_message(b"two")
    assert read_bodies(follower) == [b"two"]


def test_messages_that_were_deleted_before_are_counted(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    for number in range(10):
        dlq.store_message(b"%d" % number)
    follower = admin.message_streams.open_follower("T", FollowStart(is_latest=False), queue_id=0)
    dlq.oldest = 4
    known = dlq.handlers[31]
    dlq.handlers[31] = lambda asked: build_reply(asked, ext={"offset": "0"})
    [page] = follower.poll_queues()
    assert (page.lost_count, page.messages) == (4, ())
    dlq.handlers[31] = known
    assert read_bodies(follower) == [b"4", b"5", b"6", b"7", b"8", b"9"]


def test_the_broker_gets_the_expression(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    follower = admin.message_streams.open_follower(
        "T", expression="a > 1", expression_type="SQL92", queue_id=0
    )
    dlq.store_message(b"one")
    follower.poll_queues()
    pull = next(asked for asked in dlq.asked if asked.code == 11)
    assert ((pull.ext or {})["subscription"], (pull.ext or {})["expressionType"]) == ("a > 1", "SQL92")


def test_a_queue_or_broker_that_the_topic_does_not_have(admin: AdminClient) -> None:
    with pytest.raises(NotFound, match="T has no queue 99: it has queues 0 to "):
        admin.message_streams.open_follower("T", queue_id=99)
    with pytest.raises(NotFound, match='T is not on broker "broker-x"'):
        admin.message_streams.open_follower("T", broker_name="broker-x")
