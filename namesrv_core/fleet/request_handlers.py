"""What a simulated broker answers: request code -> handler, a table. Pure; the remarks are 5.5.0's own.

A handler may want name servers to be told before its answer leaves, as a real broker tells them.
"""

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

_NO_RESPONSE_CODE_REMARK = "not set any response code"
_FILTER_TYPES = ("SINGLE_TAG", "MULTI_TAG")


class HandlerOutcome(NamedTuple):
    """An answer's parts, and whether name servers have to hear first: `topics` None means of all topics."""

    body: bytes = b""
    ext_fields: ExtFields | None = None
    remark: str | None = None
    needs_registration: bool = False
    changed_topics: tuple[str, ...] | None = None
    response_code: int = ResponseCode.SUCCESS


RequestHandler = Callable[[BrokerModel, RemotingCommand, int], HandlerOutcome]


def handle_request(
    broker_model: BrokerModel, command: RemotingCommand, now_ms: int
) -> tuple[RemotingCommand, HandlerOutcome]:
    """The answer to a request, and what else came of it; refusals are answers too."""
    try:
        handler = _HANDLERS.get(command.code)
        if handler is None:
            raise NotSupported(f" request type {command.code} not supported")
        outcome = handler(broker_model, command, now_ms)
    except RequestError as error:
        return build_reply(command, error.code, remark=error.remark), HandlerOutcome()
    except ValueError as error:
        return build_reply(
            command, ResponseCode.SYSTEM_ERROR, remark=f"{type(error).__name__}: {error}"
        ), HandlerOutcome()
    return build_reply(
        command, outcome.response_code, ext=outcome.ext_fields, body=outcome.body, remark=outcome.remark
    ), outcome


def _create_topic(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    request_header = headers.read_header(broker_headers.CreateTopic, command.ext)
    topic = broker_model.topic_table.require_valid_name(request_header.topic)
    filter_type = (command.ext or {}).get("topicFilterType")
    if filter_type not in _FILTER_TYPES:
        raise RequestError(f"topicFilterType = [{filter_type or 'null'}] value invalid")
    current_config = broker_model.topic_table.configs.get(topic, {})
    new_config = make_topic_config(
        topic,
        request_header.read_queue_nums,
        request_header.perm,
        parse_attribute_changes(current_config.get("attributes", {}), request_header.attributes),
        write_queues=request_header.write_queue_nums,
        sys_flag=request_header.topic_sys_flag or 0,
        is_ordered=request_header.order,
        filter_type=filter_type,
    )
    is_changed = broker_model.topic_table.put_config(new_config, now_ms)
    return HandlerOutcome(
        remark=_NO_RESPONSE_CODE_REMARK, needs_registration=is_changed, changed_topics=(topic,)
    )


def _create_topics(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    """A list. One topic that is there in just this way has the broker do nothing at all, with success."""
    listed_configs = (
        json_bodies.require_object(fastjson.decode_json(command.body)).get("topicConfigList") or ()
    )
    wanted_configs = [json_bodies.require_object(wanted_config) for wanted_config in listed_configs]
    topic_names = tuple(
        broker_model.topic_table.require_valid_name(wanted_config.get("topicName"))
        for wanted_config in wanted_configs
    )
    if any(
        broker_model.topic_table.configs.get(topic) == wanted_config
        for topic, wanted_config in zip(topic_names, wanted_configs, strict=True)
    ):
        return HandlerOutcome()
    for topic, wanted_config in zip(topic_names, wanted_configs, strict=True):
        current_attributes = broker_model.topic_table.configs.get(topic, {}).get("attributes", {})
        broker_model.topic_table.put_config(
            {
                **wanted_config,
                "attributes": change_known_attributes(current_attributes, wanted_config.get("attributes")),
            },
            now_ms,
        )
    return HandlerOutcome(needs_registration=True, changed_topics=topic_names)


def _delete_topic(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    topic = broker_model.topic_table.require_valid_name(
        headers.read_header(headers.DeleteTopic, command.ext).topic
    )
    if broker_model.topic_table.delete_topic(topic, now_ms):
        broker_model.offsets.forget_topic(topic)
    return HandlerOutcome()


def _list_topic_configs(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    data_version = broker_model.topic_table.data_version
    json_body = {
        "dataVersion": data_version.to_json(),
        "mappingDataVersion": DataVersion().to_json(),
        "topicConfigTable": {
            topic: broker_model.topic_table.configs[topic]
            for topic in _topic_name_page(broker_model, command.ext or {})
        },
        "topicQueueMappingDetailMap": {},
        "topicQueueMappingInfoMap": {},
    }
    return HandlerOutcome(
        fastjson.encode_json(json_body), {"totalTopicNum": str(len(broker_model.topic_table.configs))}
    )


def _topic_name_page(broker_model: BrokerModel, ext_fields: ExtFields) -> list[str]:
    """All names, or those of a page: it begins anew when the table changed since the page before."""
    topic_names = sorted(broker_model.topic_table.configs)
    if not ext_fields.get("maxTopicNum"):
        return topic_names
    first_index, page_size = (
        fastjson.to_int(ext_fields.get(field_name)) for field_name in ("topicSeq", "maxTopicNum")
    )
    known_version = ext_fields.get("dataVersion")
    if first_index and (
        not known_version
        or fastjson.decode_json(known_version.encode()) != broker_model.topic_table.data_version.to_json()
    ):
        first_index = 0
    return topic_names[first_index : first_index + page_size]


def _get_topic_config(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    topic = headers.read_header(headers.TopicName, command.ext).topic
    topic_config_json = broker_model.topic_table.configs.get(topic or "")
    if topic_config_json is None:
        raise TopicNotExist(f"No topic in this broker. topic: {topic}")
    return HandlerOutcome(fastjson.encode_json(topic_config_json))


def _list_system_topics(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(json_bodies.encode_topic_list(sorted(broker_model.topic_table.reserved_names)))


def _get_runtime_info(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    runtime_info = broker_model.traffic.runtime_info(now_ms)
    commit_log_path = broker_model.properties["storePathCommitLog"]
    return HandlerOutcome(
        json_bodies.encode_kv_table(
            {**runtime_info, f"commitLogDiskRatio_{commit_log_path}": runtime_info["commitLogDiskRatio"]}
        )
    )


def _get_config(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    version_json = fastjson.encode_json(broker_model.properties.data_version.to_json()).decode()
    return HandlerOutcome(broker_model.properties.encoded_lines, {"version": version_json})


def _update_config(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    is_permission_changed = broker_model.properties.apply_update(command.body, now_ms)
    if is_permission_changed:
        broker_model.topic_table.advance_version(now_ms)
    return HandlerOutcome(needs_registration=is_permission_changed)


def _list_groups_of_topic(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    topic = headers.read_header(headers.TopicName, command.ext).topic or ""
    return HandlerOutcome(fastjson.encode_json({"groupList": broker_model.offsets.groups_of_topic(topic)}))


def _get_topic_stats(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(
        stats.topic_stats_json(
            broker_model, headers.read_header(headers.TopicName, command.ext).topic or "", now_ms
        )
    )


def _get_consume_stats(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    request_header = headers.read_header(broker_headers.ConsumerGroup, command.ext)
    return HandlerOutcome(
        stats.consume_stats_json(
            broker_model, request_header.consumer_group or "", request_header.topic, now_ms
        )
    )


def _get_all_consume_stats(
    broker_model: BrokerModel, command: RemotingCommand, now_ms: int
) -> HandlerOutcome:
    is_order = headers.read_header(broker_headers.BrokerConsumeStats, command.ext).is_order
    return HandlerOutcome(stats.consume_stats_list_json(broker_model, is_order, now_ms))


def _get_all_offsets(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(stats.all_offsets_json(broker_model, now_ms))


def _list_groups(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    json_body = {
        "dataVersion": broker_model.group_table.data_version.to_json(),
        "forbiddenTable": {},
        "subscriptionGroupTable": broker_model.group_table.configs,
    }
    return HandlerOutcome(
        fastjson.encode_json(json_body), {"totalGroupNum": str(len(broker_model.group_table.configs))}
    )


def _update_group(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    broker_model.group_table.put_config(
        json_bodies.require_object(fastjson.decode_json(command.body)), now_ms
    )
    return HandlerOutcome()


def _update_groups(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    for group_config in (
        json_bodies.require_object(fastjson.decode_json(command.body)).get("groupConfigList") or ()
    ):
        broker_model.group_table.put_config(json_bodies.require_object(group_config), now_ms)
    return HandlerOutcome()


def _delete_group(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    """Its clients go with it: nobody is here to make it anew."""
    request_header = headers.read_header(broker_headers.DeleteGroup, command.ext)
    group = request_header.group_name or ""
    if broker_model.group_table.delete_group(group, now_ms):
        broker_model.offsets.stop_group(
            group, broker_model.read_queue_count, now_ms, forget_offsets=request_header.clean_offset
        )
    return HandlerOutcome()


def _offset_outcome(offset: int) -> HandlerOutcome:
    return HandlerOutcome(ext_fields={"offset": str(offset)})


def _query_offset(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    request_header = headers.read_header(broker_headers.ConsumerOffset, command.ext)
    return _offset_outcome(
        stats.require_committed_offset(
            broker_model,
            request_header.consumer_group or "",
            request_header.topic or "",
            request_header.queue_id,
            now_ms,
        )
    )


def _update_offset(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    request_header = headers.read_header(broker_headers.ConsumerOffset, command.ext)
    group, topic = request_header.consumer_group or "", request_header.topic or ""
    stats.require_topic_and_group(broker_model, group, topic)
    broker_model.offsets.move_offset(
        (group, topic, request_header.queue_id), request_header.commit_offset or 0, now_ms
    )
    return HandlerOutcome()


def _reset_offset(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(
        stats.reset_offsets(
            broker_model, headers.read_header(broker_headers.ResetOffset, command.ext), now_ms
        )
    )


def _get_max_offset(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return _offset_outcome(
        stats.queue_end_offset(
            broker_model, headers.read_header(broker_headers.QueueOffset, command.ext), now_ms
        )
    )


def _get_min_offset(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return _offset_outcome(
        stats.queue_begin_offset(
            broker_model, headers.read_header(broker_headers.QueueOffset, command.ext), now_ms
        )
    )


def _search_offset_by_time(
    broker_model: BrokerModel, command: RemotingCommand, now_ms: int
) -> HandlerOutcome:
    """The first message that was stored at that time or later."""
    request_header = headers.read_header(broker_headers.QueueOffset, command.ext)
    return _offset_outcome(
        stats.queue_end_offset(broker_model, request_header, min((request_header.timestamp or 0) - 1, now_ms))
    )


def _pull_messages(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    pull_response = messages.pull_messages(
        broker_model, headers.read_header(broker_headers.PullMessage, command.ext), now_ms
    )
    return HandlerOutcome(
        pull_response.message_bytes, pull_response.ext_fields, response_code=pull_response.response_code
    )


def _query_messages(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(
        *messages.query_messages(
            broker_model, headers.read_header(broker_headers.QueryMessage, command.ext), now_ms
        )
    )


def _view_message(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(
        messages.view_message(
            broker_model, headers.read_header(broker_headers.ViewMessage, command.ext).offset or 0, now_ms
        )
    )


def _get_consumer_connections(
    broker_model: BrokerModel, command: RemotingCommand, now_ms: int
) -> HandlerOutcome:
    group = headers.read_header(broker_headers.ConsumerGroup, command.ext).consumer_group or ""
    return HandlerOutcome(clients.consumer_connection_json(broker_model, group))


def _get_running_info(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    request_header = headers.read_header(broker_headers.ConsumerClient, command.ext)
    group, client_id = request_header.consumer_group or "", request_header.client_id or ""
    return HandlerOutcome(
        clients.running_info_json(broker_model, group, client_id, request_header.jstack_enable, now_ms)
    )


def _get_producer_connections(
    broker_model: BrokerModel, command: RemotingCommand, now_ms: int
) -> HandlerOutcome:
    group = headers.read_header(broker_headers.ProducerGroup, command.ext).producer_group or ""
    return HandlerOutcome(clients.producer_connection_json(broker_model, group))


def _list_producers(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(clients.producer_table_json(broker_model, now_ms))


def _get_ha_status(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(replication.ha_status_json(broker_model, now_ms))


def _view_counters(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    request_header = headers.read_header(broker_headers.ViewBrokerStats, command.ext)
    return HandlerOutcome(
        stats.counter_stats_json(
            broker_model, request_header.stats_name or "", request_header.stats_key or "", now_ms
        )
    )


def _ignore_cleanup(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    """Orders about files, of which there are none."""
    return HandlerOutcome()


def _account_handler(account_action: Callable[[UserTable, ExtFields, bytes], bytes | None]) -> RequestHandler:
    """A handler of one request about users or ACLs, which all are ext fields and a body."""

    def handle_account_request(
        broker_model: BrokerModel, command: RemotingCommand, now_ms: int
    ) -> HandlerOutcome:
        return HandlerOutcome(
            account_action(broker_model.user_table, command.ext or {}, command.body) or b"",
            remark=_NO_RESPONSE_CODE_REMARK,
        )

    return handle_account_request


def _command_handler(
    command_action: Callable[[BrokerModel, RemotingCommand, int], operator_commands.CommandAnswer],
) -> RequestHandler:
    """A handler of one order, which is answered with a body or a remark."""

    def handle_operator_command(
        broker_model: BrokerModel, command: RemotingCommand, now_ms: int
    ) -> HandlerOutcome:
        response_body, response_remark = command_action(broker_model, command, now_ms)
        return HandlerOutcome(response_body, remark=response_remark)

    return handle_operator_command


def _ignore_min_broker_id_change(
    broker_model: BrokerModel, command: RemotingCommand, now_ms: int
) -> HandlerOutcome:
    """Of use to acting masters only, which these are not."""
    return HandlerOutcome()


_HANDLERS: dict[int, RequestHandler] = {
    RequestCode.PULL_MESSAGE: _pull_messages,
    RequestCode.QUERY_MESSAGE: _query_messages,
    RequestCode.QUERY_CONSUMER_OFFSET: _query_offset,
    RequestCode.UPDATE_CONSUMER_OFFSET: _update_offset,
    RequestCode.UPDATE_AND_CREATE_TOPIC: _create_topic,
    RequestCode.UPDATE_AND_CREATE_TOPIC_LIST: _create_topics,
    RequestCode.GET_ALL_TOPIC_CONFIG: _list_topic_configs,
    RequestCode.GET_ALL_CONSUMER_OFFSET: _get_all_offsets,
    RequestCode.UPDATE_BROKER_CONFIG: _update_config,
    RequestCode.GET_BROKER_CONFIG: _get_config,
    RequestCode.GET_BROKER_RUNTIME_INFO: _get_runtime_info,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: _search_offset_by_time,
    RequestCode.GET_MAX_OFFSET: _get_max_offset,
    RequestCode.GET_MIN_OFFSET: _get_min_offset,
    RequestCode.VIEW_MESSAGE_BY_ID: _view_message,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: _update_group,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST: _update_groups,
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: _list_groups,
    RequestCode.GET_CONSUMER_CONNECTION_LIST: _get_consumer_connections,
    RequestCode.GET_PRODUCER_CONNECTION_LIST: _get_producer_connections,
    RequestCode.DELETE_SUBSCRIPTIONGROUP: _delete_group,
    RequestCode.DELETE_TOPIC_IN_BROKER: _delete_topic,
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET: _reset_offset,
    RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: _list_groups_of_topic,
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER: _list_system_topics,
    RequestCode.GET_TOPIC_CONFIG: _get_topic_config,
    RequestCode.GET_TOPIC_STATS_INFO: _get_topic_stats,
    RequestCode.GET_CONSUME_STATS: _get_consume_stats,
    RequestCode.GET_CONSUMER_RUNNING_INFO: _get_running_info,
    RequestCode.VIEW_BROKER_STATS_DATA: _view_counters,
    RequestCode.GET_BROKER_CONSUME_STATS: _get_all_consume_stats,
    RequestCode.GET_ALL_PRODUCER_INFO: _list_producers,
    RequestCode.GET_BROKER_HA_STATUS: _get_ha_status,
    RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE: _ignore_cleanup,
    RequestCode.CLEAN_UNUSED_TOPIC: _ignore_cleanup,
    RequestCode.POP_ROLLBACK: _ignore_cleanup,
    RequestCode.AUTH_CREATE_USER: _account_handler(UserTable.create_user),
    RequestCode.AUTH_UPDATE_USER: _account_handler(UserTable.update_user),
    RequestCode.AUTH_DELETE_USER: _account_handler(
        lambda user_table, ext_fields, _: user_table.delete_user(ext_fields)
    ),
    RequestCode.AUTH_GET_USER: _account_handler(
        lambda user_table, ext_fields, _: user_table.get_user(ext_fields)
    ),
    RequestCode.AUTH_LIST_USER: _account_handler(
        lambda user_table, ext_fields, _: user_table.list_users(ext_fields)
    ),
    RequestCode.AUTH_CREATE_ACL: _account_handler(
        lambda user_table, _, request_body: user_table.put_acl(request_body)
    ),
    RequestCode.AUTH_UPDATE_ACL: _account_handler(
        lambda user_table, _, request_body: user_table.put_acl(request_body)
    ),
    RequestCode.AUTH_DELETE_ACL: _account_handler(
        lambda user_table, ext_fields, _: user_table.delete_acl(ext_fields)
    ),
    RequestCode.AUTH_GET_ACL: _account_handler(
        lambda user_table, ext_fields, _: user_table.get_acl(ext_fields)
    ),
    RequestCode.AUTH_LIST_ACL: _account_handler(
        lambda user_table, ext_fields, _: user_table.list_acls(ext_fields)
    ),
    RequestCode.DELETE_EXPIRED_COMMITLOG: _ignore_cleanup,
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
    RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE: _ignore_min_broker_id_change,
}
