"""A record reads back as the event that it was."""

import json
import typing

import pytest
from hypothesis import given

from namesrv_core.events import (
    EVENT_TYPES_BY_NAME,
    BrokerChanged,
    BrokerInfo,
    DataVersion,
    Event,
    KvPut,
    MappingChange,
    MappingInfo,
    MappingsChanged,
    QueueData,
    TopicChange,
    TopicsChanged,
    group_topic_changes,
    to_camel_case,
)
from namesrv_core.history.record_lines import encode_record_line, parse_record_line
from namesrv_core.history.records import (
    ENVELOPE_FIELDS,
    InvalidRecordError,
    RecordOrigin,
    event_of_record,
)
from tests.namesrv_core.history.test_record_schema import VALIDATOR
from tests.support.any_event import any_event

ORIGIN = RecordOrigin(1_700_000_000_123, "PUT_KV_CONFIG", "10.0.0.1:5")
QUEUE = QueueData("a", 8, 8, 6)


def written(event: Event) -> dict[str, typing.Any]:
    text = encode_record_line(7, "s", ORIGIN, event)
    assert text.endswith(b"}\n")
    assert text.count(b"\n") == 1
    return dict(json.loads(text))


def read_again(event: Event) -> Event | None:
    return event_of_record(parse_record_line(encode_record_line(7, "s", ORIGIN, event)))


def test_names_are_the_wire_s_also_inside_of_records() -> None:
    info = BrokerInfo("h:1", 5, DataVersion(1, 2, 3), ("f",))
    assert written(BrokerChanged("c", "a", 0, "x", 2, info=info))["info"] == {
        "haServerAddr": "h:1",
        "heartbeatTimeoutMillis": 5,
        "dataVersion": {"counter": 1, "stateVersion": 2, "timestamp": 3},
        "filterServers": ["f"],
    }
    assert to_camel_case("min_broker_addr") == "minBrokerAddr"


def test_topics_that_changed_alike_stand_together() -> None:
    changes = [TopicChange(f"T{number}", None, QUEUE) for number in range(3)]
    other = TopicChange("U", QUEUE, QUEUE._replace(perm=4))
    value = written(TopicsChanged("a", "registration", group_topic_changes([*changes, other, None])))
    assert [(group["topics"], "before" in group) for group in value["changes"]] == [
        (["T0", "T1", "T2"], False),
        (["U"], True),
    ]


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 512, 1000])
def test_long_lists_are_whole(count: int) -> None:
    changes = group_topic_changes(TopicChange(f"topic-{number}", None, QUEUE) for number in range(count))
    event = TopicsChanged("a", "registration", changes)
    assert read_again(event) == event


def test_a_mapping_reads_back_with_its_pairs_and_its_nulls() -> None:
    info = MappingInfo("T", None, 2, None, 1, True, ((0, 1), (1, 0)))
    event = MappingsChanged("a", (MappingChange("T", None, None, info), MappingChange("U", "a", info, None)))
    assert read_again(event) == event


@pytest.mark.parametrize("kind", EVENT_TYPES_BY_NAME.values(), ids=list(EVENT_TYPES_BY_NAME))
def test_every_event_reads_back_as_it_was_and_its_record_is_as_the_schema_says(kind: type[Event]) -> None:
    @given(any_event(kind))
    def test(event: Event) -> None:
        line = encode_record_line(7, "s", ORIGIN, event)
        assert fields(event_of_record(parse_record_line(line))) == fields(event)
        VALIDATOR.validate(json.loads(line))

    test()


def fields(event: Event | None) -> dict[str, typing.Any]:
    """Changes in an order that does not depend on how they stand together."""
    event_fields = vars(event)
    return (
        event_fields | {"changes": sorted(event_fields["changes"], key=repr)}
        if "changes" in event_fields
        else event_fields
    )


def test_no_field_of_an_event_is_called_as_one_of_the_record() -> None:
    for kind in EVENT_TYPES_BY_NAME.values():
        assert set(map(to_camel_case, kind.__annotations__)).isdisjoint(ENVELOPE_FIELDS)


def test_a_kind_that_is_not_known_is_none_and_fields_that_are_not_known_are_passed_over() -> None:
    text = encode_record_line(1, "s", ORIGIN, KvPut("n", "k", None, "v"))
    assert event_of_record(parse_record_line(text.replace(b"KvPut", b"KvMoved"))) is None
    assert event_of_record(parse_record_line(text.replace(b'"key"', b'"later":[1],"key"'))) == KvPut(
        "n", "k", None, "v"
    )


def test_a_record_without_a_field_that_it_must_have_is_refused() -> None:
    text = encode_record_line(1, "s", ORIGIN, KvPut("n", "k", None, "v"))
    with pytest.raises(InvalidRecordError, match="KvPut 1"):
        event_of_record(parse_record_line(text.replace(b'"key"', b'"kei"')))
