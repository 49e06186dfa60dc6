"""Whom a record concerns, and with which part."""

from typing import Any

import pytest

from namesrv_core.events import (
    BrokerUnregistered,
    Event,
    EventsLost,
    Group,
    HeartbeatGap,
    KvDeleted,
    KvPut,
    MappingChange,
    MappingInfo,
    MappingsChanged,
    QueueData,
    SettingsChanged,
    TopicChange,
    TopicDeleted,
    TopicsChanged,
    WritePermWiped,
    group_topic_changes,
)
from namesrv_core.history.record_lines import encode_record_line, parse_record_line
from namesrv_core.history.records import RecordOrigin
from namesrv_core.history.subject_filter import JournalSubject, SubjectFilter, SubjectKind
from tests.support.journals import make_snapshot, registration_events

RW, RO = QueueData("a", 8, 8, 6), QueueData("a", 8, 8, 4)
OTHER = QueueData("b", 4, 4, 6)
EVENTS: tuple[Event, ...] = (
    make_snapshot("start", groups=(Group("c", "a", False, None, ()), Group("d", "b", False, None, ()))),
    *registration_events("a", "T", "U"),
    WritePermWiped("a", 2, group_topic_changes([TopicChange("T", RW, RO), TopicChange("U", RW, RO)])),
    TopicDeleted("T", None, group_topic_changes([TopicChange("T", RO, None), TopicChange("T", OTHER, None)])),
    TopicsChanged("b", "registration", group_topic_changes([TopicChange("\u4e3b\u9898", None, OTHER)])),
    MappingsChanged(
        "b", (MappingChange("S", "b", None, MappingInfo("S")), MappingChange("V", "b", None, None))
    ),
    KvPut("ORDER_TOPIC_CONFIG", "T", None, "a:4"),
    KvDeleted("n", "k", "v"),
    HeartbeatGap("c", "a", 0, "10.0.0.1:10911", 90_000, False),
    BrokerUnregistered("d", "b", 0, "b:1", "expired", 1),
    SettingsChanged(()),
    EventsLost(1),
)


def concerned(kind: SubjectKind, name: str, key: str | None = None) -> list[tuple[int, Any]]:
    """The number of each event that concerns it, and its part; no line is passed over that should not be."""
    concerned_records = []
    concerning = SubjectFilter(JournalSubject(kind, name, key))
    for number, event in enumerate(EVENTS):
        text = encode_record_line(number + 1, "s", RecordOrigin(1, "test"), event)
        part = concerning.matching_fields(parse_record_line(text))
        if part is not None:
            assert concerning.can_match_line(text), text
            concerned_records.append((number, part))
    assert concerned_records[-1][0] == len(EVENTS) - 1, "a loss concerns all"
    return concerned_records[:-1]


@pytest.mark.parametrize(
    ("kind", "name", "key", "numbers"),
    [
        ("topic", "T", None, [2, 3, 4, 7]),
        ("topic", "U", None, [2, 3]),
        ("topic", "\u4e3b\u9898", None, [5]),
        ("topic", "S", None, [6]),
        ("topic", "a", None, []),
        ("broker", "a", None, [1, 2, 3, 4, 9]),
        ("broker", "b", None, [4, 5, 6, 10]),
        ("cluster", "c", None, [1, 2, 3, 9]),
        ("cluster", "d", None, [5, 6, 10]),
        ("kv", "n", None, [8]),
        ("kv", "n", "k", [8]),
        ("kv", "n", "other", []),
        ("kv", "ORDER_TOPIC_CONFIG", "T", [7]),
    ],
)
def test_which_events_concern_it(kind: SubjectKind, name: str, key: str | None, numbers: list[int]) -> None:
    assert [number for number, _ in concerned(kind, name, key)] == numbers


def test_of_lists_only_its_own_part_is_left() -> None:
    _, wiped, deleted, _ = concerned("topic", "T")
    assert wiped[1]["changes"] == [
        {
            "topics": ["T"],
            "before": dict(zip(NAMES, (*RW,), strict=True)),
            "after": dict(zip(NAMES, (*RO,), strict=True)),
        }
    ]
    assert [change["before"]["brokerName"] for change in deleted[1]["changes"]] == ["a", "b"]
    assert [change["topic"] for change in concerned("topic", "S")[0][1]["mappingChanges"]] == ["S"]
    of_broker = dict(concerned("broker", "b"))[4]
    assert [change["before"]["brokerName"] for change in of_broker["changes"]] == ["b"]


NAMES = ("brokerName", "readQueueNums", "writeQueueNums", "perm", "topicSysFlag")


def test_without_a_subject_everything_counts() -> None:
    concerning = SubjectFilter(None)
    for number, event in enumerate(EVENTS):
        text = encode_record_line(number + 1, "s", RecordOrigin(1, "test"), event)
        assert concerning.can_match_line(text)
        assert concerning.matching_fields(parse_record_line(text)) == parse_record_line(text).event_fields


def test_lines_about_others_are_not_read() -> None:
    concerning = SubjectFilter(JournalSubject("topic", "Z"))
    texts = [encode_record_line(1, "s", RecordOrigin(1, "test"), event) for event in EVENTS]
    assert [concerning.can_match_line(text) for text in texts] == [False] * (len(EVENTS) - 1) + [True]
