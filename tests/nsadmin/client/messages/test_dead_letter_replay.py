"""A replay: what is sent, what is sent only once, and what stops it."""

import zlib
from itertools import islice
from time import monotonic

import pytest

from namesrv_core.errors import RequestError
from namesrv_core.protocol.command import build_reply
from namesrv_core.protocol.stored_messages import decode_messages
from nsadmin import AdminClient
from nsadmin.client import NotApplied
from nsadmin.client.messages.dead_letter_replay import (
    BrokerReplay,
    FailureWatch,
    LetterCopies,
    ReplayedLetters,
    ReplayOptions,
)
from nsadmin.client.messages.dead_letter_selection import EVERY_LETTER, DeadLetter, DeadLetterSelection
from nsadmin.client.messages.message_sender import SendQueue
from nsadmin.client.messages.replay_memory import ReplayMemory
from tests.support.dead_letter_brokers import (
    DEAD,
    GROUP,
    RETRY,
    DeadLetterBroker,
    list_bodies,
    replay_letters,
)
from tests.support.messages import encode_message


def test_a_dead_letter_is_replayed_once_for_one_memory(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    memory = ReplayMemory()
    for number in range(40):
        dlq.add_letter(b"%d" % number)
    assert replay_letters(admin, memory=memory).replayed == 40
    dlq.add_letter(b"new")
    assert replay_letters(admin, memory=memory) == BrokerReplay("broker-a", 41, 41, 1, known=40)
    assert len(dlq.stored_messages(RETRY)) == 41
    assert replay_letters(admin, options=ReplayOptions(repeats_replays=True), memory=memory).replayed == 41


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
    with pytest.raises(NotApplied, match=r"1 of 1 replayed messages failed again \(the limit is 0\)"):
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


@pytest.mark.parametrize("admin", [0.5], indirect=True)
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


def test_a_dead_letter_goes_to_the_retry_topic_with_the_properties_of_its_producer(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    dlq.add_letter(b"one", UNIQ_KEY="U1", KEYS="k", TAGS="A", mine="1", TRAN_MSG="true", TIMER_DELAY_MS="5")
    assert replay_letters(admin) == BrokerReplay("broker-a", total=1, examined=1, replayed=1)
    [message] = dlq.stored_messages(RETRY)
    [dead] = dlq.stored_messages(DEAD)
    run_id = message.properties.pop("NSADMIN_REPLAY_RUN")
    assert (message.body, len(run_id)) == (b"one", 16)
    assert message.properties == {
        "UNIQ_KEY": "U1", "KEYS": "k", "TAGS": "A", "mine": "1", "WAIT": "true", "RETRY_TOPIC": "T",
        "ORIGIN_MESSAGE_ID": "origin of one", "NSADMIN_REPLAYS": "1",
        "NSADMIN_REPLAY_OF": dead.offset_msg_id,
    }  # fmt: skip
    [sent] = dlq.sent
    assert (sent.ext or {})["g"] == str(dead.born_timestamp)
    assert (sent.ext or {})["j"] == "0"


def test_a_busy_broker_gets_a_message_again(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    dlq.add_letter(b"one")
    dlq.refusals = [2]
    assert replay_letters(admin).replayed == 1
    assert (len(dlq.sent), list_bodies(dlq)) == (2, ["one"])


def test_origin_topics_get_messages_without_a_trace_of_the_retry(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    dlq.add_letter(b"one")
    dlq.add_letter(b"two", origin="U")
    dlq.add_letter(b"three", origin="gone")
    done = replay_letters(admin, options=ReplayOptions(to_origin=True))
    assert (done.replayed, done.failed) == (2, 1)
    assert (list_bodies(dlq, "T"), list_bodies(dlq, "U"), list_bodies(dlq)) == (["one"], ["two"], [])
    assert "RETRY_TOPIC" not in dlq.stored_messages("T")[0].properties


def test_a_body_that_was_compressed_is_sent_compressed(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    dlq.store_message(zlib.compress(b"x" * 9000), DEAD, 0, 0x301, RETRY_TOPIC="T")
    assert replay_letters(admin).replayed == 1
    [message] = dlq.stored_messages(RETRY)
    assert (message.body, message.sys_flag) == (b"x" * 9000, 1)
    assert len(dlq.sent[0].body) < 100


def test_a_popped_dead_letter_goes_back_to_its_retry_topic_which_may_have_no_route_yet(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    dlq.add_letter(b"pulled")
    dlq.add_letter(b"popped", origin="%RETRY%G_T")
    assert replay_letters(admin).replayed == 2
    [message] = dlq.stored_messages("%RETRY%G_T")
    assert (message.body, "RETRY_TOPIC" in message.properties) == (b"popped", False)
    assert list_bodies(dlq) == ["pulled"]


def letter(offset: int, origin_id: str | None = "A", topic: str = "T", **more: str) -> DeadLetter:
    table = {"RETRY_TOPIC": topic, **more} | ({"ORIGIN_MESSAGE_ID": origin_id} if origin_id else {})
    [message] = decode_messages(encode_message(b"x", "%DLQ%G", table=table, queue_offset=offset)).messages
    return DeadLetter("broker-a", message)


def test_copies_name_the_same_message_and_the_same_replay() -> None:
    copies = LetterCopies()
    assert not copies.is_copy(letter(0))
    assert copies.is_copy(letter(1))
    assert not copies.is_copy(letter(2, "B"))
    assert not copies.is_copy(letter(3, topic="U"))
    assert not copies.is_copy(letter(4, NSADMIN_REPLAY_OF="1"))
    assert not copies.is_copy(letter(5, NSADMIN_REPLAY_OF="2"))
    assert not copies.is_copy(letter(6, None))
    assert not copies.is_copy(letter(7, None))


def test_copies_wait_for_the_outcome_of_the_first() -> None:
    copies = LetterCopies()
    first, second, third = letter(0), letter(1), letter(2)
    assert (copies.is_copy(first), copies.is_copy(second), copies.is_settled(second)) == (False, True, False)
    assert copies.end_batch([first], []) == [second]
    assert (copies.is_copy(third), copies.is_settled(third)) == (True, True)


def test_after_a_failure_a_later_copy_is_the_first() -> None:
    copies = LetterCopies()
    first, second = letter(0), letter(1)
    assert not copies.is_copy(first)
    assert copies.end_batch([], [first]) == []
    assert not copies.is_copy(second)


def test_a_dead_letter_that_was_replayed_before_has_copies_too() -> None:
    copies = LetterCopies()
    copies.note_replayed(letter(0))
    assert (copies.is_copy(letter(1)), copies.is_settled(letter(1))) == (True, True)


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


def test_the_replay_stops_if_the_group_fails_again(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    for number in range(40):
        dlq.add_letter(b"%d" % number)

    def fail_again() -> None:
        """The broker keeps what a client returns for the delay of the first retry."""
        properties = (dlq.sent[-1].ext or {})["i"] or ""
        table = dict(item.split("\x01") for item in properties.split("\x02") if item)
        dlq.store_message(b"", "SCHEDULE_TOPIC_XXXX", 2, 0, REAL_TOPIC=RETRY, **table)

    dlq.on_send = fail_again
    with pytest.raises(NotApplied, match=r"40 of 40 replayed messages failed again \(the limit is 3\)"):
        replay_letters(admin, options=ReplayOptions(max_failures=3))
    dlq.on_send = lambda: None
    assert replay_letters(admin, options=ReplayOptions(max_failures=0)).failed_again == 0


def test_failures_of_other_groups_and_earlier_runs_do_not_count(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    watch = FailureWatch(admin.queue_reader, GROUP, "R2", [("broker-a", dlq.addr)])
    ours = {"NSADMIN_REPLAY_RUN": "R2", "REAL_TOPIC": RETRY}
    for table in (
        {**ours, "NSADMIN_REPLAY_OF": "A"},
        {**ours, "NSADMIN_REPLAY_OF": "A"},
        {**ours, "NSADMIN_REPLAY_OF": "B", "REAL_TOPIC": "%RETRY%H"},
        {**ours, "NSADMIN_REPLAY_OF": "C", "NSADMIN_REPLAY_RUN": "R1"},
        {"REAL_TOPIC": RETRY},
    ):
        dlq.store_message(b"", "SCHEDULE_TOPIC_XXXX", 2, 0, **table)
    assert watch.count_failures() == {"broker-a": 1}
    dlq.add_letter(b"dead", "T", 0, NSADMIN_REPLAY_OF="A", NSADMIN_REPLAY_RUN="R2")
    dlq.add_letter(b"dead", "T", 0, NSADMIN_REPLAY_OF="D", NSADMIN_REPLAY_RUN="R2")
    assert watch.count_failures() == {"broker-a": 2}
    assert watch.count_failures() == {"broker-a": 2}


def test_a_broker_that_does_not_show_its_delayed_messages_is_watched_by_its_dead_letters(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    known = dlq.handlers[30]
    dlq.handlers[30] = lambda asked: (
        build_reply(asked, 16) if (asked.ext or {})["topic"] == "SCHEDULE_TOPIC_XXXX" else known(asked)
    )
    watch = FailureWatch(admin.queue_reader, GROUP, "R", [("broker-a", dlq.addr)])
    dlq.add_letter(b"dead", "T", 0, NSADMIN_REPLAY_OF="D", NSADMIN_REPLAY_RUN="R")
    assert watch.count_failures() == {"broker-a": 1}


def test_a_message_that_is_popped_again_failed_before(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    """The broker puts it into its retry topic again, with one attempt more. The replay itself has none."""
    topic = "%RETRY%G_T"
    watch = FailureWatch(admin.queue_reader, GROUP, "R", [("broker-a", dlq.addr)])
    queue = SendQueue(topic, "broker-a", dlq.addr, 0)
    watch.add_retry_queue(queue)
    ours = {"NSADMIN_REPLAY_RUN": "R", "NSADMIN_REPLAY_OF": "A"}
    dlq.store_message(b"sent", topic, 0, 0, **ours)
    assert watch.count_failures() == {"broker-a": 0}
    dlq.queues[topic, 0].append(
        encode_message(b"again", topic, table=ours, queue_offset=1, reconsume_times=1, store_port=dlq.port)
    )
    watch.add_retry_queue(queue)
    assert watch.count_failures() == {"broker-a": 1}
