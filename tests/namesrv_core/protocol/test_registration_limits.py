"""Limits of a registration: far too much of it is refused by a look at its text, all else is read as ever."""

from collections.abc import Callable
from struct import pack
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from namesrv_core.errors import OverLimit
from namesrv_core.protocol import fastjson, registration_codec
from namesrv_core.protocol.json_bodies import DataVersion
from namesrv_core.protocol.registration_codec import BrokerRegistration, decode_registration
from namesrv_core.protocol.size_limits import DecodeLimits
from tests.namesrv_core.protocol.test_compressed_registration import compressed, part
from tests.namesrv_core.protocol.test_registration_codec import MAPPING, NOW, VERSION, raw, read
from tests.support.wire import registration_body

MANY = 1000
TABLE = ",".join(f'"{number}":{{}}' for number in range(MANY))
NAMED = TABLE.replace("{}", '{"topicName":"a"}')
FEW = DecodeLimits(registration_topics=100, registration_mappings=100, lenient_registration_bytes=4000)
COMPRESSED = compressed(filters=b'["1:2"]', mappings=pack(">i", 1) + part(fastjson.encode_json(MAPPING)))
JSON_IN_IT = len(fastjson.encode_json(VERSION)) + len(b'["1:2"]') + len(fastjson.encode_json(MAPPING))


def over(limits: DecodeLimits, body: bytes) -> str:
    """What is said of a body that has too much."""
    with pytest.raises(OverLimit) as caught:
        decode_registration(body, version=513, compressed=False, now=NOW, within=limits)
    return str(caught.value.remark)


@pytest.fixture
def read_as(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the texts that a decoder was given, other than for a first look at where tables are."""
    sizes: list[int] = []

    class Noted:
        def __init__(self, real: Any) -> None:
            self._real = real

        def decode(self, text: Any) -> Any:
            sizes.append(len(bytes(text)))
            return self._real.decode(text)

    for name in ("_topics_decoder", "_mappings_decoder", "_json_decoder"):
        monkeypatch.setattr(registration_codec, name, Noted(getattr(registration_codec, name)))
    return sizes


@pytest.mark.parametrize("mappings", [{}, {"T0": MAPPING, "T1": MAPPING}])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(st.text('aT%|é"\\', max_size=4), min_size=1, max_size=5, unique=True))
def test_just_as_many_topics_as_there_may_be_are_read_as_ever(
    mappings: dict[str, object], names: list[str]
) -> None:
    body = registration_body(list(names), DataVersion(3, 1, 9), mappings, ["1:2"])
    assert len(body) > 100 * len(names)
    tight = DecodeLimits(registration_topics=len(names), registration_mappings=len(mappings))
    assert decode_registration(body, version=513, compressed=False, now=NOW, within=tight) == read(body)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        (f'"topicConfigTable":{{{TABLE}}}', "at least 500 topics, over the limit maxTopicsPerRegistration"),
        (f'"topicConfigTable":{{{NAMED}}}', "at least 1000 topics, over the limit maxTopicsPerRegistration"),
        (
            f'"topicQueueMappingInfoMap":{{{TABLE}}}',
            "at least 500 queue mappings, over the limit maxMappingsPerRegistration",
        ),
        (
            f'"dataVersion":{{"counter":"1"}},"more":[{",".join(["{}"] * MANY)}]',
            "about 478 topics, over the limit maxTopicsPerRegistration",
        ),
    ],
)
def test_what_is_far_too_much_is_counted_and_not_read(text: str, limit: str, read_as: list[int]) -> None:
    limits = FEW._replace(lenient_registration_bytes=1 << 20, registration_mappings=30)
    assert over(limits, raw(text)).endswith(limit)
    assert not read_as


def id_map(count: int, quote: str) -> str:
    return "{" + ",".join(f"{quote}{number}{quote}:{number}" for number in range(count)) + "}"


def mapped(count: int, quote: str = '"', odd: str = "") -> bytes:
    """Two mappings with so many queue ids together."""
    parts = (
        f'"T{number}":{{"topic":"T{number}","currIdMap":{id_map(ids, quote)}{odd}}}'
        for number, ids in enumerate((count // 2, count - count // 2))
    )
    return raw(f'"topicQueueMappingInfoMap":{{{",".join(parts)}}}')


def mapped_compressed(count: int, quote: str = "") -> bytes:
    text = f'{{"topic":"T","bname":"b","currIdMap":{id_map(count, quote)}}}'
    return compressed(mappings=pack(">i", 1) + part(text.encode()))


@pytest.mark.parametrize(
    ("encode", "is_compressed"),
    [
        (mapped, False),
        (lambda count: mapped(count, ""), False),
        (lambda count: mapped(count, odd=',"epoch":"5"'), False),
        (mapped_compressed, True),
        (lambda count: mapped_compressed(count, '"'), True),
    ],
)
def test_queue_ids_of_all_mappings_are_counted(encode: Callable[[int], bytes], is_compressed: bool) -> None:
    def decode(count: int) -> BrokerRegistration:
        ids = DecodeLimits(registration_queue_ids=10)
        return decode_registration(encode(count), version=513, compressed=is_compressed, now=NOW, within=ids)

    mappings = decode(10).queue_mappings.values()
    assert sum(len(mapping.curr_id_map) for mapping in mappings if mapping) == 10
    for count in (11, 5000):
        with pytest.raises(OverLimit, match="queue ids, over the limit maxQueueIdsPerRegistration"):
            decode(count)


def test_far_too_many_queue_ids_are_refused_before_they_are_read(read_as: list[int]) -> None:
    for quote in ('"', ""):
        over(DecodeLimits(registration_queue_ids=10), mapped(5000, quote))
    assert not read_as


@pytest.mark.parametrize(
    "text",
    [
        f'"topicConfigTable":{{{TABLE}}},"topicConfigTable":{{}}',
        f'"topicQueueMappingDetailMap":{{{TABLE}}}',
        f'"more":[{",".join(["{}"] * MANY)}]',
    ],
)
def test_what_registers_nothing_neither_counts_nor_costs(text: str, read_as: list[int]) -> None:
    registration = decode_registration(raw(text), version=513, compressed=False, now=NOW, within=FEW)
    assert (registration.topic_configs, registration.queue_mappings) == ({}, {})
    assert read_as == [len("{}"), len("{}")]


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ('"topicConfigTable":{"a":{"perm":"6"},"b":{}}', "2 topics, over the limit maxTopicsPerRegistration"),
        (
            '1:2,"topicQueueMappingInfoMap":{"a":{},"b":{}}',
            "2 queue mappings, over the limit maxMappingsPerRegistration",
        ),
    ],
)
def test_an_odd_registration_has_the_same_limits(text: str, limit: str) -> None:
    assert over(DecodeLimits(registration_topics=1, registration_mappings=1), raw(text)).endswith(limit)


def test_filter_servers_are_counted() -> None:
    body = registration_body(["T"], DataVersion(3, 1, 9), {}, ["1:2", "1:3", "1:4"])
    registration = decode_registration(
        body, version=513, compressed=False, now=NOW, within=DecodeLimits(registration_filters=3)
    )
    assert registration.filter_servers == ["1:2", "1:3", "1:4"]
    text = over(DecodeLimits(registration_filters=2), body)
    assert text.endswith("3 filter servers, over the limit maxFilterServersPerRegistration")


def test_all_json_of_a_compressed_registration_together_is_limited() -> None:
    limits = DecodeLimits(lenient_registration_bytes=JSON_IN_IT)
    assert decode_registration(COMPRESSED, version=513, compressed=True, now=NOW, within=limits) == read(
        COMPRESSED
    )
    text = over(DecodeLimits(lenient_registration_bytes=JSON_IN_IT - 1), COMPRESSED)
    assert text.endswith(
        f"more than {JSON_IN_IT - 1} bytes of JSON in a compressed registration,"
        " over the limit maxOddRegistrationBytes"
    )


def test_attributes_of_a_compressed_topic_may_have_any_number_of_blanks() -> None:
    body = compressed("T 8 7 6 SINGLE_TAG" + " " * 100_000)
    assert list(read(body, compressed=True).topic_configs or ()) == ["T"]
