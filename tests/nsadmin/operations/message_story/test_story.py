"""The events of a message, one by one."""

from typing import Any

import pytest

from namesrv_core.errors import RequestError
from namesrv_core.protocol.stored_messages import decode_messages
from nsadmin.client.messages.consume_tracks import ConsumeTrack
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.client.messages.message_traces import MessageTrace
from nsadmin.operations.message_story.story import (
    describe_copy,
    describe_trace,
    list_message_events,
    list_track_events,
)
from tests.support.messages import encode_message

STORED = 1_700_000_000_000


def located(topic: str, reconsume_times: int = 0, **table: str) -> LocatedMessage:
    [message] = decode_messages(
        encode_message(b"x", topic, table=table, stored=STORED, queue_offset=7)
    ).messages
    return LocatedMessage("broker-a", message._replace(reconsume_times=reconsume_times))


def test_a_message_says_who_produced_it_and_where_it_is() -> None:
    produced, stored = list_message_events(located("T", KEYS="a b", TAGS="A", DELAY="3"))
    assert (produced.time_ms, produced.step, produced.detail) == (
        STORED - 5, "produced", "by 127.0.0.1:1, tag A, keys a b, delay DELAY=3",
    )  # fmt: skip
    assert (stored.time_ms, stored.step, stored.detail[:17]) == (STORED, "stored", "queue 0, offset 7")
    assert stored.located_message is not None


@pytest.mark.parametrize(
    ("copy", "step", "detail"),
    [
        (located("%RETRY%G", 2), "retry", "attempt 3"),
        (located("%RETRY%G", 0, NSADMIN_REPLAY_OF="A"), "replay", "sent by nsadmin"),
        (located("%RETRY%G", 1, NSADMIN_REPLAY_OF="A"), "retry", "attempt 2"),
        (located("%DLQ%G", 17), "dead letter", "attempts: 17"),
        (located("%DLQ%G", 1, NSADMIN_REPLAYS="2"), "dead letter", "attempts: 1, replays before: 2"),
    ],
)
def test_a_copy_is_a_retry_a_replay_or_a_dead_letter(copy: LocatedMessage, step: str, detail: str) -> None:
    event = describe_copy("G", copy)
    assert (event.time_ms, event.step, event.group, event.detail) == (STORED, step, "G", detail)


def test_groups_have_a_state_and_no_time() -> None:
    error = RequestError("no permission", 16)
    events = list_track_events([ConsumeTrack("G", "CONSUMED"), ConsumeTrack("H", "UNKNOWN", error)])
    [offline] = list_track_events([ConsumeTrack("I", "NOT_ONLINE", other_client_count=3)])
    assert offline.detail.endswith("is connected to its broker; 3 clients at other brokers")
    assert [(event.time_ms, event.group, event.detail) for event in events] == [
        (None, "G", "consumed"),
        (None, "H", "unknown: NO_PERMISSION (16): no permission"),
    ]


def test_a_trace_is_a_line() -> None:
    fields: Any = dict.fromkeys(MessageTrace._fields) | {
        "kind": "SubAfter",
        "time_ms": 5,
        "status": "failed",
        "cost_ms": 3,
        "client_host": "h:1",
    }
    trace = MessageTrace(**fields)
    assert describe_trace(trace).detail == "SubAfter, failed, 3 ms, by h:1"
