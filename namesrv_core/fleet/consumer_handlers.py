"""The handlers for requests about consumer groups and connected clients."""

from namesrv_core.fleet import clients, stats
from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.fleet.handler_outcome import HandlerOutcome
from namesrv_core.protocol import broker_headers, fastjson, headers, json_bodies
from namesrv_core.protocol.command import RemotingCommand


def get_consume_stats(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    request_header = headers.read_header(broker_headers.ConsumerGroup, command.ext)
    return HandlerOutcome(
        stats.consume_stats_json(
            broker_model, request_header.consumer_group or "", request_header.topic, now_ms
        )
    )


def get_all_consume_stats(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    is_order = headers.read_header(broker_headers.BrokerConsumeStats, command.ext).is_order
    return HandlerOutcome(stats.consume_stats_list_json(broker_model, is_order, now_ms))


def list_groups(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    json_body = {
        "dataVersion": broker_model.group_table.data_version.to_json(),
        "forbiddenTable": {},
        "subscriptionGroupTable": broker_model.group_table.configs,
    }
    return HandlerOutcome(
        fastjson.encode_json(json_body), {"totalGroupNum": str(len(broker_model.group_table.configs))}
    )


def update_group(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    broker_model.group_table.put_config(
        json_bodies.require_object(fastjson.decode_json(command.body)), now_ms
    )
    return HandlerOutcome()


def update_groups(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    for group_config in (
        json_bodies.require_object(fastjson.decode_json(command.body)).get("groupConfigList") or ()
    ):
        broker_model.group_table.put_config(json_bodies.require_object(group_config), now_ms)
    return HandlerOutcome()


def delete_group(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    """Delete a group and its clients: no client creates it again."""
    request_header = headers.read_header(broker_headers.DeleteGroup, command.ext)
    group = request_header.group_name or ""
    if broker_model.group_table.delete_group(group, now_ms):
        broker_model.offsets.stop_group(
            group, broker_model.read_queue_count, now_ms, forget_offsets=request_header.clean_offset
        )
    return HandlerOutcome()


def get_consumer_connections(
    broker_model: BrokerModel, command: RemotingCommand, now_ms: int
) -> HandlerOutcome:
    group = headers.read_header(broker_headers.ConsumerGroup, command.ext).consumer_group or ""
    return HandlerOutcome(clients.consumer_connection_json(broker_model, group))


def get_running_info(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    request_header = headers.read_header(broker_headers.ConsumerClient, command.ext)
    group, client_id = request_header.consumer_group or "", request_header.client_id or ""
    return HandlerOutcome(
        clients.running_info_json(broker_model, group, client_id, request_header.jstack_enable, now_ms)
    )


def get_producer_connections(
    broker_model: BrokerModel, command: RemotingCommand, now_ms: int
) -> HandlerOutcome:
    group = headers.read_header(broker_headers.ProducerGroup, command.ext).producer_group or ""
    return HandlerOutcome(clients.producer_connection_json(broker_model, group))


def list_producers(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(clients.producer_table_json(broker_model, now_ms))
