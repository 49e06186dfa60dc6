"""Answers that follow from larger answers."""

import json

import pytest

from nsadmin.client.bundles.answer_table import AnswerTable, RecordedAnswer, RequestKey
from nsadmin.client.bundles.derived_answers import derive_answer
from tests.support.bundles import json_answer, request_key

V4_9_7 = 407
OFFSETS = {"offsetTable": {"orders@billing": {"0": 7}}}
STATS = (
    b'{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"orders"}:'
    b'{"lastUpdateTimestamp":1,"maxOffset":9,"minOffset":2}}}'
)


def derive(table: AnswerTable, key: RequestKey) -> RecordedAnswer:
    answer = derive_answer(table, key)
    assert answer is not None
    return answer


def test_a_value_of_the_kv_config_comes_from_its_namespace() -> None:
    table = {request_key(219, namespace="N"): json_answer({"table": {"k": "v"}})}
    assert derive(table, request_key(101, namespace="N", key="k")).ext == {"value": "v"}
    missing = derive(table, request_key(101, namespace="N", key="x"))
    assert (missing.code, missing.remark) == (22, "No config item, Namespace: N Key: x")
    assert derive_answer(table, request_key(101, namespace="M", key="k")) is None
    empty = {request_key(219, namespace="N"): RecordedAnswer(22, None, b"", "none", 513)}
    assert derive(empty, request_key(101, namespace="N", key="k")).code == 22


def test_the_settings_of_a_topic_come_from_those_of_all_topics() -> None:
    table = {request_key(21): json_answer({"topicConfigTable": {"orders": {"topicName": "orders"}}})}
    assert json.loads(derive(table, request_key(351, topic="orders")).body) == {"topicName": "orders"}
    assert derive(table, request_key(351, topic="x")).code == 17
    assert derive_answer(table, request_key(351, topic="orders", lo="true")) is None
    assert derive_answer({}, request_key(351, topic="orders")) is None


def test_a_broker_of_4_9_does_not_know_the_request_for_one_topic() -> None:
    table = {request_key(21): json_answer({"topicConfigTable": {}}, V4_9_7)}
    assert derive(table, request_key(351, topic="orders")).code == 3


@pytest.mark.parametrize(("code", "offset"), [(31, "2"), (30, "9")])
def test_the_ends_of_a_queue_come_from_the_offsets_of_its_topic(code: int, offset: str) -> None:
    table = {request_key(202, topic="orders"): RecordedAnswer(0, None, STATS, None, 513)}
    assert derive(table, request_key(code, topic="orders", queueId="0")).ext == {"offset": offset}
    assert derive_answer(table, request_key(code, topic="orders", queueId="1")) is None
    assert derive_answer(table, request_key(code, topic="other", queueId="0")) is None
    assert derive_answer(table, request_key(code, topic="orders", queueId="0", timestamp="1")) is None


def committed(group: str, queue: str) -> RequestKey:
    return request_key(14, consumerGroup=group, topic="orders", queueId=queue, setZeroIfNotFound="false")


def test_a_committed_offset_comes_from_all_committed_offsets() -> None:
    table = {request_key(43): json_answer(OFFSETS)}
    assert derive(table, committed("billing", "0")).ext == {"offset": "7"}
    assert derive(table, committed("billing", "1")).code == 22
    old_table = {request_key(43): json_answer(OFFSETS, V4_9_7)}
    assert derive(old_table, committed("billing", "0")).ext == {"offset": "7"}
    assert derive_answer(old_table, committed("billing", "1")) is None


def test_a_group_without_offsets_on_a_broker_has_no_queue_there() -> None:
    table = {request_key(43): json_answer(OFFSETS)}
    assert json.loads(derive(table, request_key(208, consumerGroup="x")).body)["offsetTable"] == {}
    assert derive_answer(table, request_key(208, consumerGroup="billing")) is None
    assert derive_answer({}, request_key(208, consumerGroup="x")) is None
    # With a topic, the broker lists all queues of the topic.
    assert derive_answer(table, request_key(208, consumerGroup="x", topic="orders")) is None


def test_a_malformed_answer_says_nothing() -> None:
    table = {request_key(21): RecordedAnswer(0, None, b"[1]", None, 513)}
    assert derive_answer(table, request_key(351, topic="orders")) is None
