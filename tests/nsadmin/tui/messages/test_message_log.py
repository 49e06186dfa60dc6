"""The messages that the screen keeps: the last ones, up to a number and a size."""

from nsadmin.tui.messages import message_log
from nsadmin.tui.messages.message_query import MAX_KEPT_MESSAGES, BrowsedMessage, query_topic
from nsadmin.tui.polling.poll_records import MessagesPolled
from tests.support.screens import make_browsed_message, make_model

QUERY = query_topic("T")


def poll(*messages: BrowsedMessage, run_id: int = 1, **counts: int) -> MessagesPolled:
    return MessagesPolled(1, QUERY, run_id, messages, **counts)  # type: ignore[arg-type]


def test_the_oldest_messages_are_dropped_and_counted() -> None:
    log = message_log.MessageLog(QUERY, 1)
    log.apply_poll(poll(*(make_browsed_message(offset=number) for number in range(MAX_KEPT_MESSAGES + 3))))
    assert (len(log.messages), log.dropped_count) == (MAX_KEPT_MESSAGES, 3)
    assert log.messages[0].message.queue_offset == 3


def test_large_bodies_are_dropped_sooner() -> None:
    log = message_log.MessageLog(QUERY, 1)
    big = make_browsed_message(b"x" * (message_log.MAX_KEPT_BYTES // 4))
    for _ in range(6):
        log.apply_poll(poll(big))
    assert (len(log.messages), log.dropped_count) == (4, 2)


def test_a_new_run_begins_with_an_empty_log() -> None:
    model = make_model(*(poll(make_browsed_message(offset=n), examined=5 + n) for n in (0, 1)))
    assert model.message_log is not None
    assert (len(model.message_log.messages), model.message_log.examined_count) == (2, 6)
    model.apply_poll(poll(make_browsed_message(offset=2), run_id=2))
    assert len(model.message_log.messages) == 1
