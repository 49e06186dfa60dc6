"""What counts as a failure of a replayed message."""

import pytest

from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from nsadmin.client import NotApplied
from nsadmin.client.messages.dead_letter_replay import ReplayOptions
from nsadmin.client.messages.failure_watch import FailureWatch
from nsadmin.client.messages.message_sender import SendQueue
from tests.support.dead_letter_brokers import GROUP, RETRY, DeadLetterBroker, replay_letters
from tests.support.messages import encode_message


def test_the_replay_stops_if_the_group_fails_again(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    for number in range(40):
        dlq.add_letter(b"%d" % number)

    def fail_again() -> None:
        """The broker keeps what a client returns for the delay of the first retry."""
        properties = (dlq.sent[-1].ext or {})["i"] or ""
        table = dict(item.split("\x01") for item in properties.split("\x02") if item)
        dlq.store_message(b"", "SCHEDULE_TOPIC_XXXX", 2, 0, REAL_TOPIC=RETRY, **table)

    dlq.on_send = fail_again
    with pytest.raises(NotApplied, match="40 of 40 replayed messages failed again, and the limit is 3"):
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
