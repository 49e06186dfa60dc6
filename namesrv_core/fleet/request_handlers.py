"""The handlers of a simulated broker, by request code. Pure. The remarks are those of 5.5.0."""

from collections.abc import Callable
from typing import Any, NamedTuple

from namesrv_core.errors import NotSupported, QueryNotFound, RequestError, ResponseCode, TopicNotExist
from namesrv_core.fleet import clients, messages, replication, stats
from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.fleet.topics import change_known_attributes, make_topic_config, parse_attribute_changes
from namesrv_core.fleet.users import UserTable
from namesrv_core.protocol import broker_headers, headers, json_bodies
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import ExtFields, RemotingCommand, build_reply
from namesrv_core.protocol.fastjson import decode_json, encode_json, to_int
from namesrv_core.protocol.json_bodies import DataVersion, require_object
from namesrv_core.protocol.resource_names import RETRY_PREFIX


class HandlerOutcome(NamedTuple):
    """The answer, and whether the broker registers before it sends the answer. `changed_topics` None: all."""

    body: bytes = b""
    ext_fields: ExtFields | None = None
    remark: str | None = None
    needs_registration: bool = False
    changed_topics: tuple[str, ...] | None = None
    response_code: int = ResponseCode.SUCCESS


HandlerResult = HandlerOutcome | bytes | None
"""An outcome, or only the body of a successful answer; None has no body."""

RequestHandler = Callable[[BrokerModel, RemotingCommand, int], HandlerResult]
HeaderHandler = Callable[[BrokerModel, Any, int], HandlerResult]
"""Takes the decoded header in place of the request."""

_NO_RESPONSE_CODE = "not set any response code"
_FILTER_TYPES = ("SINGLE_TAG", "MULTI_TAG")


def handle_request(
    model: BrokerModel, command: RemotingCommand, now_ms: int
) -> tuple[RemotingCommand, HandlerOutcome]:
    """Handle a request. A refusal is an answer as well."""
    try:
        if command.code in _HEADER_HANDLERS:
            header_type, answer = _HEADER_HANDLERS[command.code]
            result = answer(model, headers.read_header(header_type, command.ext), now_ms)
        elif command.code in _HANDLERS:
            result = _HANDLERS[command.code](model, command, now_ms)
        else:
            raise NotSupported(_describe_unsupported(command.code))
    except RequestError as error:
        return build_reply(command, error.code, remark=error.remark), HandlerOutcome()
    except ValueError as error:
        remark = f"{type(error).__name__}: {error}"
        return build_reply(command, ResponseCode.SYSTEM_ERROR, remark=remark), HandlerOutcome()
    outcome = result if isinstance(result, HandlerOutcome) else HandlerOutcome(result or b"")
    reply = build_reply(
        command, outcome.response_code, ext=outcome.ext_fields, body=outcome.body, remark=outcome.remark
    )
    return reply, outcome


def _describe_unsupported(code: int) -> str:
    """A released broker would know most of these, so its remark would mislead."""
    known = RequestCode.find(code)
    if known is None:
        return f" request type {code} not supported"
    return f"simulated brokers do not support {known.name} ({code})"


def refuse_message(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerResult:
    raise NotSupported("simulated brokers take no messages")


# Topics.


def create_topic(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerResult:
    header = headers.read_header(broker_headers.CreateTopic, command.ext)
    topic = model.topic_table.require_valid_name(header.topic)
    filter_type = (command.ext or {}).get("topicFilterType")
    if filter_type not in _FILTER_TYPES:
        raise RequestError(f"topicFilterType = [{filter_type or 'null'}] value invalid")
    current = model.topic_table.configs.get(topic)
    config = make_topic_config(
        topic,
        header.read_queue_nums,
        header.perm,
        parse_attribute_changes(current and current.get("attributes", {}), header.attributes),
        write_queues=header.write_queue_nums,
        sys_flag=header.topic_sys_flag or 0,
        is_ordered=header.order,
        filter_type=filter_type,
    )
    changed = model.put_topic(config, now_ms)
    return HandlerOutcome(remark=_NO_RESPONSE_CODE, needs_registration=changed, changed_topics=(topic,))


def create_topics(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerResult:
    """Create a list of topics. If one of them exists unchanged, the broker does nothing, with success."""
    table = model.topic_table
    listed = require_object(decode_json(command.body)).get("topicConfigList") or ()
    wanted = [require_object(config) for config in listed]
    topics = tuple(table.require_valid_name(config.get("topicName")) for config in wanted)
    pairs = list(zip(topics, wanted, strict=True))
    if any(table.configs.get(topic) == config for topic, config in pairs):
        return None
    for topic, config in pairs:
        current = table.configs.get(topic)
        attributes = change_known_attributes(
            current and current.get("attributes", {}), config.get("attributes")
        )
        model.put_topic({**config, "attributes": attributes}, now_ms)
    return HandlerOutcome(needs_registration=True, changed_topics=topics)


def delete_topic(model: BrokerModel, header: headers.DeleteTopic, now_ms: int) -> HandlerResult:
    topic = model.topic_table.require_valid_name(header.topic)
    if model.topic_table.delete_config(topic, now_ms):
        model.offsets.forget_topic(topic)
    return None


def list_topic_configs(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerResult:
    configs = model.topic_table.configs
    topics = _topic_name_page(model, command.ext or {})
    body = {
        "dataVersion": model.topic_table.data_version.to_json(),
        "mappingDataVersion": DataVersion().to_json(),
        "topicConfigTable": {topic: configs[topic] for topic in topics},
        "topicQueueMappingDetailMap": {},
        "topicQueueMappingInfoMap": {},
    }
    is_whole = len(topics) == len(configs)
    encoded = model.topic_table.encode_body(body) if is_whole else encode_json(body)
    return HandlerOutcome(encoded, {"totalTopicNum": str(len(configs))})


def _topic_name_page(model: BrokerModel, ext_fields: ExtFields) -> list[str]:
    """All names, or a page of them. Paging starts over if the table changed since the previous page."""
    topics = sorted(model.topic_table.configs)
    if not ext_fields.get("maxTopicNum"):
        return topics
    first_index, page_size = (to_int(ext_fields.get(name)) for name in ("topicSeq", "maxTopicNum"))
    known = ext_fields.get("dataVersion")
    if first_index and (not known or decode_json(known.encode()) != model.topic_table.data_version.to_json()):
        first_index = 0
    return topics[first_index : first_index + page_size]


def get_topic_config(model: BrokerModel, header: headers.TopicName, now_ms: int) -> HandlerResult:
    config = model.topic_table.configs.get(header.topic or "")
    if config is None:
        raise TopicNotExist(f"No topic in this broker. topic: {header.topic}")
    return encode_json(config)


def list_system_topics(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerResult:
    return json_bodies.encode_topic_list(sorted(model.topic_table.reserved_names))


# Offsets.


def _offset_outcome(offset: int) -> HandlerOutcome:
    return HandlerOutcome(ext_fields={"offset": str(offset)})


def query_offset(model: BrokerModel, header: broker_headers.ConsumerOffset, now_ms: int) -> HandlerResult:
    offset_key = header.consumer_group or "", header.topic or "", header.queue_id
    queue_count = model.read_queue_count(header.topic or "")
    offset = model.offsets.committed_offset(offset_key, queue_count, now_ms)
    if offset is None:
        raise QueryNotFound("Not found, maybe this group consumer boot first")
    return _offset_outcome(offset)


def update_offset(model: BrokerModel, header: broker_headers.ConsumerOffset, now_ms: int) -> HandlerResult:
    group, topic = header.consumer_group or "", header.topic or ""
    stats.require_topic_and_group(model, group, topic)
    model.offsets.move_offset((group, topic, header.queue_id), header.commit_offset or 0, now_ms)
    return None


def _queue_offset(
    model: BrokerModel,
    header: broker_headers.QueueOffset,
    list_offsets: Callable[[str, int, int], list[int]],
    time_ms: int,
) -> HandlerResult:
    """The begin or the end of a queue at that time. As upstream, 0 for an unknown queue."""
    topic, queue_count = header.topic or "", model.read_queue_count(header.topic or "")
    is_known = 0 <= header.queue_id < queue_count
    return _offset_outcome(list_offsets(topic, queue_count, time_ms)[header.queue_id] if is_known else 0)


def search_offset(model: BrokerModel, header: broker_headers.QueueOffset, now_ms: int) -> HandlerResult:
    """Find the first message that was stored at that time or later."""
    time_ms = min((header.timestamp or 0) - 1, now_ms)
    return _queue_offset(model, header, model.offsets.end_offsets, time_ms)


# Consumer groups and clients.


def list_groups(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerResult:
    configs = model.group_table.configs
    body = {
        "dataVersion": model.group_table.data_version.to_json(),
        "forbiddenTable": {},
        "subscriptionGroupTable": configs,
    }
    return HandlerOutcome(model.group_table.encode_body(body), {"totalGroupNum": str(len(configs))})


def update_group(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerResult:
    _put_group(model, require_object(decode_json(command.body)), now_ms)
    return None


def update_groups(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerResult:
    for config in require_object(decode_json(command.body)).get("groupConfigList") or ():
        _put_group(model, require_object(config), now_ms)
    return None


def _put_group(model: BrokerModel, config: dict[str, Any], now_ms: int) -> None:
    """Create or change a group. The clients of a deleted one still run, and connect again."""
    model.group_table.put_config(config, now_ms)
    group = config["groupName"]
    if model.group_table.configs[group]["consumeEnable"]:
        model.offsets.resume_group(group, now_ms)
    else:
        model.offsets.pause_group(group, model.read_queue_count, now_ms)


def delete_group(model: BrokerModel, header: broker_headers.DeleteGroup, now_ms: int) -> HandlerResult:
    """Delete a group and disconnect its clients: none of them creates it again.

    Offsets of a group without settings are deleted, too, as AdminBrokerProcessor upstream does.
    """
    group = header.group_name or ""
    if model.group_table.delete_config(group, now_ms):
        model.offsets.stop_group(group, model.read_queue_count, now_ms)
    if header.clean_offset:
        model.offsets.forget_group(group)
    return None


# Messages, and the broker itself.


def pull_messages(model: BrokerModel, header: broker_headers.PullMessage, now_ms: int) -> HandlerResult:
    code, body, ext_fields = messages.pull_messages(model, header, now_ms)
    return HandlerOutcome(body, ext_fields, response_code=code)


def get_runtime_info(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerResult:
    info = model.traffic.runtime_info(now_ms)
    ratio_key = f"commitLogDiskRatio_{model.properties['storePathCommitLog']}"
    return json_bodies.encode_kv_table({**info, ratio_key: info["commitLogDiskRatio"]})


def get_config(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerResult:
    version = encode_json(model.properties.data_version.to_json()).decode()
    return HandlerOutcome(model.properties.encoded_lines, {"version": version})


def update_config(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerResult:
    is_permission_changed = model.properties.apply_update(command.body, now_ms)
    if is_permission_changed:
        model.topic_table.advance_version(now_ms)
    return HandlerOutcome(needs_registration=is_permission_changed)


def do_nothing(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerResult:
    """Cleanups, because a simulated broker has no files, and the notice of a new smallest broker id."""


# Orders of operators: consume modes, cold data, timers, slave offsets.


def set_consume_mode(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerResult:
    """Set the consume mode (`QueryAssignmentProcessor#setMessageRequestMode`), but create no group."""
    wanted_mode = require_object(decode_json(command.body))
    topic, group = wanted_mode.get("topic"), wanted_mode.get("consumerGroup")
    if str(topic).startswith(RETRY_PREFIX):
        raise RequestError("retry topic is not allowed to set mode", ResponseCode.NO_PERMISSION)
    if topic not in model.topic_table.configs:
        raise TopicNotExist(f"topic[{topic}] not exist")
    if group not in model.group_table.configs:
        raise RequestError("subscription group does not exist", ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST)
    model.consume_modes.setdefault(str(topic), {})[str(group)] = wanted_mode
    return HandlerOutcome(remark=_NO_RESPONSE_CODE)


def set_cold_data_threshold(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerResult:
    """Set thresholds from lines of group=threshold. Values that are no numbers are ignored, as upstream."""
    for line in command.body.decode().splitlines():
        group, _, text = line.partition("=")
        if text.isdigit():
            model.cold_thresholds[group] = int(text)
    return None


def remove_cold_data_threshold(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerResult:
    model.cold_thresholds.pop(command.body.decode(), None)
    return None


def cold_data_info(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerResult:
    """The cold-data info, which is empty: no client of a simulated broker reads cold data."""
    body = {
        "runtimeTable": {},
        "configTable": model.cold_thresholds,
        "cgColdReadThreshold": int(model.properties["cgColdReadThreshold"]),
        "globalColdReadThreshold": int(model.properties["globalColdReadThreshold"]),
        "globalAcc": 0,
    }
    return encode_json(body)


def set_read_ahead(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerResult:
    mode = (command.ext or {}).get("READ_AHEAD_MODE")
    if mode not in ("0", "1"):
        raise RequestError("set commitlog readahead mode param value error", ResponseCode.INVALID_PARAMETER)
    model.properties.apply_update(f"dataReadAheadEnable={str(mode == '0').lower()}\n".encode(), now_ms)
    return HandlerOutcome(remark=f"set commitlog readahead mode success, mode: {mode}")


def switch_timer_engine(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerResult:
    """AdminBrokerProcessor#switchTimerEngine."""
    engine = (command.ext or {}).get("E_T")
    if engine not in ("R", "F"):
        raise RequestError("param error", ResponseCode.INVALID_PARAMETER)
    if engine == "R" and model.properties["timerRocksDBEnable"] != "true":
        remark = "timerRocksDBEnable must be configured true when broker start"
        raise RequestError(remark, ResponseCode.INVALID_PARAMETER)
    stop = {"timerStopEnqueue": engine == "R", "timerRocksDBStopScan": engine == "F"}
    lines = "".join(f"{key}={str(is_stopped).lower()}\n" for key, is_stopped in stop.items())
    model.properties.apply_update(lines.encode(), now_ms)
    return HandlerOutcome(remark="switch timer engine success")


def set_master_flush_offset(
    model: BrokerModel, header: broker_headers.MasterFlushOffset, now_ms: int
) -> HandlerResult:
    """Set the master's flush offset. A master ignores the request."""
    if not model.spec.is_master:
        model.master_flush_offset = header.master_flush_offset
    return None


def queue_entries_json(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerResult:
    ext_fields = command.ext or {}
    topic = str(ext_fields.get("topic"))
    queue_id, first_index, count = (
        headers.parse_java_integer(ext_fields.get(n) or "", 64) or 0 for n in ("queueId", "index", "count")
    )
    if queue_id not in range(model.read_queue_count(topic)):
        raise RequestError(f"{queue_id}@{topic} is not exist!")
    min_offset, end, entries = messages.list_queue_entries(model, topic, queue_id, first_index, count, now_ms)
    if not min_offset <= first_index < end:
        return HandlerOutcome(remark=f"Index {first_index} of {queue_id}@{topic} is not exist!")
    queue = [
        {"eval": False, "physicOffset": offset, "physicSize": size, "tagsCode": _java_string_hash(tag)}
        for offset, size, tag in entries
    ]
    body = {"filterData": "null", "maxQueueIndex": end, "minQueueIndex": min_offset, "queueData": queue}
    return encode_json(body)


def _java_string_hash(text: str) -> int:
    hash_code = 0
    for letter in text:
        hash_code = (31 * hash_code + ord(letter)) & 0xFFFFFFFF
    return hash_code - (1 << 32) if hash_code >> 31 else hash_code


def _account_handler(action: Callable[[UserTable, ExtFields, bytes], bytes | None]) -> RequestHandler:
    """Build the handler of a request about users or ACLs, which takes ext fields and a body."""
    return lambda model, command, _: HandlerOutcome(
        action(model.user_table, command.ext or {}, command.body) or b"", remark=_NO_RESPONSE_CODE
    )


_HEADER_HANDLERS: dict[int, tuple[Any, HeaderHandler]] = {
    RequestCode.PULL_MESSAGE: (broker_headers.PullMessage, pull_messages),
    RequestCode.QUERY_MESSAGE: (
        broker_headers.QueryMessage,
        lambda model, header, now_ms: HandlerOutcome(*messages.query_messages(model, header, now_ms)),
    ),
    RequestCode.VIEW_MESSAGE_BY_ID: (broker_headers.ViewMessage, messages.view_message),
    RequestCode.QUERY_CONSUMER_OFFSET: (broker_headers.ConsumerOffset, query_offset),
    RequestCode.UPDATE_CONSUMER_OFFSET: (broker_headers.ConsumerOffset, update_offset),
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: (broker_headers.QueueOffset, search_offset),
    RequestCode.GET_MAX_OFFSET: (
        broker_headers.QueueOffset,
        lambda model, header, now_ms: _queue_offset(model, header, model.offsets.end_offsets, now_ms),
    ),
    RequestCode.GET_MIN_OFFSET: (
        broker_headers.QueueOffset,
        lambda model, header, now_ms: _queue_offset(model, header, model.offsets.begin_offsets, now_ms),
    ),
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET: (broker_headers.ResetOffset, stats.reset_offsets),
    RequestCode.RESET_MASTER_FLUSH_OFFSET: (broker_headers.MasterFlushOffset, set_master_flush_offset),
    RequestCode.GET_CONSUMER_CONNECTION_LIST: (
        broker_headers.ConsumerGroup,
        clients.consumer_connection_json,
    ),
    RequestCode.GET_PRODUCER_CONNECTION_LIST: (
        broker_headers.ProducerGroup,
        clients.producer_connection_json,
    ),
    RequestCode.GET_CONSUMER_RUNNING_INFO: (broker_headers.ConsumerClient, clients.running_info_json),
    RequestCode.GET_CONSUME_STATS: (broker_headers.ConsumerGroup, stats.consume_stats_json),
    RequestCode.QUERY_CONSUME_TIME_SPAN: (broker_headers.GroupOfTopic, stats.time_spans_json),
    RequestCode.GET_BROKER_CONSUME_STATS: (broker_headers.BrokerConsumeStats, stats.consume_stats_list_json),
    RequestCode.DELETE_SUBSCRIPTIONGROUP: (broker_headers.DeleteGroup, delete_group),
    RequestCode.DELETE_TOPIC_IN_BROKER: (headers.DeleteTopic, delete_topic),
    RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: (
        headers.TopicName,
        lambda model, header, _: encode_json(
            {"groupList": model.offsets.groups_of_topic(header.topic or "")}
        ),
    ),
    RequestCode.GET_TOPIC_CONFIG: (headers.TopicName, get_topic_config),
    RequestCode.GET_TOPIC_STATS_INFO: (headers.TopicName, stats.topic_stats_json),
    RequestCode.VIEW_BROKER_STATS_DATA: (broker_headers.ViewBrokerStats, stats.counter_stats_json),
}

_HANDLERS: dict[int, RequestHandler] = {
    RequestCode.SEND_MESSAGE_V2: refuse_message,
    RequestCode.SEND_BATCH_MESSAGE: refuse_message,
    RequestCode.UPDATE_AND_CREATE_TOPIC: create_topic,
    RequestCode.UPDATE_AND_CREATE_TOPIC_LIST: create_topics,
    RequestCode.GET_ALL_TOPIC_CONFIG: list_topic_configs,
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER: list_system_topics,
    RequestCode.GET_ALL_CONSUMER_OFFSET: lambda model, _, now_ms: stats.all_offsets_json(model, now_ms),
    RequestCode.UPDATE_BROKER_CONFIG: update_config,
    RequestCode.GET_BROKER_CONFIG: get_config,
    RequestCode.GET_BROKER_RUNTIME_INFO: get_runtime_info,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: update_group,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST: update_groups,
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: list_groups,
    RequestCode.GET_ALL_PRODUCER_INFO: lambda model, _, now_ms: clients.producer_table_json(model, now_ms),
    RequestCode.GET_BROKER_HA_STATUS: lambda model, _, now_ms: replication.ha_status_json(model, now_ms),
    RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE: do_nothing,
    RequestCode.CLEAN_UNUSED_TOPIC: do_nothing,
    RequestCode.DELETE_EXPIRED_COMMITLOG: do_nothing,
    RequestCode.POP_ROLLBACK: do_nothing,
    RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE: do_nothing,
    RequestCode.AUTH_CREATE_USER: _account_handler(UserTable.create_user),
    RequestCode.AUTH_UPDATE_USER: _account_handler(UserTable.update_user),
    RequestCode.AUTH_DELETE_USER: _account_handler(lambda table, fields, _: table.delete_user(fields)),
    RequestCode.AUTH_GET_USER: _account_handler(lambda table, fields, _: table.get_user(fields)),
    RequestCode.AUTH_LIST_USER: _account_handler(lambda table, fields, _: table.list_users(fields)),
    RequestCode.AUTH_CREATE_ACL: _account_handler(lambda table, _, body: table.put_acl(body)),
    RequestCode.AUTH_UPDATE_ACL: _account_handler(lambda table, _, body: table.put_acl(body)),
    RequestCode.AUTH_DELETE_ACL: _account_handler(lambda table, fields, _: table.delete_acl(fields)),
    RequestCode.AUTH_GET_ACL: _account_handler(lambda table, fields, _: table.get_acl(fields)),
    RequestCode.AUTH_LIST_ACL: _account_handler(lambda table, fields, _: table.list_acls(fields)),
    RequestCode.SET_MESSAGE_REQUEST_MODE: set_consume_mode,
    RequestCode.GET_ALL_MESSAGE_REQUEST_MODE: lambda model, _, now_ms: encode_json(
        {"messageRequestModeMap": model.consume_modes}
    ),
    RequestCode.UPDATE_COLD_DATA_FLOW_CTR_CONFIG: set_cold_data_threshold,
    RequestCode.REMOVE_COLD_DATA_FLOW_CTR_CONFIG: remove_cold_data_threshold,
    RequestCode.GET_COLD_DATA_FLOW_CTR_INFO: cold_data_info,
    RequestCode.SET_COMMITLOG_READ_MODE: set_read_ahead,
    RequestCode.SWITCH_TIMER_ENGINE: switch_timer_engine,
    RequestCode.QUERY_CONSUME_QUEUE: queue_entries_json,
    # The check has started, as real brokers answer in any case.
    RequestCode.CHECK_ROCKSDB_CQ_WRITE_PROGRESS: lambda model, _, now_ms: encode_json({"checkStatus": 2}),
}
