"""The handlers of a simulated broker, by request code. Pure. The remarks are those of 5.5.0."""

from collections.abc import Callable
from typing import NamedTuple

from namesrv_core.errors import NotSupported, RequestError, ResponseCode, TopicNotExist
from namesrv_core.fleet import clients, messages, operator_commands, replication, stats
from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.fleet.topics import change_known_attributes, make_topic_config, parse_attribute_changes
from namesrv_core.fleet.users import UserTable
from namesrv_core.protocol import broker_headers, fastjson, headers, json_bodies
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import ExtFields, RemotingCommand, build_reply
from namesrv_core.protocol.json_bodies import DataVersion


class HandlerOutcome(NamedTuple):
    """The answer, and whether the broker registers before it sends the answer. `changed_topics` None: all."""

    body: bytes = b""
    ext_fields: ExtFields | None = None
    remark: str | None = None
    needs_registration: bool = False
    changed_topics: tuple[str, ...] | None = None
    response_code: int = ResponseCode.SUCCESS


_FILTER_TYPES = ("SINGLE_TAG", "MULTI_TAG")


def create_topic(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    header = headers.read_header(broker_headers.CreateTopic, command.ext)
    topic = model.topic_table.require_valid_name(header.topic)
    filter_type = (command.ext or {}).get("topicFilterType")
    if filter_type not in _FILTER_TYPES:
        raise RequestError(f"topicFilterType = [{filter_type or 'null'}] value invalid")
    current = model.topic_table.configs.get(topic, {})
    config = make_topic_config(
        topic,
        header.read_queue_nums,
        header.perm,
        parse_attribute_changes(current.get("attributes", {}), header.attributes),
        write_queues=header.write_queue_nums,
        sys_flag=header.topic_sys_flag or 0,
        is_ordered=header.order,
        filter_type=filter_type,
    )
    changed = model.topic_table.put_config(config, now_ms)
    return HandlerOutcome(remark=NO_RESPONSE_CODE_REMARK, needs_registration=changed, changed_topics=(topic,))


def create_topics(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    """Create a list of topics. If one of them exists unchanged, the broker does nothing, with success."""
    listed = json_bodies.require_object(fastjson.decode_json(command.body)).get("topicConfigList") or ()
    wanted = [json_bodies.require_object(wanted) for wanted in listed]
    topics = tuple(model.topic_table.require_valid_name(wanted.get("topicName")) for wanted in wanted)
    if any(
        model.topic_table.configs.get(topic) == wanted for topic, wanted in zip(topics, wanted, strict=True)
    ):
        return HandlerOutcome()
    for topic, wanted_config in zip(topics, wanted, strict=True):
        current = model.topic_table.configs.get(topic, {}).get("attributes", {})
        model.topic_table.put_config(
            {
                **wanted_config,
                "attributes": change_known_attributes(current, wanted_config.get("attributes")),
            },
            now_ms,
        )
    return HandlerOutcome(needs_registration=True, changed_topics=topics)


def delete_topic(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    topic = model.topic_table.require_valid_name(headers.read_header(headers.DeleteTopic, command.ext).topic)
    if model.topic_table.delete_topic(topic, now_ms):
        model.offsets.forget_topic(topic)
    return HandlerOutcome()


def list_topic_configs(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    version = model.topic_table.data_version
    body = {
        "dataVersion": version.to_json(),
        "mappingDataVersion": DataVersion().to_json(),
        "topicConfigTable": {
            topic: model.topic_table.configs[topic] for topic in _topic_name_page(model, command.ext or {})
        },
        "topicQueueMappingDetailMap": {},
        "topicQueueMappingInfoMap": {},
    }
    return HandlerOutcome(fastjson.encode_json(body), {"totalTopicNum": str(len(model.topic_table.configs))})


def _topic_name_page(model: BrokerModel, ext_fields: ExtFields) -> list[str]:
    """All names, or a page of them. Paging starts over if the table changed since the previous page."""
    topics = sorted(model.topic_table.configs)
    if not ext_fields.get("maxTopicNum"):
        return topics
    first_index, page_size = (fastjson.to_int(ext_fields.get(name)) for name in ("topicSeq", "maxTopicNum"))
    known = ext_fields.get("dataVersion")
    if first_index and (
        not known or fastjson.decode_json(known.encode()) != model.topic_table.data_version.to_json()
    ):
        first_index = 0
    return topics[first_index : first_index + page_size]


def get_topic_config(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    topic = headers.read_header(headers.TopicName, command.ext).topic
    config = model.topic_table.configs.get(topic or "")
    if config is None:
        raise TopicNotExist(f"No topic in this broker. topic: {topic}")
    return HandlerOutcome(fastjson.encode_json(config))


def list_system_topics(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(json_bodies.encode_topic_list(sorted(model.topic_table.reserved_names)))


def list_groups_of_topic(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    topic = headers.read_header(headers.TopicName, command.ext).topic or ""
    return HandlerOutcome(fastjson.encode_json({"groupList": model.offsets.groups_of_topic(topic)}))


def get_topic_stats(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(
        stats.topic_stats_json(model, headers.read_header(headers.TopicName, command.ext).topic or "", now_ms)
    )


def get_all_offsets(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(stats.all_offsets_json(model, now_ms))


def _offset_outcome(offset: int) -> HandlerOutcome:
    return HandlerOutcome(ext_fields={"offset": str(offset)})


def query_offset(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    header = headers.read_header(broker_headers.ConsumerOffset, command.ext)
    return _offset_outcome(
        stats.require_committed_offset(
            model, header.consumer_group or "", header.topic or "", header.queue_id, now_ms
        )
    )


def update_offset(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    header = headers.read_header(broker_headers.ConsumerOffset, command.ext)
    group, topic = header.consumer_group or "", header.topic or ""
    stats.require_topic_and_group(model, group, topic)
    model.offsets.move_offset((group, topic, header.queue_id), header.commit_offset or 0, now_ms)
    return HandlerOutcome()


def reset_offset(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(
        stats.reset_offsets(model, headers.read_header(broker_headers.ResetOffset, command.ext), now_ms)
    )


def get_max_offset(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return _offset_outcome(
        stats.queue_end_offset(model, headers.read_header(broker_headers.QueueOffset, command.ext), now_ms)
    )


def get_min_offset(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return _offset_outcome(
        stats.queue_begin_offset(model, headers.read_header(broker_headers.QueueOffset, command.ext), now_ms)
    )


def search_offset_by_time(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    """Find the first message that was stored at that time or later."""
    header = headers.read_header(broker_headers.QueueOffset, command.ext)
    return _offset_outcome(stats.queue_end_offset(model, header, min((header.timestamp or 0) - 1, now_ms)))


def get_consume_stats(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    header = headers.read_header(broker_headers.ConsumerGroup, command.ext)
    return HandlerOutcome(stats.consume_stats_json(model, header.consumer_group or "", header.topic, now_ms))


def get_all_consume_stats(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    is_order = headers.read_header(broker_headers.BrokerConsumeStats, command.ext).is_order
    return HandlerOutcome(stats.consume_stats_list_json(model, is_order, now_ms))


def list_groups(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    body = {
        "dataVersion": model.group_table.data_version.to_json(),
        "forbiddenTable": {},
        "subscriptionGroupTable": model.group_table.configs,
    }
    return HandlerOutcome(fastjson.encode_json(body), {"totalGroupNum": str(len(model.group_table.configs))})


def update_group(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    model.group_table.put_config(json_bodies.require_object(fastjson.decode_json(command.body)), now_ms)
    return HandlerOutcome()


def update_groups(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    for config in json_bodies.require_object(fastjson.decode_json(command.body)).get("groupConfigList") or ():
        model.group_table.put_config(json_bodies.require_object(config), now_ms)
    return HandlerOutcome()


def delete_group(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    """Delete a group and its clients: no client creates it again."""
    header = headers.read_header(broker_headers.DeleteGroup, command.ext)
    group = header.group_name or ""
    if model.group_table.delete_group(group, now_ms):
        model.offsets.stop_group(group, model.read_queue_count, now_ms, forget_offsets=header.clean_offset)
    return HandlerOutcome()


def get_consumer_connections(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    group = headers.read_header(broker_headers.ConsumerGroup, command.ext).consumer_group or ""
    return HandlerOutcome(clients.consumer_connection_json(model, group))


def get_running_info(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    header = headers.read_header(broker_headers.ConsumerClient, command.ext)
    group, client_id = header.consumer_group or "", header.client_id or ""
    return HandlerOutcome(clients.running_info_json(model, group, client_id, header.jstack_enable, now_ms))


def get_producer_connections(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    group = headers.read_header(broker_headers.ProducerGroup, command.ext).producer_group or ""
    return HandlerOutcome(clients.producer_connection_json(model, group))


def list_producers(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(clients.producer_table_json(model, now_ms))


def get_runtime_info(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    info = model.traffic.runtime_info(now_ms)
    commit_log_path = model.properties["storePathCommitLog"]
    return HandlerOutcome(
        json_bodies.encode_kv_table(
            {**info, f"commitLogDiskRatio_{commit_log_path}": info["commitLogDiskRatio"]}
        )
    )


def get_config(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    version = fastjson.encode_json(model.properties.data_version.to_json()).decode()
    return HandlerOutcome(model.properties.encoded_lines, {"version": version})


def update_config(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    is_permission_changed = model.properties.apply_update(command.body, now_ms)
    if is_permission_changed:
        model.topic_table.advance_version(now_ms)
    return HandlerOutcome(needs_registration=is_permission_changed)


def pull_messages(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    response = messages.pull_messages(
        model, headers.read_header(broker_headers.PullMessage, command.ext), now_ms
    )
    return HandlerOutcome(response.message_bytes, response.ext_fields, response_code=response.response_code)


def query_messages(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(
        *messages.query_messages(model, headers.read_header(broker_headers.QueryMessage, command.ext), now_ms)
    )


def view_message(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(
        messages.view_message(
            model, headers.read_header(broker_headers.ViewMessage, command.ext).offset or 0, now_ms
        )
    )


def get_ha_status(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(replication.ha_status_json(model, now_ms))


def view_counters(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    header = headers.read_header(broker_headers.ViewBrokerStats, command.ext)
    return HandlerOutcome(
        stats.counter_stats_json(model, header.stats_name or "", header.stats_key or "", now_ms)
    )


def ignore_cleanup(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    """Requests to clean up files. A simulated broker has no files."""
    return HandlerOutcome()


def ignore_min_broker_id_change(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    """Only acting masters would need this notice, and simulated brokers ignore it."""
    return HandlerOutcome()


NO_RESPONSE_CODE_REMARK = "not set any response code"


RequestHandler = Callable[[BrokerModel, RemotingCommand, int], HandlerOutcome]


def handle_request(
    model: BrokerModel, command: RemotingCommand, now_ms: int
) -> tuple[RemotingCommand, HandlerOutcome]:
    """Handle a request. A refusal is an answer as well."""
    try:
        handler = _HANDLERS.get(command.code)
        if handler is None:
            raise NotSupported(f" request type {command.code} not supported")
        outcome = handler(model, command, now_ms)
    except RequestError as error:
        return build_reply(command, error.code, remark=error.remark), HandlerOutcome()
    except ValueError as error:
        return build_reply(
            command, ResponseCode.SYSTEM_ERROR, remark=f"{type(error).__name__}: {error}"
        ), HandlerOutcome()
    return build_reply(
        command, outcome.response_code, ext=outcome.ext_fields, body=outcome.body, remark=outcome.remark
    ), outcome


def _account_handler(action: Callable[[UserTable, ExtFields, bytes], bytes | None]) -> RequestHandler:
    """Build the handler of a request about users or ACLs, which takes ext fields and a body."""

    def handle_account_request(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
        return HandlerOutcome(
            action(model.user_table, command.ext or {}, command.body) or b"", remark=NO_RESPONSE_CODE_REMARK
        )

    return handle_account_request


def _command_handler(
    action: Callable[[BrokerModel, RemotingCommand, int], operator_commands.CommandAnswer],
) -> RequestHandler:
    """Build the handler of an operator request, which is answered with a body or a remark."""

    def handle_operator_command(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
        body, remark = action(model, command, now_ms)
        return HandlerOutcome(body, remark=remark)

    return handle_operator_command


_HANDLERS: dict[int, RequestHandler] = {
    RequestCode.PULL_MESSAGE: pull_messages,
    RequestCode.QUERY_MESSAGE: query_messages,
    RequestCode.QUERY_CONSUMER_OFFSET: query_offset,
    RequestCode.UPDATE_CONSUMER_OFFSET: update_offset,
    RequestCode.UPDATE_AND_CREATE_TOPIC: create_topic,
    RequestCode.UPDATE_AND_CREATE_TOPIC_LIST: create_topics,
    RequestCode.GET_ALL_TOPIC_CONFIG: list_topic_configs,
    RequestCode.GET_ALL_CONSUMER_OFFSET: get_all_offsets,
    RequestCode.UPDATE_BROKER_CONFIG: update_config,
    RequestCode.GET_BROKER_CONFIG: get_config,
    RequestCode.GET_BROKER_RUNTIME_INFO: get_runtime_info,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: search_offset_by_time,
    RequestCode.GET_MAX_OFFSET: get_max_offset,
    RequestCode.GET_MIN_OFFSET: get_min_offset,
    RequestCode.VIEW_MESSAGE_BY_ID: view_message,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: update_group,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST: update_groups,
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: list_groups,
    RequestCode.GET_CONSUMER_CONNECTION_LIST: get_consumer_connections,
    RequestCode.GET_PRODUCER_CONNECTION_LIST: get_producer_connections,
    RequestCode.DELETE_SUBSCRIPTIONGROUP: delete_group,
    RequestCode.DELETE_TOPIC_IN_BROKER: delete_topic,
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET: reset_offset,
    RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: list_groups_of_topic,
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER: list_system_topics,
    RequestCode.GET_TOPIC_CONFIG: get_topic_config,
    RequestCode.GET_TOPIC_STATS_INFO: get_topic_stats,
    RequestCode.GET_CONSUME_STATS: get_consume_stats,
    RequestCode.GET_CONSUMER_RUNNING_INFO: get_running_info,
    RequestCode.VIEW_BROKER_STATS_DATA: view_counters,
    RequestCode.GET_BROKER_CONSUME_STATS: get_all_consume_stats,
    RequestCode.GET_ALL_PRODUCER_INFO: list_producers,
    RequestCode.GET_BROKER_HA_STATUS: get_ha_status,
    RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE: ignore_cleanup,
    RequestCode.CLEAN_UNUSED_TOPIC: ignore_cleanup,
    RequestCode.POP_ROLLBACK: ignore_cleanup,
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
    RequestCode.DELETE_EXPIRED_COMMITLOG: ignore_cleanup,
    RequestCode.SET_MESSAGE_REQUEST_MODE: _command_handler(operator_commands.set_consume_mode),
    RequestCode.GET_ALL_MESSAGE_REQUEST_MODE: _command_handler(operator_commands.list_consume_modes),
    RequestCode.UPDATE_COLD_DATA_FLOW_CTR_CONFIG: _command_handler(operator_commands.set_cold_data_threshold),
    RequestCode.REMOVE_COLD_DATA_FLOW_CTR_CONFIG: _command_handler(
        operator_commands.remove_cold_data_threshold
    ),
    RequestCode.GET_COLD_DATA_FLOW_CTR_INFO: _command_handler(operator_commands.cold_data_info),
    RequestCode.SET_COMMITLOG_READ_MODE: _command_handler(operator_commands.set_read_ahead),
    RequestCode.SWITCH_TIMER_ENGINE: _command_handler(operator_commands.switch_timer_engine),
    RequestCode.RESET_MASTER_FLUSH_OFFSET: _command_handler(operator_commands.set_master_flush_offset),
    RequestCode.QUERY_CONSUME_QUEUE: _command_handler(operator_commands.queue_entries_json),
    RequestCode.CHECK_ROCKSDB_CQ_WRITE_PROGRESS: _command_handler(operator_commands.check_rocksdb_progress),
    RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE: ignore_min_broker_id_change,
}
