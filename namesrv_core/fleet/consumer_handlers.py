"""The handlers for requests about consumer groups and connected clients."""

from namesrv_core.fleet import clients, stats
from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.fleet.handler_outcome import HandlerOutcome
from namesrv_core.protocol import broker_headers, fastjson, headers, json_bodies
from namesrv_core.protocol.command import RemotingCommand


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
