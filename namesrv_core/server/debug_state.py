"""The content of /debug/state: a name server's complete state, for administrators who diagnose a problem."""

import asyncio
import gc
import os
import threading
from collections.abc import Mapping
from typing import Any

from namesrv_core import __version__
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.server.inspected_server import InspectedServer

_MAX_ITEMS = 1000


def describe_server(name_server: InspectedServer) -> Mapping[str, Any]:
    """As JSON: settings, tables, first `_MAX_ITEMS` brokers and connections, requests, journal, process."""
    server_state, journal_figures = name_server.state, name_server.read_journal_figures()
    return {
        "version": __version__,
        "pid": os.getpid(),
        "address": name_server.namesrv_addr,
        "now": name_server.now_ms(),
        "startedAt": server_state.started_at_ms,
        "unready": name_server.unready_reason(),
        "settings": {**server_state.settings.shown_items(), **server_state.actual_settings},
        "tables": _describe_tables(name_server),
        "brokers": _describe_brokers(name_server)[:_MAX_ITEMS],
        "connections": _describe_connections(name_server)[:_MAX_ITEMS],
        "requests": {
            RequestCode(request_code).name: request_tally.counts_by_code
            for request_code, request_tally in sorted(name_server.counters.tallies_by_code.items())
        },
        "journal": None if journal_figures is None else journal_figures._asdict(),
        "process": {
            "threads": [thread.name for thread in threading.enumerate()],
            "tasks": len(asyncio.all_tasks()),
            "garbage": gc.get_stats(),
        },
    }


def _describe_tables(name_server: InspectedServer) -> dict[str, int]:
    route_tables = name_server.state.tables
    return {
        "clusters": len(route_tables.broker_names_by_cluster),
        "brokerGroups": len(route_tables.broker_groups),
        "brokers": len(route_tables.live_brokers),
        "topics": len(route_tables.placements_by_topic),
        "staticTopics": len(route_tables.queue_mappings),
        "kvNamespaces": len(name_server.state.kv_config.tables_by_namespace),
        "generation": route_tables.generation,
    }


def _describe_brokers(name_server: InspectedServer) -> list[dict[str, Any]]:
    now_ms, latest_registrations = name_server.now_ms(), name_server.counters.latest_registrations
    return [
        {
            "clusterName": live_key[0],
            "brokerAddr": live_key[1],
            "silentMillis": now_ms - live_broker.heard_at_ms,
            "timeoutMillis": live_broker.timeout_ms,
            "connection": live_broker.channel_id,
            "registrationBytes": latest_registrations[live_key].body_bytes
            if live_key in latest_registrations
            else None,
        }
        for live_key, live_broker in sorted(name_server.state.tables.live_brokers.items())
    ]


def _describe_connections(name_server: InspectedServer) -> list[dict[str, Any]]:
    loop_time = asyncio.get_running_loop().time()
    return [
        {
            "number": stream.channel_id,
            "peer": stream.peer_addr,
            "idleSeconds": round(loop_time - stream.active_at, 3),
        }
        for stream in sorted(name_server.open_streams, key=lambda stream: stream.channel_id)
    ]
