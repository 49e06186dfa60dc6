"""The shape of every event that is written is accepted, and nothing that could confuse a reader."""

import json
import random
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.events import EVENT_TYPES_BY_NAME, Event
from namesrv_core.history.record_lines import encode_record_line, parse_record_line
from namesrv_core.history.record_shapes import require_record_shape
from namesrv_core.history.records import (
    InvalidRecordError,
    RecordOrigin,
    event_of_record,
)
from namesrv_core.history.replay import JournalReplay
from namesrv_core.history.subject_filter import IndexTerms, JournalSubject, SubjectFilter
from nsadmin.commands.history.event_descriptions import describe_event
from tests.support.any_event import any_event

EVENTS = st.one_of(*(any_event(kind) for kind in EVENT_TYPES_BY_NAME.values())).filter(
    lambda event: all(change.before or change.after for change in getattr(event, "changes", ()))
)
ENVELOPE = {"v": 1, "seq": 7, "time": 8, "server": "s", "type": "KvPut", "cause": "c"}
KV = {"namespace": "n", "key": "k", "value": "v"}


def line(**fields: Any) -> bytes:
    return json.dumps({**ENVELOPE, **KV, **fields}).encode()


@given(EVENTS)
def test_every_event_that_is_written_has_its_shape(event: Event) -> None:
    record = parse_record_line(encode_record_line(7, "s", RecordOrigin(8, "c", "a:1"), event))
    assert require_record_shape(record) is record
    assert event_of_record(record) is not None


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"seq": True}, "is invalid"),
        ({"seq": -1}, "is invalid"),
        ({"time": "8"}, "is invalid"),
        ({"time": 10**15}, "is invalid"),
        ({"time": -1}, "is invalid"),
        ({"server": None}, "is invalid"),
        ({"type": ["KvPut"]}, "is invalid"),
        ({"cause": 5}, "is invalid"),
        ({"client": {}}, "is invalid"),
        ({"source": 5}, "is invalid"),
        ({"key": 5}, "KvPut 7: key has the wrong type"),
        ({"type": "TopicDeleted"}, "TopicDeleted 7: topic is missing"),
        (
            {"type": "TopicsChanged", "brokerName": "b", "reason": "r", "changes": [{}]},
            "changes has the wrong",
        ),
        (
            {"type": "TopicsChanged", "brokerName": "b", "reason": "r", "changes": [{"topics": []}]},
            "changes has the wrong",
        ),
        ({"type": "OfNextYear", "changes": [{"topics": None}]}, "changes has the wrong type"),
        ({"type": "OfNextYear", "namespace": {}}, "namespace has the wrong type"),
    ],
)
def test_another_shape_is_named(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidRecordError, match=said):
        require_record_shape(parse_record_line(line(**fields)))


def test_a_type_of_a_newer_program_is_taken() -> None:
    record = parse_record_line(line(type="OfNextYear", news=[1, {}]))
    assert require_record_shape(record) is record


ODD_VALUES: tuple[Any, ...] = (None, 5, -1, "", "x", [], [5], [None], {}, {"a": 1}, True, 1.5, [[]], 1 << 70)


@given(EVENTS, st.randoms())
def test_a_record_with_odd_values_is_refused_or_every_reader_understands_it(
    event: Event, chooser: random.Random
) -> None:
    fields = json.loads(encode_record_line(7, "s", RecordOrigin(8, "c", "a:1"), event))
    spoil(fields, chooser)
    try:
        record = require_record_shape(parse_record_line(json.dumps(fields).encode()))
    except InvalidRecordError:
        return
    IndexTerms().terms_of_record(record)
    for kind in ("topic", "broker", "cluster", "kv"):
        SubjectFilter(JournalSubject(kind, "x")).matching_fields(record)
    describe_event(record.event_type, record.event_fields)
    with suppress(InvalidRecordError):
        JournalReplay().feed_record(record)


def spoil(value: Any, chooser: random.Random) -> None:
    """Replace or remove one value anywhere in a JSON value."""
    keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = chooser.choice(keys)
    inner = value[key]
    if isinstance(inner, dict | list) and inner and chooser.random() < 0.7:
        spoil(inner, chooser)
    elif chooser.random() < 0.2:
        del value[key]
    else:
        value[key] = chooser.choice(ODD_VALUES)
