"""Groups with dead letters, and pages of them."""

import pytest

from namesrv_core.errors import ResponseCode
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.messages.dead_letter_selection import DeadLetterSelection
from nsadmin.client.messages.replay_memory import ReplayMemory
from tests.support.dead_letter_brokers import DEAD, GROUP, DeadLetterBroker, replay_letters
from tests.support.fake_servers import Answer


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


def test_a_group_without_dead_letters(admin: AdminClient) -> None:
    with pytest.raises(NotFound, match='group "other" has no dead letters'):
        admin.dead_letters.list_spans("other")
