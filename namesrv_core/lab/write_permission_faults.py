"""Faults of write permissions, which are removed and restored on name servers."""

from namesrv_core.lab.broker_listeners import split_by_certainty
from namesrv_core.lab.fault_context import FaultContext, member_names
from namesrv_core.lab.observation_rules import AT_ONCE_SECONDS
from namesrv_core.lab.scenario import Fault
from namesrv_core.lab.truth_log import ExpectedEvent
from namesrv_core.protocol.codes import RequestCode


async def _change_write_permission(
    fault_context: FaultContext, fault: Fault, request_code: RequestCode, event_type: str
) -> None:
    """Change the permission of each group once, even if the fault names several of its brokers."""
    broker_groups = list(
        dict.fromkeys(broker.broker_spec.broker_name for broker in fault_context.matching_brokers(fault))
    )
    server_names = tuple(member_names(fault_context.matching_servers(fault)))
    is_wipe = event_type == "WritePermWiped"
    expected_events = [
        # A request that changes nothing makes no event, and an earlier request may have done the same.
        ExpectedEvent(
            (event_type,),
            affected_servers,
            AT_ONCE_SECONDS,
            {"brokerName": broker_group},
            (request_code.name,),
            is_sure=is_change,
        )
        for broker_group in broker_groups
        for affected_servers, is_change in split_by_certainty(
            server_names,
            [
                server_name
                for server_name in server_names
                if ((broker_group, server_name) in fault_context.lab_cluster.wiped_permissions) != is_wipe
            ],
        )
    ]
    fault_context.record_deed(fault.kind, "begin", [*broker_groups, *server_names], expected_events)
    for server_name in server_names:
        for broker_group in broker_groups:
            await fault_context.lab_cluster.send_request(
                server_name, request_code, {"brokerName": broker_group}
            )
            change_wiped = (
                fault_context.lab_cluster.wiped_permissions.add
                if is_wipe
                else fault_context.lab_cluster.wiped_permissions.discard
            )
            change_wiped((broker_group, server_name))


async def wipe_write_permission(fault_context: FaultContext, fault: Fault) -> None:
    await _change_write_permission(
        fault_context, fault, RequestCode.WIPE_WRITE_PERM_OF_BROKER, "WritePermWiped"
    )


async def restore_write_permission(fault_context: FaultContext, fault: Fault) -> None:
    await _change_write_permission(
        fault_context, fault, RequestCode.ADD_WRITE_PERM_OF_BROKER, "WritePermAdded"
    )
