"""Counts of dead letters, all groups at once."""

from namesrv_core.errors import TopicNotExist
from nsadmin import AdminClient
from tests.support.dead_letter_brokers import GROUP, DeadLetterBroker
from tests.support.fake_servers import refuse_with
from tests.support.message_brokers import CREATED, answer_offset

HOUR = 3_600_000


def test_all_queues_are_counted_together(admin: AdminClient, dead_letter_broker: DeadLetterBroker) -> None:
    for number in range(40):
        dead_letter_broker.add_letter(b"%d" % number, "T" if number < 39 else "U")
    dead_letter_broker.store_message(b"", "%DLQ%G", 3, 0, RETRY_TOPIC="V")
    counts, empty, missing = admin.dead_letters.count_letters([GROUP, "empty", "other"], CREATED + HOUR)
    assert (counts.message_count, counts.last_hour_count) == (41, 41)
    assert (counts.oldest_ms, counts.newest_ms) == (CREATED, CREATED + 39_000)
    assert (counts.origin_topics, counts.broker_names) == (("T", "U", "V"), ("broker-a",))
    assert set(counts.errors) == {None}
    assert (empty.message_count, empty.oldest_ms, empty.origin_topics) == (0, None, ())
    assert [type(error) for error in missing.errors] == [TopicNotExist]


def test_the_last_hour_is_not_what_an_old_broker_finds_nearest(
    admin: AdminClient, dead_letter_broker: DeadLetterBroker
) -> None:
    """Brokers before 5.0 answer the last message if all are older."""
    dead_letter_broker.add_letter(b"one")
    dead_letter_broker.handlers[29] = lambda asked: answer_offset(asked, 0)
    [counts] = admin.dead_letters.count_letters([GROUP], CREATED + HOUR + 1)
    assert (counts.message_count, counts.last_hour_count) == (1, 0)


def test_the_last_hour_is_counted_without_the_messages(
    admin: AdminClient, dead_letter_broker: DeadLetterBroker
) -> None:
    """As on a bundle, which has none."""
    dead_letter_broker.add_letter(b"one")
    dead_letter_broker.handlers[11] = refuse_with(1, "no messages")
    [counts] = admin.dead_letters.count_letters([GROUP], CREATED + HOUR)
    assert (counts.message_count, counts.last_hour_count, counts.oldest_ms) == (1, 1, None)
