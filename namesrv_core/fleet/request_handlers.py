"""The table from request codes to handlers of a simulated broker. Pure. The remarks are those of 5.5.0."""

from collections.abc import Callable

from namesrv_core.errors import NotSupported, RequestError, ResponseCode
from namesrv_core.fleet import (
    broker_handlers,
    consumer_handlers,
    offset_handlers,
    operator_commands,
    topic_handlers,
)
from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.fleet.handler_outcome import NO_RESPONSE_CODE_REMARK, HandlerOutcome, RequestHandler
from namesrv_core.fleet.users import UserTable
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import ExtFields, RemotingCommand, build_reply


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
    RequestCode.PULL_MESSAGE: broker_handlers.pull_messages,
    RequestCode.QUERY_MESSAGE: broker_handlers.query_messages,
    RequestCode.QUERY_CONSUMER_OFFSET: offset_handlers.query_offset,
    RequestCode.UPDATE_CONSUMER_OFFSET: offset_handlers.update_offset,
    RequestCode.UPDATE_AND_CREATE_TOPIC: topic_handlers.create_topic,
    RequestCode.UPDATE_AND_CREATE_TOPIC_LIST: topic_handlers.create_topics,
    RequestCode.GET_ALL_TOPIC_CONFIG: topic_handlers.list_topic_configs,
    RequestCode.GET_ALL_CONSUMER_OFFSET: offset_handlers.get_all_offsets,
    RequestCode.UPDATE_BROKER_CONFIG: broker_handlers.update_config,
    RequestCode.GET_BROKER_CONFIG: broker_handlers.get_config,
    RequestCode.GET_BROKER_RUNTIME_INFO: broker_handlers.get_runtime_info,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: offset_handlers.search_offset_by_time,
    RequestCode.GET_MAX_OFFSET: offset_handlers.get_max_offset,
    RequestCode.GET_MIN_OFFSET: offset_handlers.get_min_offset,
    RequestCode.VIEW_MESSAGE_BY_ID: broker_handlers.view_message,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: consumer_handlers.update_group,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST: consumer_handlers.update_groups,
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: consumer_handlers.list_groups,
    RequestCode.GET_CONSUMER_CONNECTION_LIST: consumer_handlers.get_consumer_connections,
    RequestCode.GET_PRODUCER_CONNECTION_LIST: consumer_handlers.get_producer_connections,
    RequestCode.DELETE_SUBSCRIPTIONGROUP: consumer_handlers.delete_group,
    RequestCode.DELETE_TOPIC_IN_BROKER: topic_handlers.delete_topic,
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET: offset_handlers.reset_offset,
    RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: topic_handlers.list_groups_of_topic,
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER: topic_handlers.list_system_topics,
    RequestCode.GET_TOPIC_CONFIG: topic_handlers.get_topic_config,
    RequestCode.GET_TOPIC_STATS_INFO: topic_handlers.get_topic_stats,
    RequestCode.GET_CONSUME_STATS: consumer_handlers.get_consume_stats,
    RequestCode.GET_CONSUMER_RUNNING_INFO: consumer_handlers.get_running_info,
    RequestCode.VIEW_BROKER_STATS_DATA: broker_handlers.view_counters,
    RequestCode.GET_BROKER_CONSUME_STATS: consumer_handlers.get_all_consume_stats,
    RequestCode.GET_ALL_PRODUCER_INFO: consumer_handlers.list_producers,
    RequestCode.GET_BROKER_HA_STATUS: broker_handlers.get_ha_status,
    RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE: broker_handlers.ignore_cleanup,
    RequestCode.CLEAN_UNUSED_TOPIC: broker_handlers.ignore_cleanup,
    RequestCode.POP_ROLLBACK: broker_handlers.ignore_cleanup,
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
    RequestCode.DELETE_EXPIRED_COMMITLOG: broker_handlers.ignore_cleanup,
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
    RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE: broker_handlers.ignore_min_broker_id_change,
}
