"""The handlers for requests about the broker itself and about its messages."""

from namesrv_core.fleet import messages, replication, stats
from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.fleet.handler_outcome import HandlerOutcome
from namesrv_core.protocol import broker_headers, fastjson, headers, json_bodies
from namesrv_core.protocol.command import RemotingCommand


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
