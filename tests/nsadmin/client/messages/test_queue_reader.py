"""Reading queues: where they begin and end, page by page, and what stops it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.queue_reader import MessagePage, MessagePlace, QueueSpan
from nsadmin.client.topic_routes import QueueRoute
from tests.support.fake_servers import answer_nothing, closed_port, refuse_with
from tests.support.lab import start_lab
from tests.support.message_brokers import CREATED, MessageBroker


@pytest.fixture
def admin() -> Iterator[AdminClient]:
    with AdminClient("127.0.0.1:1", timeout=5) as client:
        yield client


def route(message_broker: MessageBroker, nums: int = 2, **more: str) -> QueueRoute:
    addrs = {0: message_broker.addr} | {int(key[1:]): addr for key, addr in more.items()}
    return QueueRoute("broker-a", "C", addrs, 6, nums, nums, 0)


def places(pages: Iterator[MessagePage]) -> list[tuple[int, list[int]]]:
    return [(page.queue_id, [message.queue_offset for message in page.messages]) for page in pages]


def test_a_queue_goes_from_its_lowest_to_its_highest_offset(
    admin: AdminClient, message_broker: MessageBroker
) -> None:
    for _ in range(5):
        message_broker.store_message(queue_id=1)
    message_broker.oldest = 2
    spans = [item.queue_span for item in admin.queue_reader.get_spans("T", [route(message_broker)])]
    assert spans == [
        QueueSpan("broker-a", message_broker.addr, 0, 2, 0),
        QueueSpan("broker-a", message_broker.addr, 1, 2, 5),
    ]
    assert 29 not in message_broker.asked_codes()


def test_times_bound_it_both_included(admin: AdminClient, message_broker: MessageBroker) -> None:
    for _ in range(5):
        message_broker.store_message()
    times = {"begin_ms": CREATED + 1000, "end_ms": CREATED + 3000}
    [item] = admin.queue_reader.get_spans("T", [route(message_broker)], queue_id=0, **times)
    assert item.queue_span == QueueSpan(
        "broker-a", message_broker.addr, 0, 1, 5, CREATED + 1000, CREATED + 3000
    )
    assert places(admin.queue_reader.read_pages("T", [item.queue_span])) == [(0, [1, 2, 3])]


@pytest.mark.parametrize("nearest", [1, 2])
def test_old_brokers_search_for_the_nearest_message(
    admin: AdminClient, message_broker: MessageBroker, nearest: int
) -> None:
    """Between the times of two messages 4.9 answers with either of them."""
    for _ in range(5):
        message_broker.store_message()
    message_broker.handlers[29] = lambda asked: build_reply(asked, ext={"offset": str(nearest)})
    until = CREATED + 1600
    [item] = admin.queue_reader.get_spans("T", [route(message_broker)], queue_id=0, end_ms=until)
    assert item.queue_span is not None
    assert places(admin.queue_reader.read_pages("T", [item.queue_span])) == [(0, [0, 1])]
    [item] = admin.queue_reader.get_spans("T", [route(message_broker)], queue_id=0, begin_ms=until)
    assert item.queue_span is not None
    assert places(admin.queue_reader.read_pages("T", [item.queue_span])) == [(0, [2, 3, 4])]


def test_a_search_below_the_lowest_offset_is_not_believed(
    admin: AdminClient, message_broker: MessageBroker
) -> None:
    for _ in range(5):
        message_broker.store_message()
    message_broker.oldest = 3
    [item] = admin.queue_reader.get_spans("T", [route(message_broker)], queue_id=0, begin_ms=1)
    assert item.queue_span == QueueSpan("broker-a", message_broker.addr, 0, 3, 5, 1)


def test_a_queue_that_is_not_there(admin: AdminClient, message_broker: MessageBroker) -> None:
    with pytest.raises(NotFound, match="T has no queue 2: it has queues 0 to 1"):
        admin.queue_reader.get_spans("T", [route(message_broker)], queue_id=2)


def test_what_cannot_be_asked_stands_beside_the_rest(
    admin: AdminClient, message_broker: MessageBroker
) -> None:
    message_broker.handlers[30] = lambda asked: (
        build_reply(asked, ext={"offset": "9"})
        if (asked.ext or {})["queueId"] == "1"
        else build_reply(asked, 17, remark="gone")
    )
    first, second = admin.queue_reader.get_spans("T", [route(message_broker)])
    assert (str(first.error), first.queue_span) == ("TOPIC_NOT_EXIST (17): gone", None)
    assert second.queue_span == QueueSpan("broker-a", message_broker.addr, 1, 0, 9)


def test_a_slave_is_read_where_its_master_is_gone(admin: AdminClient, message_broker: MessageBroker) -> None:
    queues = QueueRoute(
        "broker-a", "C", {0: f"127.0.0.1:{closed_port()}", 1: message_broker.addr}, 6, 1, 1, 0
    )
    message_broker.store_message()
    [item] = admin.queue_reader.get_spans("T", [queues])
    assert item.queue_span == QueueSpan("broker-a", message_broker.addr, 0, 0, 1)


def test_queues_are_read_in_turns_to_their_ends(admin: AdminClient, message_broker: MessageBroker) -> None:
    message_broker.page = 2
    for queue, count in ((0, 3), (1, 5)):
        for _ in range(count):
            message_broker.store_message(queue_id=queue)
    spans = [
        QueueSpan("a", message_broker.addr, 0, 0, 3),
        QueueSpan("a", message_broker.addr, 1, 1, 4),
        QueueSpan("a", message_broker.addr, 2, 0, 0),
    ]
    assert places(admin.queue_reader.read_pages("T", spans)) == [(0, [0, 1]), (1, [1, 2]), (0, [2]), (1, [3])]


def test_pages_grow(admin: AdminClient, message_broker: MessageBroker) -> None:
    for _ in range(90):
        message_broker.store_message()
    span = QueueSpan("a", message_broker.addr, 0, 0, 90)
    pages = list(admin.queue_reader.read_pages("T", [span], first_size=1))
    assert [len(page.messages) for page in pages] == [1, 2, 4, 8, 16, 32, 27]


def test_nobody_reads_on_for_one_who_has_stopped(admin: AdminClient, message_broker: MessageBroker) -> None:
    message_broker.page = 1
    for _ in range(9):
        message_broker.store_message()
    pages = admin.queue_reader.read_pages("T", [QueueSpan("a", message_broker.addr, 0, 0, 9)])
    assert places(iter([next(pages)])) == [(0, [0])]
    assert message_broker.asked_codes() == [11]


def test_tags_are_compared_and_pages_without_any_are_passed(
    admin: AdminClient, message_broker: MessageBroker
) -> None:
    message_broker.page = 2
    for tag in ("A", "A", "B", "A", "BB", "B"):
        message_broker.store_message(TAGS=tag)
    pages = admin.queue_reader.read_pages(
        "T", [QueueSpan("a", message_broker.addr, 0, 0, 6)], frozenset({"B"})
    )
    assert places(pages) == [(0, [2]), (0, [5])]
    assert (message_broker.asked[-1].ext or {})["subscription"] == "B"


def test_what_was_deleted_meanwhile_is_passed(admin: AdminClient, message_broker: MessageBroker) -> None:
    for _ in range(4):
        message_broker.store_message()
    message_broker.oldest = 2
    assert places(admin.queue_reader.read_pages("T", [QueueSpan("a", message_broker.addr, 0, 0, 4)])) == [
        (0, [2, 3])
    ]


def test_a_refusal_ends_one_queue_only(admin: AdminClient, message_broker: MessageBroker) -> None:
    message_broker.store_message()
    with MessageBroker() as other:
        other.handlers[11] = refuse_with(16, "not readable")
        spans = [QueueSpan("b", other.addr, 0, 0, 1), QueueSpan("a", message_broker.addr, 0, 0, 1)]
        first, second = admin.queue_reader.read_pages("T", spans)
    assert (first.broker_name, first.messages, str(first.error)) == (
        "b",
        (),
        "NO_PERMISSION (16): not readable",
    )
    assert (second.broker_name, len(second.messages), second.error) == ("a", 1, None)


@pytest.mark.parametrize("following", [{}, {"nextBeginOffset": "0"}, {"nextBeginOffset": "x"}])
def test_a_broker_that_leads_nowhere_is_not_followed(
    admin: AdminClient, message_broker: MessageBroker, following: dict[str, str]
) -> None:
    def pull(asked: RemotingCommand) -> RemotingCommand:
        return build_reply(asked, 20, ext=following)

    message_broker.handlers[11] = pull
    [page] = admin.queue_reader.read_pages("T", [QueueSpan("a", message_broker.addr, 0, 0, 1)])
    assert str(page.error) == f"{message_broker.addr}: queue 0 is not readable from offset 0 on"


def test_a_read_can_wait_on_the_broker(admin: AdminClient, message_broker: MessageBroker) -> None:
    assert admin.queue_reader.wait_for_messages(message_broker.addr, "T", 0, 0, 700) == ((), 0)
    message_broker.store_message(b"one")
    messages, next_offset = admin.queue_reader.wait_for_messages(message_broker.addr, "T", 0, 0, 700)
    assert ([message.body for message in messages], next_offset) == ([b"one"], 1)
    pull = message_broker.asked[-1].ext or {}
    assert (pull["sysFlag"], pull["suspendTimeoutMillis"], pull["commitOffset"]) == ("6", "700", "0")


def test_a_message_has_a_time_and_an_empty_place_has_none(tmp_path: Path) -> None:
    with start_lab(tmp_path) as there, AdminClient(there.namesrv_addrs, timeout=5) as admin:
        addr = there.brokers["broker-a-0", 0]
        queue = MessageQueue("orders", "", 0)
        end = admin.queue_reader.get_end_offset(addr, "orders", 0)
        places = [MessagePlace(addr, queue, offset) for offset in (end - 1, end + 1_000_000)]
        gone = MessagePlace("127.0.0.1:9", queue, 0)
        last, beyond, silent = admin.queue_reader.get_store_times([*places, gone])
    assert last.result is not None
    assert last.result > 1_600_000_000_000
    assert (beyond.result, beyond.error) == (None, None)
    assert silent.error is not None


def test_a_silent_master_is_waited_for_once(message_broker: MessageBroker) -> None:
    message_broker.store_message()
    with MessageBroker() as silent, AdminClient("127.0.0.1:1", timeout=1) as client:
        silent.handlers[RequestCode.GET_MIN_OFFSET] = answer_nothing
        [span] = client.queue_reader.get_spans("T", [route(silent, 1, _1=message_broker.addr)])
        assert silent.asked_codes() == [RequestCode.GET_MIN_OFFSET]
    assert span.queue_span == QueueSpan("broker-a", message_broker.addr, 0, 0, 1)
