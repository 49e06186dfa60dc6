"""The handlers for requests about the broker itself and about its messages."""

from namesrv_core.fleet import messages, replication, stats
from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.fleet.handler_outcome import HandlerOutcome
from namesrv_core.protocol import broker_headers, fastjson, headers, json_bodies
from namesrv_core.protocol.command import RemotingCommand


def get_runtime_info(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    runtime_info = broker_model.traffic.runtime_info(now_ms)
    commit_log_path = broker_model.properties["storePathCommitLog"]
    return HandlerOutcome(
        json_bodies.encode_kv_table(
            {**runtime_info, f"commitLogDiskRatio_{commit_log_path}": runtime_info["commitLogDiskRatio"]}
        )
    )


def get_config(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    version_json = fastjson.encode_json(broker_model.properties.data_version.to_json()).decode()
    return HandlerOutcome(broker_model.properties.encoded_lines, {"version": version_json})


def update_config(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    is_permission_changed = broker_model.properties.apply_update(command.body, now_ms)
    if is_permission_changed:
        broker_model.topic_table.advance_version(now_ms)
    return HandlerOutcome(needs_registration=is_permission_changed)


def pull_messages(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    pull_response = messages.pull_messages(
        broker_model, headers.read_header(broker_headers.PullMessage, command.ext), now_ms
    )
    return HandlerOutcome(
        pull_response.message_bytes, pull_response.ext_fields, response_code=pull_response.response_code
    )


def query_messages(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(
        *messages.query_messages(
            broker_model, headers.read_header(broker_headers.QueryMessage, command.ext), now_ms
        )
    )


def view_message(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(
        messages.view_message(
            broker_model, headers.read_header(broker_headers.ViewMessage, command.ext).offset or 0, now_ms
        )
    )


def get_ha_status(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(replication.ha_status_json(broker_model, now_ms))


def view_counters(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    request_header = headers.read_header(broker_headers.ViewBrokerStats, command.ext)
    return HandlerOutcome(
        stats.counter_stats_json(
            broker_model, request_header.stats_name or "", request_header.stats_key or "", now_ms
        )
    )


def ignore_cleanup(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    """Requests to clean up files. A simulated broker has no files."""
    return HandlerOutcome()


def ignore_min_broker_id_change(
    broker_model: BrokerModel, command: RemotingCommand, now_ms: int
) -> HandlerOutcome:
    """Only acting masters would need this notice, and simulated brokers ignore it."""
    return HandlerOutcome()
