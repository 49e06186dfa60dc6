"""Groups with dead letters, and pages of them."""

import pytest

from namesrv_core.errors import ResponseCode, TopicNotExist
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.messages.dead_letter_selection import DeadLetterSelection
from nsadmin.client.messages.replay_memory import ReplayMemory
from tests.support.dead_letter_brokers import DEAD, GROUP, DeadLetterBroker, replay_letters
from tests.support.fake_servers import (
    Answer,
    FakeBroker,
    FakeNameServer,
    answer_json,
    answer_nothing,
    refuse_with,
)
from tests.support.message_brokers import CREATED, answer_offset

HOUR = 3_600_000


def test_a_queue_that_was_created_again_has_no_replayed_messages(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    memory = ReplayMemory()
    for number in range(3):
        dlq.add_letter(b"%d" % number)
    assert replay_letters(admin, memory=memory).replayed == 3
    dlq.queues[DEAD, 0] = []
    for number in range(3):
        dlq.add_letter(b"other %d" % number)
    assert replay_letters(admin, memory=memory).replayed == 3
    dlq.queues[DEAD, 0] = []
    dlq.add_letter(b"fewer")
    assert replay_letters(admin, memory=memory).replayed == 1


def test_a_busy_broker_does_not_make_a_replay_forget(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    memory = ReplayMemory()
    dlq.add_letter(b"paid")
    assert replay_letters(admin, memory=memory).replayed == 1
    pull = dlq.handlers[RequestCode.PULL_MESSAGE]

    def refuse_once(asked: RemotingCommand) -> Answer:
        dlq.handlers[RequestCode.PULL_MESSAGE] = pull
        return build_reply(asked, ResponseCode.SYSTEM_BUSY, remark="[OVERLOAD]system busy")

    dlq.handlers[RequestCode.PULL_MESSAGE] = refuse_once
    assert replay_letters(admin, memory=memory).replayed == 0


def test_groups_are_those_with_a_dead_letter_topic(admin: AdminClient) -> None:
    assert admin.dead_letters.list_groups() == ("G", "empty")


def test_pages_end_after_the_wanted_number(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    for number in range(80):
        dlq.add_letter(b"%d" % number, "TU"[number % 2])
    selection = DeadLetterSelection(origin_topics=frozenset("U"), max_messages=20)
    spans, errors = admin.dead_letters.list_spans(GROUP, selection)
    pages = list(admin.dead_letters.read_letters(GROUP, spans, selection))
    assert errors == {}
    assert [(page.examined, len(page.letters)) for page in pages] == [(32, 16), (32, 4)]


def test_a_broker_without_an_answer_is_an_error_of_its_spans(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    dlq.handlers[31] = lambda asked: build_reply(asked, 16, remark="no")
    spans, errors = admin.dead_letters.list_spans(GROUP)
    assert (spans, list(errors)) == ([], ["broker-a"])


def test_a_group_without_dead_letters(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    """A silent broker may have the group; only if all answer, a group is unknown."""
    with pytest.raises(NotFound, match="no dead letters for other"):
        admin.dead_letters.list_spans("other")
    dlq.handlers[201] = lambda asked: answer_json(asked, {"subscriptionGroupTable": {"other": {}}})
    with pytest.raises(NotFound, match="no dead letters for other"):
        admin.dead_letters.list_spans("other")
    with pytest.raises(NotFound, match='no broker has the consumer group "ohter"'):
        admin.dead_letters.list_spans("ohter")


def test_all_queues_are_counted_together(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    for number in range(40):
        dlq.add_letter(b"%d" % number, "T" if number < 39 else "U")
    dlq.store_message(b"", "%DLQ%G", 3, 0, RETRY_TOPIC="V")
    counts, empty, missing = admin.dead_letters.count_letters([GROUP, "empty", "other"], CREATED + HOUR)
    assert (counts.message_count, counts.last_hour_count) == (41, 41)
    assert (counts.oldest_ms, counts.newest_ms) == (CREATED, CREATED + 39_000)
    assert (counts.origin_topics, counts.broker_names) == (("T", "U", "V"), ("broker-a",))
    assert set(counts.errors) == {None}
    assert (empty.message_count, empty.oldest_ms, empty.origin_topics) == (0, None, ())
    assert [type(error) for error in missing.errors] == [TopicNotExist]


def test_a_silent_master_is_waited_for_once(dlq: DeadLetterBroker) -> None:
    dlq.add_letter(b"one")
    with FakeBroker() as silent, FakeNameServer({"C": {"broker-a": {0: silent.addr, 1: dlq.addr}}}) as server:
        silent.handlers[RequestCode.GET_MIN_OFFSET] = answer_nothing
        server.routes = {DEAD: {"broker-a": 6}}
        with AdminClient(server.addr, timeout=1) as client:
            [counts] = client.dead_letters.count_letters([GROUP], CREATED + HOUR)
        assert silent.asked_codes() == [RequestCode.GET_MIN_OFFSET] * len(counts.queue_bounds)
    assert (counts.message_count, counts.last_hour_count) == (1, 1)


def test_the_last_hour_is_not_what_an_old_broker_finds_nearest(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    """Brokers before 5.0 answer the last message if all are older."""
    dlq.add_letter(b"one")
    dlq.handlers[29] = lambda asked: answer_offset(asked, 0)
    [counts] = admin.dead_letters.count_letters([GROUP], CREATED + HOUR + 1)
    assert (counts.message_count, counts.last_hour_count) == (1, 0)


def test_the_last_hour_is_counted_without_the_messages(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    """As on a bundle, which has none."""
    dlq.add_letter(b"one")
    dlq.handlers[11] = refuse_with(1, "no messages")
    [counts] = admin.dead_letters.count_letters([GROUP], CREATED + HOUR)
    assert (counts.message_count, counts.last_hour_count, counts.oldest_ms) == (1, 1, None)
