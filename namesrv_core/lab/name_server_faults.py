"""Faults of name servers: kills, restarts and pauses."""

import asyncio
from collections.abc import Sequence

from namesrv_core.lab.expectations import expect_return
from namesrv_core.lab.fault_context import FaultContext, member_names
from namesrv_core.lab.lab_cluster import LabNameServer
from namesrv_core.lab.observation_rules import AT_ONCE_SECONDS, NEXT_HEARTBEAT_SECONDS
from namesrv_core.lab.scenario import Fault
from namesrv_core.lab.silence_expectations import expect_silence
from namesrv_core.lab.truth_log import ExpectedEvent


async def kill_namesrv(fault_context: FaultContext, fault: Fault) -> None:
    name_servers = fault_context.matching_servers(fault)
    fault_context.record_deed(fault.kind, "begin", member_names(name_servers))
    await asyncio.gather(*(name_server.kill_server() for name_server in name_servers))
    await _restart_name_servers(fault_context, fault, name_servers)


async def restart_namesrv(fault_context: FaultContext, fault: Fault) -> None:
    name_servers = fault_context.matching_servers(fault)
    expected_events = [ExpectedEvent(("ServerStopping",), tuple(member_names(name_servers)), AT_ONCE_SECONDS)]
    fault_context.record_deed(fault.kind, "begin", member_names(name_servers), expected_events)
    await asyncio.gather(*(name_server.stop_server() for name_server in name_servers))
    await _restart_name_servers(fault_context, fault, name_servers)


async def _restart_name_servers(
    fault_context: FaultContext, fault: Fault, name_servers: Sequence[LabNameServer]
) -> None:
    """Restart with empty tables, which the next heartbeats fill."""
    if not fault.lasts:
        return
    await asyncio.sleep(fault.lasts)
    lab_cluster, server_names = fault_context.lab_cluster, tuple(member_names(name_servers))
    for name_server in name_servers:
        name_server.run_state = "up"
    lab_cluster.wiped_permissions = {
        (group, name) for group, name in lab_cluster.wiped_permissions if name not in server_names
    }
    running_brokers = [broker for broker in lab_cluster.lab_brokers.values() if broker.run_state == "up"]
    ready_seconds = fault_context.lab_cluster.scenario.wait_seconds + AT_ONCE_SECONDS
    expected_events = [
        ExpectedEvent(("ServerStarted",), server_names, AT_ONCE_SECONDS),
        ExpectedEvent(("ServerReady",), server_names, ready_seconds),
    ]
    for return_event in expect_return(lab_cluster, running_brokers, NEXT_HEARTBEAT_SECONDS):
        returned_servers = tuple(n for n in return_event.server_names if n in server_names)
        expected_events += [return_event._replace(server_names=returned_servers)] if returned_servers else []
    fault_context.record_deed(fault.kind, "end", server_names, expected_events)
    for name_server in name_servers:
        await name_server.start_server()


async def pause_namesrv(fault_context: FaultContext, fault: Fault) -> None:
    lab_cluster, name_servers = fault_context.lab_cluster, fault_context.matching_servers(fault)
    server_names = tuple(member_names(name_servers))
    running_brokers = [broker for broker in lab_cluster.lab_brokers.values() if broker.run_state == "up"]
    pause_bounds = {"min": (fault.lasts - 1.5) * 1000, "max": (fault.lasts + 0.5) * 1000}
    pause_event = ExpectedEvent(
        ("ServerPaused",),
        server_names,
        fault.lasts + AT_ONCE_SECONDS,
        {"pauseMillis": pause_bounds},
        ("name server",),
    )
    expected_events = [pause_event._replace(is_sure=fault.lasts > 6.5)]
    expected_events += expect_silence(
        lab_cluster, running_brokers, server_names, 0, fault.lasts + NEXT_HEARTBEAT_SECONDS
    )
    fault_context.record_deed(fault.kind, "begin", server_names, expected_events, lasts=fault.lasts)
    for name_server in name_servers:
        name_server.freeze_server()
    await asyncio.sleep(fault.lasts)
    fault_context.record_deed(fault.kind, "end", server_names)
    for name_server in name_servers:
        name_server.thaw_server()
