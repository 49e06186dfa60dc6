"""A replay: what is sent, what is sent only once, and what stops it."""

import zlib
from collections.abc import Iterator
from itertools import islice
from time import monotonic

import pytest

from namesrv_core.errors import RequestError
from nsadmin import AdminClient
from nsadmin.client import NotApplied
from nsadmin.client.messages.dead_letter_replay import BrokerReplay, ReplayOptions
from nsadmin.client.messages.dead_letter_selection import EVERY_LETTER, DeadLetterSelection
from nsadmin.client.messages.replay_memory import ReplayMemory
from tests.support.dead_letter_brokers import DEAD, GROUP, RETRY, DeadLetterBroker
from tests.support.servers import FakeNameServer


@pytest.fixture
def graves() -> Iterator[DeadLetterBroker]:
    with DeadLetterBroker() as running:
        yield running


@pytest.fixture
def admin(graves: DeadLetterBroker) -> Iterator[AdminClient]:
    with FakeNameServer({"C": {"broker-a": {0: graves.addr}}}) as server:
        server.routes = {topic: {"broker-a": 6} for topic in (DEAD, RETRY, "T", "U")}
        with AdminClient(server.addr, timeout=0.5) as client:
            yield client


def replay(
    admin: AdminClient,
    selection: DeadLetterSelection = EVERY_LETTER,
    options: ReplayOptions = ReplayOptions(),  # noqa: B008 - it cannot be changed
    memory: ReplayMemory | None = None,
) -> BrokerReplay:
    spans, errors = admin.dead_letters.list_spans(GROUP, selection)
    assert errors == {}
    *_, last = admin.dead_letters.replay(GROUP, spans, selection, options, memory)
    return last


def bodies(graves: DeadLetterBroker, topic: str = RETRY) -> list[str]:
    return sorted(message.body.decode() for message in graves.stored(topic))


def test_a_dead_letter_goes_to_the_retry_topic_with_the_properties_of_its_producer(
    admin: AdminClient, graves: DeadLetterBroker
) -> None:
    graves.bury(b"one", UNIQ_KEY="U1", KEYS="k", TAGS="A", mine="1", TRAN_MSG="true", TIMER_DELAY_MS="5")
    assert replay(admin) == BrokerReplay("broker-a", total=1, examined=1, replayed=1)
    [message] = graves.stored(RETRY)
    [dead] = graves.stored(DEAD)
    run_id = message.properties.pop("NSADMIN_REPLAY_RUN")
    assert (message.body, len(run_id)) == (b"one", 16)
    assert message.properties == {
        "UNIQ_KEY": "U1", "KEYS": "k", "TAGS": "A", "mine": "1", "WAIT": "true", "RETRY_TOPIC": "T",
        "ORIGIN_MESSAGE_ID": "origin of one", "NSADMIN_REPLAYS": "1",
        "NSADMIN_REPLAY_OF": dead.offset_msg_id,
    }  # fmt: skip
    [sent] = graves.sent
    assert (sent.ext or {})["g"] == str(dead.born_timestamp)
    assert (sent.ext or {})["j"] == "0"


def test_a_dead_letter_is_replayed_once_for_one_memory(admin: AdminClient, graves: DeadLetterBroker) -> None:
    memory = ReplayMemory()
    for number in range(40):
        graves.bury(b"%d" % number)
    assert replay(admin, memory=memory).replayed == 40
    graves.bury(b"new")
    assert replay(admin, memory=memory) == BrokerReplay("broker-a", 41, 41, 1, known=40)
    assert len(graves.stored(RETRY)) == 41
    again = ReplayOptions(repeats_replays=True)
    assert replay(admin, options=again, memory=memory).replayed == 41


def test_after_a_kill_only_what_did_not_arrive_is_sent(
    admin: AdminClient, graves: DeadLetterBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = ReplayMemory()
    for number in range(10):
        graves.bury(b"%d" % number)

    spans, _ = admin.dead_letters.list_spans(GROUP, EVERY_LETTER)
    run = admin.dead_letters.replay(GROUP, spans, EVERY_LETTER, memory=memory)
    graves.on_send = lambda: graves.refusals.append(1) if len(graves.sent) > 4 else None
    with monkeypatch.context() as patch:
        patch.setattr(memory, "end_batch", die_of_sigkill)
        with pytest.raises(KeyboardInterrupt):
            list(run)
    assert [batch.ids_by_offset.keys() for batch in memory.pending.values()] == [set(range(10))]
    assert len(graves.stored(RETRY)) == 4
    graves.on_send = lambda: None
    assert replay(admin, memory=memory) == BrokerReplay("broker-a", 10, 10, 6, known=4)
    assert bodies(graves) == [str(number) for number in range(10)]


def die_of_sigkill(*_: object) -> None:
    raise KeyboardInterrupt


def test_what_arrived_without_an_answer_counts_as_replayed(
    admin: AdminClient, graves: DeadLetterBroker
) -> None:
    for number in range(3):
        graves.bury(b"%d" % number)
    graves.answers_sends = False
    done = replay(admin)
    assert (done.replayed, done.failed, done.error) == (3, 0, None)
    assert len(graves.sent) == 3


def test_a_busy_broker_gets_a_message_again(admin: AdminClient, graves: DeadLetterBroker) -> None:
    graves.bury(b"one")
    graves.refusals = [2]
    assert replay(admin).replayed == 1
    assert (len(graves.sent), bodies(graves)) == (2, ["one"])


def test_a_refused_message_is_counted_and_tried_by_the_next_run(
    admin: AdminClient, graves: DeadLetterBroker
) -> None:
    memory = ReplayMemory()
    graves.bury(b"one")
    graves.refusals = [13]
    done = replay(admin, memory=memory)
    assert (done.replayed, done.failed) == (0, 1)
    assert isinstance(done.error, RequestError)
    assert replay(admin, memory=memory).replayed == 1


def test_messages_that_cannot_be_replayed(admin: AdminClient, graves: DeadLetterBroker) -> None:
    graves.bury(b"no origin", origin=None)
    graves.bury(b"packed, they say", sys_flag=0x301)
    done = replay(admin)
    assert (done.failed, str(done.error)) == (2, "the dead letter does not name its origin topic")
    assert graves.sent == []


def test_a_message_that_died_again_after_three_replays_stays_dead(
    admin: AdminClient, graves: DeadLetterBroker
) -> None:
    graves.bury(b"often", NSADMIN_REPLAYS="3")
    graves.bury(b"seldom", NSADMIN_REPLAYS="2")
    done = replay(admin)
    assert (done.replayed, done.guarded, bodies(graves)) == (1, 1, ["seldom"])
    assert graves.stored(RETRY)[0].properties["NSADMIN_REPLAYS"] == "3"
    assert replay(admin, options=ReplayOptions(max_replays=None)).replayed == 2


def test_the_replay_stops_if_the_group_fails_again(admin: AdminClient, graves: DeadLetterBroker) -> None:
    for number in range(40):
        graves.bury(b"%d" % number)

    def fail_again() -> None:
        """The broker keeps what a client returns for the delay of the first retry."""
        properties = (graves.sent[-1].ext or {})["i"] or ""
        table = dict(item.split("\x01") for item in properties.split("\x02") if item)
        graves.store(b"", "SCHEDULE_TOPIC_XXXX", 2, 0, REAL_TOPIC=RETRY, **table)

    graves.on_send = fail_again
    with pytest.raises(NotApplied, match="40 of 40 replayed messages failed again, and the limit is 3"):
        replay(admin, options=ReplayOptions(max_failures=3))
    graves.on_send = lambda: None
    assert replay(admin, options=ReplayOptions(max_failures=0)).failed_again == 0


def test_a_limit_counts_what_an_interrupted_run_replayed(
    admin: AdminClient, graves: DeadLetterBroker
) -> None:
    memory, selection = ReplayMemory(), DeadLetterSelection(max_messages=50)
    for number in range(100):
        graves.bury(b"%d" % number)
    spans, _ = admin.dead_letters.list_spans(GROUP, selection)
    run = admin.dead_letters.replay(GROUP, spans, selection, memory=memory)
    [first] = islice(run, 1)
    assert first.replayed == 32
    run.close()  # type: ignore[attr-defined]
    assert replay(admin, selection, memory=memory).replayed == 18
    assert replay(admin, selection, memory=memory).replayed == 50


def test_a_queue_that_was_created_again_has_no_replayed_messages(
    admin: AdminClient, graves: DeadLetterBroker
) -> None:
    memory = ReplayMemory()
    for number in range(3):
        graves.bury(b"%d" % number)
    assert replay(admin, memory=memory).replayed == 3
    graves.queues[DEAD, 0] = []
    for _ in range(3):
        graves.bury(b"other")
    assert replay(admin, memory=memory).replayed == 3
    graves.queues[DEAD, 0] = []
    graves.bury(b"fewer")
    assert replay(admin, memory=memory).replayed == 1


def test_a_rate_spreads_the_messages(admin: AdminClient, graves: DeadLetterBroker) -> None:
    for number in range(10):
        graves.bury(b"%d" % number)
    began_at = monotonic()
    assert replay(admin, options=ReplayOptions(messages_per_second=40)).replayed == 10
    assert monotonic() - began_at >= 0.15


def test_origin_topics_get_messages_without_a_trace_of_the_retry(
    admin: AdminClient, graves: DeadLetterBroker
) -> None:
    graves.bury(b"one")
    graves.bury(b"two", origin="U")
    graves.bury(b"three", origin="gone")
    done = replay(admin, options=ReplayOptions(to_origin=True))
    assert (done.replayed, done.failed) == (2, 1)
    assert (bodies(graves, "T"), bodies(graves, "U"), bodies(graves)) == (["one"], ["two"], [])
    assert "RETRY_TOPIC" not in graves.stored("T")[0].properties


def test_a_body_that_was_compressed_is_sent_compressed(admin: AdminClient, graves: DeadLetterBroker) -> None:
    graves.store(zlib.compress(b"x" * 9000), DEAD, 0, 0x301, RETRY_TOPIC="T")
    assert replay(admin).replayed == 1
    [message] = graves.stored(RETRY)
    assert (message.body, message.sys_flag) == (b"x" * 9000, 1)
    assert len(graves.sent[0].body) < 100
