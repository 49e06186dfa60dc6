"""Replays of other accounts, found in retry topics."""

import pytest

from namesrv_core.errors import RequestError
from namesrv_core.protocol.command import build_reply
from namesrv_core.protocol.stored_messages import decode_messages
from nsadmin import AdminClient
from nsadmin.client.messages.dead_letter_selection import DeadLetter
from nsadmin.client.messages.replayed_letters import ReplayedLetters
from tests.support.dead_letter_brokers import DEAD, RETRY, DeadLetterBroker


def find(admin: AdminClient, dlq: DeadLetterBroker) -> tuple[ReplayedLetters, list[DeadLetter]]:
    routes = admin.topics.get_route(DEAD).queues
    letters = [DeadLetter("broker-a", message) for message in dlq.stored_messages(DEAD)]
    return ReplayedLetters(admin.queue_reader, admin.topics, routes, 1), letters


def test_a_replay_is_found_by_the_id_of_its_dead_letter(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    dlq.add_letter(b"one")
    dlq.add_letter(b"two")
    _, letters = find(admin, dlq)
    dlq.store_message(b"one", RETRY, 5, 0, NSADMIN_REPLAY_OF=letters[0].message.offset_msg_id)
    replayed, _ = find(admin, dlq)
    assert [replayed.has_replay(letter) for letter in letters] == [True, False]


def test_a_retry_topic_that_name_servers_do_not_know_yet_is_read_on_its_broker(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    dlq.add_letter(b"one", "%RETRY%G_T")
    _, [letter] = find(admin, dlq)
    dlq.store_message(b"one", "%RETRY%G_T", 0, 0, NSADMIN_REPLAY_OF=letter.message.offset_msg_id)
    replayed, _ = find(admin, dlq)
    assert replayed.has_replay(letter)


def test_without_the_topic_there_are_no_replays_and_other_errors_end_it(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    dlq.add_letter(b"one", "%RETRY%G_T")
    replayed, [letter] = find(admin, dlq)
    dlq.handlers[31] = lambda asked: build_reply(asked, 17, remark="topic not exist")
    assert not replayed.has_replay(letter)
    dlq.handlers[31] = lambda asked: build_reply(asked, 1, remark="no")
    replayed, _ = find(admin, dlq)
    with pytest.raises(RequestError, match="no"):
        replayed.has_replay(letter)


def test_each_retry_topic_is_read_once(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    dlq.add_letter(b"one")
    replayed, [letter] = find(admin, dlq)
    replayed.has_replay(letter)
    asked = len(dlq.asked)
    replayed.has_replay(letter)
    assert len(dlq.asked) == asked
    assert decode_messages(dlq.queues[DEAD, 0][0]).messages[0] == letter.message
