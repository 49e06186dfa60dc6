"""Faults of the network between brokers and name servers: cuts and delays."""

import asyncio

from namesrv_core.lab.fault_context import FaultContext, member_names
from namesrv_core.lab.observation_rules import NEXT_HEARTBEAT_SECONDS
from namesrv_core.lab.scenario import Fault
from namesrv_core.lab.silence_expectations import expect_silence


async def partition_network(fault_context: FaultContext, fault: Fault) -> None:
    lab_cluster, brokers, name_servers = (
        fault_context.lab_cluster,
        fault_context.matching_brokers(fault),
        fault_context.matching_servers(fault),
    )
    expected_events = expect_silence(
        lab_cluster, brokers, member_names(name_servers), fault.lasts, fault.lasts + NEXT_HEARTBEAT_SECONDS
    )
    fault_context.record_deed(
        fault.kind,
        "begin",
        [*member_names(brokers), *member_names(name_servers)],
        expected_events,
        lasts=fault.lasts,
    )
    cut_links = [broker.links_by_server[server.name] for broker in brokers for server in name_servers]
    for link in cut_links:
        link.is_cut = True
    await asyncio.sleep(fault.lasts)
    fault_context.record_deed(fault.kind, "end", [*member_names(brokers), *member_names(name_servers)])
    for link in cut_links:
        link.is_cut = False
        link.drop_held_streams()


async def slow_network(fault_context: FaultContext, fault: Fault) -> None:
    """Slow the network. No event is expected, unless the delay is so long that heartbeats are missed."""
    lab_cluster, brokers, name_servers = (
        fault_context.lab_cluster,
        fault_context.matching_brokers(fault),
        fault_context.matching_servers(fault),
    )
    expected_events = expect_silence(
        lab_cluster, brokers, member_names(name_servers), 0, NEXT_HEARTBEAT_SECONDS + 2 * fault.delay
    )
    affected_names = [*member_names(brokers), *member_names(name_servers)]
    fault_context.record_deed(
        fault.kind, "begin", affected_names, expected_events, delay=fault.delay, lasts=fault.lasts
    )
    slow_links = [
        broker.links_by_server[name_server.name] for broker in brokers for name_server in name_servers
    ]
    for link in slow_links:
        link.delay_seconds = fault.delay
    await asyncio.sleep(fault.lasts)
    fault_context.record_deed(fault.kind, "end", affected_names)
    for link in slow_links:
        link.delay_seconds = 0
