"""Faults of operators: wrong lists and settings, and changes that reach only some name servers."""

import asyncio

from namesrv_core.lab.expectations import expect_departure, expect_return
from namesrv_core.lab.fault_context import FaultContext, member_names
from namesrv_core.lab.lab_cluster import LabBroker
from namesrv_core.lab.observation_rules import AT_ONCE_SECONDS, NEXT_HEARTBEAT_SECONDS, REGISTRATION_CAUSES
from namesrv_core.lab.scenario import Fault, match_names
from namesrv_core.lab.truth_log import ExpectedEvent
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import build_request
from namesrv_core.state.kv_config import ORDER_TOPIC_CONFIG
from namesrv_core.transport.request_channel import RequestChannel

_USUAL_PERM = 6


async def change_namesrv_list(fault_context: FaultContext, fault: Fault) -> None:
    """Restart brokers with another list. They leave the name servers that the list no longer has."""
    lab_cluster, brokers = fault_context.lab_cluster, fault_context.matching_brokers(fault)
    listed_names = tuple(match_names(fault.namesrvs, lab_cluster.name_servers))
    expected_events = expect_departure(lab_cluster, brokers, "unregistered", "UNREGISTER_BROKER")
    fault_context.record_deed(
        fault.kind, "begin", member_names(brokers), expected_events, namesrvs=listed_names
    )
    await asyncio.gather(*(lab_cluster.take_down_broker(broker, is_abrupt=False) for broker in brokers))
    broker_groups = {broker.broker_spec.broker_name for broker in brokers}
    lab_cluster.wiped_permissions = {
        (group, server) for group, server in lab_cluster.wiped_permissions if group not in broker_groups
    }
    for broker in brokers:
        broker.run_state, broker.listed_servers = "up", listed_names
    fault_context.record_deed(
        fault.kind, "end", member_names(brokers), expect_return(lab_cluster, brokers), namesrvs=listed_names
    )
    await lab_cluster.start_brokers(brokers)


async def change_broker_setting(fault_context: FaultContext, fault: Fault) -> None:
    """Change a broker setting. Its registration changes only with brokerPermission."""
    brokers = fault_context.matching_brokers(fault)
    expected_events = [e for b in brokers for e in _expect_restricted_permission(fault_context, b, fault)]
    fault_context.record_deed(
        fault.kind, "begin", member_names(brokers), expected_events, key=fault.key, value=fault.value
    )
    for broker in brokers:
        channel = RequestChannel(broker.reserved_port.socket_addr)
        try:
            property_line = f"{fault.key}={fault.value}\n".encode()
            await channel.send_request(build_request(RequestCode.UPDATE_BROKER_CONFIG, body=property_line))
        finally:
            channel.close()


def _expect_restricted_permission(
    fault_context: FaultContext, broker: LabBroker, fault: Fault
) -> list[ExpectedEvent]:
    broker_properties = broker.simulated_broker.model.properties
    if (
        fault.key != "brokerPermission"
        or not broker.broker_spec.is_master
        or broker_properties[fault.key] == fault.value
    ):
        return []
    listener_names = tuple(
        n for n in fault_context.lab_cluster.name_servers if fault_context.lab_cluster.can_hear(n, broker)
    )
    restricted_perm = _USUAL_PERM & int(fault.value)
    change_fields = {
        "brokerName": broker.broker_spec.broker_name,
        "reason": "registration",
        "changes.after.perm": restricted_perm,
    }
    return (
        [
            ExpectedEvent(
                ("TopicsChanged",), listener_names, AT_ONCE_SECONDS, change_fields, REGISTRATION_CAUSES
            )
        ]
        if listener_names
        else []
    )


async def write_order_conf(fault_context: FaultContext, fault: Fault) -> None:
    """Write an order configuration. No program copies it to other name servers."""
    server_names, request_code = (
        member_names(fault_context.matching_servers(fault)),
        RequestCode.PUT_KV_CONFIG,
    )
    ext_fields = {"namespace": ORDER_TOPIC_CONFIG, "key": fault.topic, "value": fault.value}
    event = ExpectedEvent(("KvPut",), tuple(server_names), AT_ONCE_SECONDS, ext_fields, (request_code.name,))
    fault_context.record_deed(
        fault.kind, "begin", server_names, [event], topic=fault.topic, value=fault.value
    )
    for server_name in server_names:
        await fault_context.lab_cluster.send_request(server_name, request_code, ext_fields)


async def forget_topic(fault_context: FaultContext, fault: Fault) -> None:
    """Delete a topic on name servers. Brokers restore it with their next registrations."""
    lab_cluster, name_servers = fault_context.lab_cluster, fault_context.matching_servers(fault)
    request_code = RequestCode.DELETE_TOPIC_IN_NAMESRV
    deletion_event = ExpectedEvent(
        ("TopicDeleted",),
        tuple(member_names(name_servers)),
        AT_ONCE_SECONDS,
        {"topic": fault.topic},
        (request_code.name,),
    )
    fault_context.record_deed(
        fault.kind,
        "begin",
        member_names(name_servers),
        [deletion_event, *_expect_topic_return(fault_context, fault)],
        topic=fault.topic,
    )
    for name_server in name_servers:
        await lab_cluster.send_request(name_server.name, request_code, {"topic": fault.topic})


def _expect_topic_return(fault_context: FaultContext, fault: Fault) -> list[ExpectedEvent]:
    lab_cluster, expected_events = fault_context.lab_cluster, []
    for broker in lab_cluster.lab_brokers.values():
        if (
            broker.run_state == "up"
            and broker.broker_spec.is_master
            and fault.topic in broker.simulated_broker.model.topic_table.configs
        ):
            listener_names = tuple(
                s.name for s in fault_context.matching_servers(fault) if lab_cluster.can_hear(s.name, broker)
            )
            change_fields = {
                "brokerName": broker.broker_spec.broker_name,
                "reason": "registration",
                "changes.topics": fault.topic,
            }
            expected_events.append(
                ExpectedEvent(
                    ("TopicsChanged",),
                    listener_names,
                    NEXT_HEARTBEAT_SECONDS,
                    change_fields,
                    REGISTRATION_CAUSES,
                )
            )
    return expected_events
