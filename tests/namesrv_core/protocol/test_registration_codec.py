"""REGISTER_BROKER bodies in their three forms, whole, odd and broken."""

import json
import zlib
from struct import pack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.errors import OverLimit
from namesrv_core.protocol import fastjson, registration_codec
from namesrv_core.protocol.json_bodies import DataVersion, MappingInfo
from namesrv_core.protocol.registration_codec import (
    BrokerRegistration,
    RegisteredTopicConfig,
    decode_registration,
)
from namesrv_core.protocol.size_limits import DecodeLimits
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


def one_topic(**members: object) -> RegisteredTopicConfig:
    topics = read(wrapped(topicConfigTable={"T": {"topicName": "T", **members}})).topic_configs
    assert topics is not None
    return topics["T"]


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


def test_no_body_registers_nothing_and_clears_the_filters() -> None:
    assert read(b"") == BrokerRegistration(DataVersion(0, 0, 0), {}, {}, [])


def test_before_3_0_11_the_body_is_the_bare_wrapper() -> None:
    bare = fastjson.encode_json({"dataVersion": VERSION, "topicConfigTable": {"T": {"topicName": "T"}}})
    assert read(bare, version=36) == BrokerRegistration(
        DataVersion(3, 0, 9), {"T": RegisteredTopicConfig("T")}, {}, None
    )
    assert read(bare, version=0).topic_configs == {"T": RegisteredTopicConfig("T")}
    assert read(bare, version=37).topic_configs == {}


@pytest.mark.parametrize("text", ["{}", "null", '""'])
def test_a_wrapper_without_anything_is_a_version_of_now(text: str) -> None:
    body = f'{{"{WRAPPER}":{text}}}'.encode()
    assert read(body) == BrokerRegistration(DataVersion(0, 0, NOW), {}, {}, [])


def test_an_empty_object_is_a_version_of_now() -> None:
    assert read(b"{}") == BrokerRegistration(DataVersion(0, 0, NOW), {}, {}, [])


def test_an_empty_data_version_is_one_of_now() -> None:
    assert read(raw('"dataVersion":{}')).data_version == DataVersion(0, 0, NOW)


@pytest.mark.parametrize("text", ["null", '""'])
def test_a_topic_table_may_be_nothing(text: str) -> None:
    assert not read(raw(f'"topicConfigTable":{text}')).topic_configs


def test_a_data_version_may_be_null() -> None:
    assert read(raw('"dataVersion":null')).data_version is None


@pytest.mark.parametrize(
    ("version", "seen"),
    [
        ('{"counter":null,"timestamp":9}', DataVersion(None, 0, 9)),
        ('{"counter":"5","stateVersion":"6","timestamp":"7"}', DataVersion(5, 6, 7)),
        ('{"counter":1.5,"timestamp":2.9}', DataVersion(1, 0, 2)),
        ('{"counter":"","stateVersion":null,"timestamp":null}', DataVersion(0, 0, 0)),
    ],
)
def test_numbers_of_a_data_version_may_be_odd(version: str, seen: DataVersion) -> None:
    assert read(raw(f'"dataVersion":{version}')).data_version == seen


def test_numbers_that_are_missing_have_their_defaults() -> None:
    assert one_topic() == RegisteredTopicConfig("T", 16, 16, 6, 0)


@pytest.mark.parametrize("member", ["perm", "readQueueNums", "writeQueueNums", "topicSysFlag"])
@pytest.mark.parametrize(
    ("text", "number"), [("null", 0), ('"4"', 4), ("5.7", 5), ("true", 1), ("[1]", 1), ("{}", 0), ('""', 0)]
)
def test_a_number_of_another_type_becomes_one(member: str, text: str, number: int) -> None:
    topics = read(raw(f'"topicConfigTable":{{"T":{{"topicName":"T","{member}":{text}}}}}')).topic_configs
    assert topics is not None
    assert getattr(topics["T"], member) == number


@pytest.mark.parametrize("text", ['"rw"', "2147483648", "1e400", "[1,2]", "[[1]]"])
def test_a_perm_that_is_no_int_is_refused(text: str) -> None:
    assert refused(raw(f'"topicConfigTable":{{"T":{{"topicName":"T","perm":{text}}}}}'))


@pytest.mark.parametrize(
    "members",
    [{"topicFilterType": "ODD"}, {"topicFilterType": None}, {"order": "true"}, {"order": None}, {"new": [1]}],
)
def test_members_that_a_name_server_does_not_use_may_be_anything(members: dict[str, object]) -> None:
    assert one_topic(**members) == RegisteredTopicConfig("T")


def test_member_names_in_another_case_are_unknown_members() -> None:
    assert one_topic(PERM=4, TopicName="X") == RegisteredTopicConfig("T")


def test_the_last_of_two_members_counts() -> None:
    topics = read(raw('"topicConfigTable":{"T":{"topicName":"T","perm":2,"perm":4}}')).topic_configs
    assert topics == {"T": RegisteredTopicConfig("T", perm=4)}


@pytest.mark.parametrize("text", ['{"$ref":"$.a"}', '{"@type":"java.util.HashMap","topicName":"T"}'])
def test_markers_of_java_s_serializers_are_taken(text: str) -> None:
    assert read(raw(f'"topicConfigTable":{{"T":{text}}}')).topic_configs is not None


def test_a_null_topic_config_is_refused() -> None:
    assert refused(raw('"topicConfigTable":{"T":null}'))


def test_a_null_mapping_is_handed_on_as_null() -> None:
    assert read(raw('"topicQueueMappingInfoMap":{"T":null}')).queue_mappings == {"T": None}


@pytest.mark.parametrize("keys", ["{0:0,1:1}", '{"0":0,"1":1}', '{"0":"0", 1 : 1}'])
def test_queue_ids_of_a_mapping_may_be_bare_or_quoted(keys: str) -> None:
    info = f'{{"bname":"a","currIdMap":{keys},"epoch":5,"topic":"T","totalQueues":2}}'
    assert read(raw(f'"topicQueueMappingInfoMap":{{"T":{info}}}')).queue_mappings == {"T": READ_MAPPING}


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ('"a,b"', ["a,b"]),
        ('""', []),
        ("[]", []),
        ('["a"]', ["a"]),
        ("[1,true]", ["1", "true"]),
        ('[null,"f"]', [None, "f"]),
        ("{}", None),
        ("5", None),
        ("null", None),
    ],
)
def test_a_filter_list_is_read_or_says_keep_what_is_known(
    text: str, filters: list[str | None] | None
) -> None:
    body = f'{{"filterServerList":{text},"{WRAPPER}":{{"dataVersion":{{"timestamp":9}}}}}}'.encode()
    assert read(body).filter_servers == filters


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
    # A bare integer key is more than the typed decoder takes.
    lenient = outcome(b'{"bare":{1:2}' + (b"," if value else b"") + body[1:])
    assert outcome(body) == lenient


def test_what_brokers_really_send_goes_the_fast_way() -> None:
    body = registration_body(["A", "B"], DataVersion(3, 1, 9), filters=["1:2"])
    assert registration_codec.convert_typed_json(
        registration_codec.decode_typed_json(body, DecodeLimits()), NOW
    ) == read(body)


def compressed(*topics: str, filters: bytes = b"[]", mappings: bytes | None = pack(">i", 0)) -> bytes:
    parts = [
        part(fastjson.encode_json(VERSION)),
        pack(">i", len(topics)),
        *(part(topic.encode()) for topic in topics),
    ]
    return zlib.compress(b"".join([*parts, part(filters), mappings or b""]))


def part(content: bytes) -> bytes:
    return pack(">i", len(content)) + content


def test_a_compressed_body_is_read() -> None:
    mapping = pack(">i", 1) + part(fastjson.encode_json(MAPPING))
    body = compressed(
        "T 8 7 6 SINGLE_TAG", 'U 1 2 4 MULTI_TAG {"a":"b"}', filters=b'["1:2"]', mappings=mapping
    )
    assert read(body, compressed=True) == BrokerRegistration(
        DataVersion(3, 0, 9),
        {"T": RegisteredTopicConfig("T", 8, 7, 6, 0), "U": RegisteredTopicConfig("U", 1, 2, 4, 0)},
        {"T": READ_MAPPING},
        ["1:2"],
    )


def test_before_5_0_0_a_compressed_body_ends_without_mappings() -> None:
    body = compressed("T 8 7 6 SINGLE_TAG", mappings=None)
    assert read(body, version=412, compressed=True).topic_configs == {
        "T": RegisteredTopicConfig("T", 8, 7, 6)
    }
    assert refused(body, version=413, compressed=True)


def test_a_compressed_filter_list_that_is_no_json_is_empty() -> None:
    assert read(compressed(filters=b"x"), compressed=True).filter_servers == []


@pytest.mark.parametrize(
    "topic",
    [
        "T 8 7 6",
        "T",
        "",
        "T 8 7 6 ODD_TAG",
        "T 8 7 x SINGLE_TAG",
        "T 8 7 2147483648 SINGLE_TAG",
        "T 8 7 6  SINGLE_TAG",
    ],
)
def test_a_compressed_topic_that_is_none_is_refused(topic: str) -> None:
    assert refused(compressed(topic), compressed=True)


@pytest.mark.parametrize("cut", range(1, 60, 3))
def test_a_compressed_body_cut_short_is_refused(cut: int) -> None:
    assert refused(compressed("T 8 7 6 SINGLE_TAG")[:cut], compressed=True)


@pytest.mark.parametrize(
    "content", [b"", b"\x00\x00\x00", pack(">i", -1), part(b"{}") + pack(">i", 1), part(b"[]") + bytes(12)]
)
def test_compressed_parts_that_break_off_are_refused(content: bytes) -> None:
    assert refused(zlib.compress(content), compressed=True)


def test_a_plain_body_that_says_it_is_compressed_is_refused() -> None:
    assert refused(WHOLE, compressed=True)


def test_a_compressed_null_mapping_is_refused() -> None:
    assert refused(compressed(mappings=pack(">i", 1) + part(b"null")), compressed=True)


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


def test_a_compressed_body_that_would_fill_the_memory_is_refused() -> None:
    bomb = zlib.compress(bytes(65 * 1024 * 1024))
    with pytest.raises(OverLimit, match="when inflated"):
        decode_registration(bomb, version=513, compressed=True, now=0, within=DecodeLimits())


def test_a_compressed_body_that_is_cut_is_refused() -> None:
    body = registration_codec.encode_compressed_registration(DataVersion(), {})
    with pytest.raises(ValueError, match="cut"):
        decode_registration(body[:-5], version=513, compressed=True, now=0)


def test_a_body_that_is_compressed_and_does_not_say_so_is_read() -> None:
    body = registration_codec.encode_compressed_registration(DataVersion(3, 0, 9), {})
    assert decode_registration(body, version=513, compressed=False, now=0).data_version == DataVersion(
        3, 0, 9
    )
