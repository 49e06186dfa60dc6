"""A replay: what is sent, what is sent only once, and what stops it."""

from itertools import islice
from time import monotonic

import pytest

from namesrv_core.errors import RequestError
from nsadmin import AdminClient
from nsadmin.client import NotApplied
from nsadmin.client.messages.dead_letter_replay import BrokerReplay, ReplayOptions
from nsadmin.client.messages.dead_letter_selection import EVERY_LETTER, DeadLetterSelection
from nsadmin.client.messages.replay_memory import ReplayMemory
from tests.support.dead_letter_brokers import GROUP, RETRY, DeadLetterBroker, list_bodies, replay_letters


def test_a_dead_letter_is_replayed_once_for_one_memory(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    memory = ReplayMemory()
    for number in range(40):
        dlq.add_letter(b"%d" % number)
    assert replay_letters(admin, memory=memory).replayed == 40
    dlq.add_letter(b"new")
    assert replay_letters(admin, memory=memory) == BrokerReplay("broker-a", 41, 41, 1, known=40)
    assert len(dlq.stored_messages(RETRY)) == 41
    again = ReplayOptions(repeats_replays=True)
    assert replay_letters(admin, options=again, memory=memory).replayed == 41


def test_another_account_finds_replays_that_are_still_in_retry_topics(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    for number in range(40):
        dlq.add_letter(b"%d" % number)
    assert replay_letters(admin, DeadLetterSelection(max_messages=35)).replayed == 35
    other_memory = ReplayMemory()
    assert replay_letters(admin, memory=other_memory) == BrokerReplay("broker-a", 40, 40, 5, known=35)
    # The group consumes them; each batch went to a queue that was chosen at random.
    for place in [place for place in dlq.queues if place[0] == RETRY]:
        del dlq.queues[place]
    assert replay_letters(admin, memory=other_memory).replayed == 0
    assert replay_letters(admin, options=ReplayOptions(repeats_replays=True)).replayed == 40


def test_a_copy_of_a_dead_letter_is_not_replayed(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    memory = ReplayMemory()
    for text in (b"one", b"two", b"one"):
        dlq.add_letter(text)
    assert replay_letters(admin, memory=memory) == BrokerReplay("broker-a", 3, 3, 2, copies=1)
    dlq.add_letter(b"two")
    assert replay_letters(admin, memory=memory) == BrokerReplay("broker-a", 4, 4, 0, known=3, copies=1)
    dlq.add_letter(b"two", "T", 0, NSADMIN_REPLAY_OF="its replay")
    assert replay_letters(admin, memory=memory) == BrokerReplay("broker-a", 5, 5, 1, known=4)
    assert list_bodies(dlq) == ["one", "two", "two"]


def test_a_copy_takes_the_place_of_a_dead_letter_that_was_refused(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    memory = ReplayMemory()
    dlq.add_letter(b"one")
    dlq.add_letter(b"one")
    dlq.refusals = [13]
    done = replay_letters(admin, memory=memory)
    assert (done.replayed, done.copies, done.failed) == (0, 1, 1)
    assert replay_letters(admin, memory=memory).replayed == 1
    assert list_bodies(dlq) == ["one"]


def test_failures_count_for_some_time_after_the_last_message(
    admin: AdminClient, dlq: DeadLetterBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    dlq.add_letter(b"one")
    pauses = []

    def fail_meanwhile(seconds: float) -> None:
        properties = (dlq.sent[-1].ext or {})["i"] or ""
        table = dict(item.split("\x01") for item in properties.split("\x02") if "NSADMIN" in item)
        dlq.add_letter(b"again", "T", 0, **table)
        pauses.append(seconds)

    monkeypatch.setattr("nsadmin.client.messages.dead_letter_replay.sleep", fail_meanwhile)
    ticks = iter(range(100))
    monkeypatch.setattr("nsadmin.client.messages.dead_letter_replay.monotonic", lambda: next(ticks))
    with pytest.raises(NotApplied, match="1 of 1 replayed messages failed again, and the limit is 0"):
        replay_letters(admin, options=ReplayOptions(max_failures=0, settle_seconds=5))
    assert pauses == [1.0]


def test_after_a_kill_only_what_did_not_arrive_is_sent(
    admin: AdminClient, dlq: DeadLetterBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = ReplayMemory()
    for number in range(10):
        dlq.add_letter(b"%d" % number)

    spans, _ = admin.dead_letters.list_spans(GROUP, EVERY_LETTER)
    run = admin.dead_letters.replay(GROUP, spans, EVERY_LETTER, memory=memory)
    dlq.on_send = lambda: dlq.refusals.append(1) if len(dlq.sent) > 4 else None
    with monkeypatch.context() as patch:
        patch.setattr(memory, "end_batch", die_of_sigkill)
        with pytest.raises(KeyboardInterrupt):
            list(run)
    assert [batch.ids_by_offset.keys() for batch in memory.pending.values()] == [set(range(10))]
    assert len(dlq.stored_messages(RETRY)) == 4
    dlq.on_send = lambda: None
    assert replay_letters(admin, memory=memory) == BrokerReplay("broker-a", 10, 10, 6, known=4)
    assert list_bodies(dlq) == [str(number) for number in range(10)]


def die_of_sigkill(*_: object) -> None:
    raise KeyboardInterrupt


def test_what_arrived_without_an_answer_counts_as_replayed(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    for number in range(3):
        dlq.add_letter(b"%d" % number)
    dlq.answers_sends = False
    done = replay_letters(admin)
    assert (done.replayed, done.failed, done.error) == (3, 0, None)
    assert len(dlq.sent) == 3


def test_a_refused_message_is_counted_and_tried_by_the_next_run(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    memory = ReplayMemory()
    dlq.add_letter(b"one")
    dlq.refusals = [13]
    done = replay_letters(admin, memory=memory)
    assert (done.replayed, done.failed) == (0, 1)
    assert isinstance(done.error, RequestError)
    assert replay_letters(admin, memory=memory).replayed == 1


def test_messages_that_cannot_be_replayed(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    dlq.add_letter(b"no origin", origin=None)
    dlq.add_letter(b"packed, they say", sys_flag=0x301)
    done = replay_letters(admin)
    assert (done.failed, str(done.error)) == (2, "the dead letter does not name its origin topic")
    assert dlq.sent == []


def test_a_message_that_died_again_after_three_replays_stays_dead(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    dlq.add_letter(b"often", NSADMIN_REPLAYS="3")
    dlq.add_letter(b"seldom", NSADMIN_REPLAYS="2")
    done = replay_letters(admin)
    assert (done.replayed, done.guarded, list_bodies(dlq)) == (1, 1, ["seldom"])
    assert dlq.stored_messages(RETRY)[0].properties["NSADMIN_REPLAYS"] == "3"
    done = replay_letters(admin, options=ReplayOptions(max_replays=None))
    assert (done.replayed, done.known, list_bodies(dlq)) == (1, 1, ["often", "seldom"])


def test_a_limit_counts_what_an_interrupted_run_replayed(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    memory, selection = ReplayMemory(), DeadLetterSelection(max_messages=50)
    for number in range(100):
        dlq.add_letter(b"%d" % number)
    spans, _ = admin.dead_letters.list_spans(GROUP, selection)
    run = admin.dead_letters.replay(GROUP, spans, selection, memory=memory)
    [first] = islice(run, 1)
    assert first.replayed == 32
    run.close()  # type: ignore[attr-defined]
    assert replay_letters(admin, selection, memory=memory).replayed == 18
    assert replay_letters(admin, selection, memory=memory).replayed == 50


def test_a_rate_spreads_the_messages(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    for number in range(10):
        dlq.add_letter(b"%d" % number)
    began_at = monotonic()
    assert replay_letters(admin, options=ReplayOptions(messages_per_second=40)).replayed == 10
    assert monotonic() - began_at >= 0.15
