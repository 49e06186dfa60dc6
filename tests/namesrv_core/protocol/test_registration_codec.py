"""REGISTER_BROKER bodies in their three forms, whole, odd and broken."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.protocol import fastjson, lenient_registration, registration_codec
from namesrv_core.protocol.json_bodies import DataVersion, MappingInfo
from namesrv_core.protocol.registration_codec import (
    BrokerRegistration,
    RegisteredTopicConfig,
    decode_registration,
)
from namesrv_core.protocol.size_limits import NO_LIMITS, DecodeLimits
from tests.support.wire import registration_body, topic_config

NOW = 1_700_000_000_000
WRAPPER = "topicConfigSerializeWrapper"
VERSION = {"counter": 3, "stateVersion": 0, "timestamp": 9}


def read(body: bytes, version: int = 513, compressed: bool = False) -> BrokerRegistration:
    return decode_registration(body, version=version, compressed=compressed, now=NOW)


def wrapped(**members: object) -> bytes:
    return fastjson.encode_json({"filterServerList": [], WRAPPER: {"dataVersion": VERSION, **members}})


def raw(text: str) -> bytes:
    """A body with `text` as one more member of the wrapper, just as it stands."""
    return f'{{"filterServerList":[],"{WRAPPER}":{{"dataVersion":{{"timestamp":9}},{text}}}}}'.encode()


def refused(body: bytes, version: int = 513, compressed: bool = False) -> bool:
    with pytest.raises(ValueError, match=r"."):
        read(body, version, compressed)
    return True


MAPPING = {"bname": "a", "currIdMap": {0: 0, 1: 1}, "epoch": 5, "topic": "T", "totalQueues": 2}
READ_MAPPING = MappingInfo("T", total_queues=2, bname="a", epoch=5, curr_id_map=((0, 0), (1, 1)))


def test_what_a_broker_sends_is_read() -> None:
    config = topic_config("T", perm=4, readQueueNums=3, writeQueueNums=2, topicSysFlag=1)
    body = registration_body(["A", config], DataVersion(3, 1, 9), {"T": MAPPING}, ["1:2"])
    assert read(body) == BrokerRegistration(
        DataVersion(3, 1, 9),
        {"A": RegisteredTopicConfig("A", 8, 8, 6, 0), "T": RegisteredTopicConfig("T", 3, 2, 4, 1)},
        {"T": READ_MAPPING},
        ["1:2"],
    )


@pytest.mark.parametrize(("number", "epoch"), [("1e308", 2**63 - 1), ("1e400", 2**63 - 1), ("5.7", 5)])
def test_a_fraction_in_a_mapping_is_read_by_its_digits(number: str, epoch: int) -> None:
    wrapper = b'{"topicQueueMappingInfoMap":{"T":{"topic":"T","epoch":%s}}}' % number.encode()
    mapping = read(b'{"topicConfigSerializeWrapper":%s}' % wrapper).queue_mappings["T"]
    assert mapping is not None
    assert mapping.epoch == epoch


def test_no_body_registers_nothing_and_clears_the_filters() -> None:
    assert read(b"") == BrokerRegistration(DataVersion(0, 0, 0), {}, {}, [])


def test_before_3_0_11_the_body_is_the_bare_wrapper() -> None:
    bare = fastjson.encode_json({"dataVersion": VERSION, "topicConfigTable": {"T": {"topicName": "T"}}})
    assert read(bare, version=36) == BrokerRegistration(
        DataVersion(3, 0, 9), {"T": RegisteredTopicConfig("T")}, {}, None
    )
    assert read(bare, version=0).topic_configs == {"T": RegisteredTopicConfig("T")}
    assert read(bare, version=37).topic_configs == {}


@pytest.mark.parametrize("mappings", [{"T": MAPPING}, {"T": None}, {"T": {"epoch": "x"}}, [1], None])
def test_before_3_0_11_queue_mappings_are_an_unknown_member(mappings: object) -> None:
    bare = json.dumps({"topicConfigTable": {}, "topicQueueMappingInfoMap": mappings}).encode()
    for version in (0, 36):
        assert read(bare, version=version).queue_mappings == {}


WHOLE = wrapped(topicConfigTable={"T": topic_config("T")})


@pytest.mark.parametrize(
    "body",
    [
        b"null",
        b'""',
        b"[]",
        b"12",
        b" ",
        WHOLE[:-1],
        WHOLE + b"x",
        b"\xef\xbb\xbf" + WHOLE,
        WHOLE.replace(b'"filterServerList"', b"filterServerList"),
        WHOLE.replace(b'"T"', b'"\xff"'),
        WHOLE.replace(b"{", b'{"unknown":"\xff",', 1),
        WHOLE.replace(b"6,", b"NaN,"),
        f'{{"{WRAPPER}":[]}}'.encode(),
        raw('"topicConfigTable":[]'),
        raw('"topicConfigTable":"x"'),
        raw('"topicQueueMappingInfoMap":[]'),
        raw('"dataVersion":"x"'),
        raw('"topicConfigTable":{"T":[]}'),
        WHOLE.replace(b'"', b"'"),
        WHOLE.replace(b"}", b",}"),
        b"/* why */" + WHOLE,
        b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"filterServerList":[' + b"[" * 600 + b"]" * 600 + b"]}",
    ],
)  # fmt: skip
def test_what_5_5_0_does_not_decode_is_refused(body: bytes) -> None:
    assert refused(body)


@pytest.mark.parametrize("cut", range(1, len(WHOLE), 7))
def test_a_body_cut_short_is_refused(cut: int) -> None:
    assert refused(WHOLE[:cut])


INT = st.integers(-(2**31) - 2, 2**31 + 2)
LONG = st.integers(-(2**63) - 2, 2**63 + 2)
ODD = st.none() | st.booleans() | st.floats() | st.sampled_from(["", "4", "5.5", "rw", [], [1], {}])


def members(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=values)


CONFIGS = members(
    topicName=st.text(max_size=3) | st.none(),
    perm=INT | ODD,
    readQueueNums=INT,
    writeQueueNums=INT | ODD,
    topicSysFlag=INT,
    order=st.booleans(),
    attributes=st.dictionaries(st.text(max_size=2), st.text(max_size=2), max_size=1),
)
MAPPINGS = members(
    topic=st.text(max_size=2) | st.none(),
    bname=st.text(max_size=2),
    epoch=LONG,
    currIdMap=st.dictionaries(st.integers(0, 9).map(str), INT, max_size=2),
    dirty=st.booleans() | st.just("true"),
)
BODIES = members(
    filterServerList=st.lists(st.text(max_size=3) | st.integers(), max_size=2) | ODD,
    topicConfigSerializeWrapper=members(
        dataVersion=members(counter=LONG | ODD, stateVersion=LONG, timestamp=LONG | ODD) | ODD,
        topicConfigTable=st.dictionaries(st.text(max_size=3), CONFIGS, max_size=2) | ODD,
        topicQueueMappingInfoMap=st.dictionaries(st.text(max_size=3), MAPPINGS | st.none(), max_size=2) | ODD,
        more=ODD,
    ),
    more=ODD,
)


def outcome(body: bytes) -> BrokerRegistration | str:
    try:
        return read(body)
    except ValueError:
        return "refused"


@given(BODIES)
def test_the_fast_way_and_the_lenient_way_read_the_same(value: dict[str, object]) -> None:
    body = json.dumps(value).encode()
    try:
        json_value = fastjson.decode_json(body)
        lenient: BrokerRegistration | str = lenient_registration.read_lenient_body(json_value, NOW, NO_LIMITS)
    except ValueError:
        lenient = "refused"
    assert outcome(body) == lenient
    assert outcome(b'{"bare":{1:2}' + (b"," if value else b"") + body[1:]) == lenient


def test_what_brokers_really_send_goes_the_fast_way() -> None:
    body = registration_body(["A", "B"], DataVersion(3, 1, 9), filters=["1:2"])
    typed = registration_codec.decode_typed_json(body, DecodeLimits())
    with pytest.raises(StopIteration) as decoded:
        next(registration_codec.convert_typed_json(typed, NOW))
    assert decoded.value.value == read(body)


CONFIG = topic_config("T", perm=4, readQueueNums=3)


def test_a_registration_of_ours_reads_back() -> None:
    body = registration_codec.encode_registration(DataVersion(3, 1, 9), {"T": CONFIG}, ["1:2"])
    assert read(body) == BrokerRegistration(
        DataVersion(3, 1, 9), {"T": RegisteredTopicConfig("T", 3, 8, 4)}, {}, ["1:2"]
    )


def test_a_compressed_registration_of_ours_reads_back() -> None:
    body = registration_codec.encode_compressed_registration(
        DataVersion(3, 1, 9), {"T": CONFIG, "U": topic_config("U")}
    )
    assert read(body, compressed=True) == BrokerRegistration(
        DataVersion(3, 1, 9),
        {"T": RegisteredTopicConfig("T", 3, 8, 4), "U": RegisteredTopicConfig("U", 8, 8, 6)},
        {},
        [],
    )
