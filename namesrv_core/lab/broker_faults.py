"""Faults of brokers: stops, kills, freezes and clock changes."""

import asyncio
from collections.abc import Sequence

from namesrv_core.fleet.broker import HEARTBEAT_PERIOD_SECONDS
from namesrv_core.lab.broker_listeners import group_by_listeners, list_deaf_servers
from namesrv_core.lab.expectations import expect_departure, expect_return
from namesrv_core.lab.fault_context import FaultContext, broker_addrs, member_names
from namesrv_core.lab.lab_cluster import LabBroker, LabNameServer
from namesrv_core.lab.observation_rules import NEXT_HEARTBEAT_SECONDS
from namesrv_core.lab.scenario import Fault
from namesrv_core.lab.silence_expectations import expect_silence


async def _take_down_brokers(fault_context: FaultContext, fault: Fault, *, is_abrupt: bool) -> None:
    lab_cluster, brokers = fault_context.lab_cluster, fault_context.matching_brokers(fault)
    departure_ways = (
        ("channel closed", "channel closed") if is_abrupt else ("unregistered", "UNREGISTER_BROKER")
    )
    expected_events = expect_departure(lab_cluster, brokers, *departure_ways)
    fault_context.record_deed(
        fault.kind, "begin", member_names(brokers), expected_events, addresses=broker_addrs(brokers)
    )
    await asyncio.gather(*(lab_cluster.take_down_broker(broker, is_abrupt=is_abrupt) for broker in brokers))
    # A returning master registers all its topics with its own permissions.
    master_groups = {broker.broker_spec.broker_name for broker in brokers if broker.broker_spec.is_master}
    lab_cluster.wiped_permissions = {
        (group, server) for group, server in lab_cluster.wiped_permissions if group not in master_groups
    }
    if not fault.lasts:
        return
    await asyncio.sleep(fault.lasts)
    if fault.address == "new":
        for broker in brokers:
            lab_cluster.move_broker(broker)
    for broker in brokers:
        # Mark the broker as up already, because the expectations depend on the brokers that will register.
        broker.run_state = "up"
    fault_context.record_deed(
        fault.kind,
        "end",
        member_names(brokers),
        expect_return(lab_cluster, brokers),
        addresses=broker_addrs(brokers),
    )
    await lab_cluster.start_brokers(brokers)


async def stop_brokers(fault_context: FaultContext, fault: Fault) -> None:
    await _take_down_brokers(fault_context, fault, is_abrupt=False)


async def kill_brokers(fault_context: FaultContext, fault: Fault) -> None:
    await _take_down_brokers(fault_context, fault, is_abrupt=True)


async def freeze_brokers(fault_context: FaultContext, fault: Fault) -> None:
    lab_cluster, brokers = fault_context.lab_cluster, fault_context.matching_brokers(fault)
    expected_events = [
        expected_event
        for listener_names, heard_brokers in group_by_listeners(lab_cluster, brokers).items()
        for server_names, least_seconds in (
            (listener_names, fault.lasts),
            (list_deaf_servers(lab_cluster, listener_names, heard_brokers), 0),
        )
        # It registers as soon as it continues, but possibly with another name server first.
        for expected_event in expect_silence(
            lab_cluster,
            heard_brokers,
            server_names,
            least_seconds,
            fault.lasts + NEXT_HEARTBEAT_SECONDS - HEARTBEAT_PERIOD_SECONDS,
        )
    ]
    fault_context.record_deed(fault.kind, "begin", member_names(brokers), expected_events, lasts=fault.lasts)
    for broker in brokers:
        broker.run_state = "frozen"
        broker.simulated_broker.freeze()
    await asyncio.sleep(fault.lasts)
    fault_context.record_deed(fault.kind, "end", member_names(brokers))
    for broker in brokers:
        broker.run_state = "up"
    await asyncio.gather(*(broker.simulated_broker.thaw() for broker in brokers))


async def skew_clocks(fault_context: FaultContext, fault: Fault) -> None:
    """Change clocks. No broker may expire because of that, and no event is expected."""
    skewed_members: Sequence[LabBroker] | Sequence[LabNameServer]
    skewed_members = (
        fault_context.matching_servers(fault) if fault.namesrvs else fault_context.matching_brokers(fault)
    )
    fault_context.record_deed(fault.kind, "begin", member_names(skewed_members), seconds=fault.seconds)
    for skewed_member in skewed_members:
        skewed_member.clock_skew_seconds += fault.seconds
