"""Derives the answer to a request from larger answers of the same server, where it is certain.

So a bundle needs one request for a whole table instead of one for each of its rows.
"""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from namesrv_core import operator_files
from namesrv_core.errors import ResponseCode
from namesrv_core.protocol.codes import V5_0_0, RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.bundles.answer_table import AnswerTable, RecordedAnswer, RequestKey
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.connection.response_bodies import DECODE_ERRORS, parse_json_object
from nsadmin.client.message_queues import parse_queue_table

_TOPIC_FIELDS, _GROUP_FIELDS = {"topic"}, {"consumerGroup"}
_QUEUE_FIELDS = {"topic", "queueId"}


def derive_answer(table: AnswerTable, key: RequestKey) -> RecordedAnswer | None:
    """Derive the answer to a request that a bundle does not contain."""
    derive = _DERIVATIONS.get(key.code)
    try:
        return derive and derive(table, key)
    except DECODE_ERRORS:
        # The other answer has an unexpected form, so it says nothing.
        return None


def _find_answer(
    table: AnswerTable, key: RequestKey, code: int, ext_fields: Mapping[str, str | None] | None = None
) -> RecordedAnswer | None:
    wanted_key = RequestKey(key.identity, code, tuple(sorted((ext_fields or {}).items())), b"")
    outcome = table.get(wanted_key)
    return outcome if isinstance(outcome, RecordedAnswer) else None


@lru_cache(maxsize=64)
def _parse_body(body: bytes) -> dict[str, Any]:
    return dict(parse_json_object(RemotingCommand(0, body=body)).members)


def _find_success(
    table: AnswerTable, key: RequestKey, code: int, ext_fields: Mapping[str, str | None] | None = None
) -> RecordedAnswer | None:
    answer = _find_answer(table, key, code, ext_fields)
    return None if answer is None or answer.code != 0 else answer


def _derive_kv_value(table: AnswerTable, key: RequestKey) -> RecordedAnswer | None:
    """A value of the KV config from its namespace."""
    ext = dict(key.ext)
    answer = _find_answer(
        table, key, RequestCode.GET_KVLIST_BY_NAMESPACE, {"namespace": ext.get("namespace")}
    )
    if answer is None or answer.code not in (0, ResponseCode.QUERY_NOT_FOUND):
        return None
    values = (_parse_body(answer.body).get("table") or {}) if answer.code == 0 else {}
    value = values.get(ext.get("key"))
    if value is None:
        remark = f"No config item, Namespace: {ext.get('namespace')} Key: {ext.get('key')}"
        return _build_refusal(ResponseCode.QUERY_NOT_FOUND, remark, answer.version)
    return RecordedAnswer(0, {"value": value}, b"", None, answer.version)


def _derive_topic_config(table: AnswerTable, key: RequestKey) -> RecordedAnswer | None:
    """The configuration of a topic from that of all topics; brokers before 5.0 do not know the request."""
    if {name for name, _ in key.ext} != _TOPIC_FIELDS:
        return None
    all_configs = _find_success(table, key, RequestCode.GET_ALL_TOPIC_CONFIG)
    if all_configs is None:
        return None
    if all_configs.version < V5_0_0:
        remark = f" request type {key.code} not supported"
        return _build_refusal(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark, all_configs.version)
    topic = dict(key.ext)["topic"]
    topic_config = (_parse_body(all_configs.body).get("topicConfigTable") or {}).get(topic)
    if topic_config is None:
        remark = f"No topic in this broker. topic: {topic}"
        return _build_refusal(ResponseCode.TOPIC_NOT_EXIST, remark, all_configs.version)
    return RecordedAnswer(0, None, json.dumps(topic_config).encode(), None, all_configs.version)


def _derive_queue_offset(table: AnswerTable, key: RequestKey) -> RecordedAnswer | None:
    """The first or the next offset of a queue from the offsets of its topic."""
    ext = dict(key.ext)
    if ext.keys() != _QUEUE_FIELDS:
        return None
    stats = _find_success(table, key, RequestCode.GET_TOPIC_STATS_INFO, {"topic": ext["topic"]})
    if stats is None:
        return None
    field_name = "minOffset" if key.code == RequestCode.GET_MIN_OFFSET else "maxOffset"
    offset_table = _parse_body(stats.body).get("offsetTable")
    for queue, offset_record in parse_queue_table(offset_table, JsonObject).items():
        if queue.queue_id == int(ext["queueId"] or ""):
            return _offset_answer(offset_record.integer(field_name), stats.version)
    return None


def _derive_committed_offset(table: AnswerTable, key: RequestKey) -> RecordedAnswer | None:
    """The consumer offset of a queue from all consumer offsets of the broker."""
    ext = dict(key.ext)
    if not ext.keys() >= {"consumerGroup", "topic", "queueId"} or ext.get("setZeroIfNotFound") != "false":
        return None
    all_offsets = _find_success(table, key, RequestCode.GET_ALL_CONSUMER_OFFSET)
    if all_offsets is None:
        return None
    offset_table = _parse_body(all_offsets.body).get("offsetTable") or {}
    offset_by_queue = offset_table.get(f"{ext['topic']}@{ext['consumerGroup']}") or {}
    offset = offset_by_queue.get(ext["queueId"])
    if offset is not None:
        return _offset_answer(offset, all_offsets.version)
    if all_offsets.version < V5_0_0:
        # Brokers of 4.x answer 0 if the queue still has its first message.
        return None
    remark = "Not found, do not set to zero, maybe this group boot first"
    return _build_refusal(ResponseCode.QUERY_NOT_FOUND, remark, all_offsets.version)


def _derive_group_stats(table: AnswerTable, key: RequestKey) -> RecordedAnswer | None:
    """The progress of a group that has no offsets on the broker, so the broker lists no queue.

    If the request names a topic, the broker lists its queues nevertheless, with all messages as unread.
    """
    if {name for name, _ in key.ext} != _GROUP_FIELDS:
        return None
    all_offsets = _find_success(table, key, RequestCode.GET_ALL_CONSUMER_OFFSET)
    if all_offsets is None:
        return None
    if dict(key.ext)["consumerGroup"] in _list_committed_groups(all_offsets.body):
        return None
    return RecordedAnswer(0, None, b'{"consumeTps":0.0,"offsetTable":{}}', None, all_offsets.version)


@lru_cache(maxsize=64)
def _list_committed_groups(body: bytes) -> frozenset[str]:
    offset_table: Mapping[str, Any] = _parse_body(body).get("offsetTable") or {}
    return frozenset(topic_and_group.partition("@")[2] for topic_and_group in offset_table)


def _derive_missing_route(table: AnswerTable, key: RequestKey) -> RecordedAnswer | None:
    """The refusal for a topic that the name server does not list, so it has no route of it either."""
    all_topics = _find_success(table, key, RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
    topic = dict(key.ext).get("topic")
    if all_topics is None or topic in _list_topics(all_topics.body):
        return None
    remark = f"No topic route info in name server for the topic: {topic}"
    return _build_refusal(ResponseCode.TOPIC_NOT_EXIST, remark, all_topics.version)


@lru_cache(maxsize=64)
def _list_topics(body: bytes) -> frozenset[str]:
    return frozenset(_parse_body(body).get("topicList") or ())


def _derive_missing_producers(table: AnswerTable, key: RequestKey) -> RecordedAnswer | None:
    """The refusal for a producer group that no client of the broker belongs to."""
    all_producers = _find_success(table, key, RequestCode.GET_ALL_PRODUCER_INFO)
    group = dict(key.ext).get("producerGroup")
    if all_producers is None or group in (_parse_body(all_producers.body)["data"] or ()):
        return None
    remark = f"the producer group[{group}] not exist"
    return _build_refusal(ResponseCode.SYSTEM_ERROR, remark, all_producers.version)


def _derive_missing_consumers(table: AnswerTable, key: RequestKey) -> RecordedAnswer | None:
    """The refusal for a group that the broker does not know: since 5.0, no consumer can be connected."""
    all_groups = _find_success(table, key, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
    group = dict(key.ext).get("consumerGroup")
    if all_groups is None or all_groups.version < V5_0_0:
        return None
    if group in (_parse_body(all_groups.body).get("subscriptionGroupTable") or ()):
        return None
    remark = f"the consumer group[{group}] not online"
    return _build_refusal(ResponseCode.CONSUMER_NOT_ONLINE, remark, all_groups.version)


def _derive_filtered_users(table: AnswerTable, key: RequestKey) -> RecordedAnswer | None:
    """The users whose names contain a text."""
    return _filter_list(
        table, key, RequestCode.AUTH_LIST_USER, lambda u: (dict(key.ext)["filter"] or "") in u["username"]
    )


def _derive_filtered_acls(table: AnswerTable, key: RequestKey) -> RecordedAnswer | None:
    """The ACLs whose subjects contain a text, with the policies whose resources contain another one."""
    ext = dict(key.ext)
    subject_text, resource_text = ext.get("subjectFilter") or "", ext.get("resourceFilter") or ""

    def select_policies(acl: dict[str, Any]) -> bool:
        for policy in acl.get("policies") or ():
            policy["entries"] = [entry for entry in policy["entries"] if resource_text in entry["resource"]]
        acl["policies"] = [policy for policy in acl.get("policies") or () if policy["entries"]]
        return subject_text in acl["subject"] and bool(acl["policies"])

    return _filter_list(table, key, RequestCode.AUTH_LIST_ACL, select_policies)


def _filter_list(
    table: AnswerTable, key: RequestKey, code: int, is_wanted: Callable[[dict[str, Any]], bool]
) -> RecordedAnswer | None:
    answer = _find_answer(table, key, code)
    if not key.ext or answer is None or answer.code != 0:
        return answer
    wanted_items = [item for item in operator_files.parse_json(answer.body or b"[]") if is_wanted(item)]
    return answer._replace(body=json.dumps(wanted_items).encode())


def _build_refusal(code: ResponseCode, remark: str, version: int) -> RecordedAnswer:
    # A plain number: the search for a member of an enumeration in a range visits the whole range.
    return RecordedAnswer(int(code), None, b"", remark, version)


def _offset_answer(offset: Any, version: int) -> RecordedAnswer:
    return RecordedAnswer(0, {"offset": str(int(offset))}, b"", None, version)


_DERIVATIONS: Mapping[int, Callable[[AnswerTable, RequestKey], RecordedAnswer | None]] = {
    RequestCode.GET_KV_CONFIG: _derive_kv_value,
    RequestCode.GET_TOPIC_CONFIG: _derive_topic_config,
    RequestCode.GET_MIN_OFFSET: _derive_queue_offset,
    RequestCode.GET_MAX_OFFSET: _derive_queue_offset,
    RequestCode.QUERY_CONSUMER_OFFSET: _derive_committed_offset,
    RequestCode.GET_CONSUME_STATS: _derive_group_stats,
    RequestCode.GET_ROUTEINFO_BY_TOPIC: _derive_missing_route,
    RequestCode.GET_PRODUCER_CONNECTION_LIST: _derive_missing_producers,
    RequestCode.GET_CONSUMER_CONNECTION_LIST: _derive_missing_consumers,
    RequestCode.AUTH_LIST_USER: _derive_filtered_users,
    RequestCode.AUTH_LIST_ACL: _derive_filtered_acls,
}
