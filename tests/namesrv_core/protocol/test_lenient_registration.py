"""Odd REGISTER_BROKER bodies, which are read as leniently as 5.5.0 does."""

import pytest

from namesrv_core.protocol.json_bodies import DataVersion
from namesrv_core.protocol.registration_codec import BrokerRegistration, RegisteredTopicConfig
from tests.namesrv_core.protocol.test_registration_codec import (
    NOW,
    READ_MAPPING,
    WRAPPER,
    raw,
    read,
    refused,
    wrapped,
)


def one_topic(**members: object) -> RegisteredTopicConfig:
    topics = read(wrapped(topicConfigTable={"T": {"topicName": "T", **members}})).topic_configs
    assert topics is not None
    return topics["T"]


def test_a_wrapper_without_anything_is_a_version_of_now() -> None:
    assert read(f'{{"{WRAPPER}":{{}}}}'.encode()) == BrokerRegistration(DataVersion(0, 0, NOW), {}, {}, [])


@pytest.mark.parametrize("text", ["null", '""'])
def test_a_null_wrapper_is_a_version_of_now_and_keeps_the_known_topics(text: str) -> None:
    body = f'{{"{WRAPPER}":{text},"filterServerList":["f"]}}'.encode()
    assert read(body) == BrokerRegistration(DataVersion(0, 0, NOW), None, {}, ["f"])
    assert read(text.encode(), version=36) == BrokerRegistration(DataVersion(0, 0, NOW), None, {}, None)


def test_an_empty_object_is_a_version_of_now() -> None:
    assert read(b"{}") == BrokerRegistration(DataVersion(0, 0, NOW), {}, {}, [])


def test_an_empty_data_version_is_one_of_now() -> None:
    assert read(raw('"dataVersion":{}')).data_version == DataVersion(0, 0, NOW)


@pytest.mark.parametrize("text", ["null", '""'])
def test_a_null_topic_table_keeps_the_known_topics_and_an_absent_one_is_empty(text: str) -> None:
    assert read(raw(f'"topicConfigTable":{text}')).topic_configs is None
    assert read(raw('"more":1')).topic_configs == {}


@pytest.mark.parametrize("text", ["null", '""'])
def test_a_null_table_of_queue_mappings_is_an_empty_one(text: str) -> None:
    assert read(raw(f'"topicQueueMappingInfoMap":{text}')).queue_mappings == {}


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
    ("text", "number"),
    [
        ("null", 0), ('"4"', 4), ("5.7", 5), ("true", 1), ("[1]", 1), ("{}", 0), ('""', 0),
        ("1e400", 2**31 - 1), ("4294967302.0", 6),
    ],
)  # fmt: skip
def test_a_number_of_another_type_becomes_one(member: str, text: str, number: int) -> None:
    topics = read(raw(f'"topicConfigTable":{{"T":{{"topicName":"T","{member}":{text}}}}}')).topic_configs
    assert topics is not None
    assert getattr(topics["T"], member) == number


@pytest.mark.parametrize("text", ['"rw"', "2147483648", "[1,2]", "[[1]]"])
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
