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
    state, figures = name_server.state, name_server.read_journal_figures()
    return {
        "version": __version__,
        "pid": os.getpid(),
        "address": name_server.namesrv_addr,
        "now": name_server.now_ms(),
        "startedAt": state.started_at_ms,
        "unready": name_server.unready_reason(),
        "settings": {**state.settings.shown_items(), **state.actual_settings},
        "tables": _describe_tables(name_server),
        "brokers": _describe_brokers(name_server)[:_MAX_ITEMS],
        "connections": _describe_connections(name_server)[:_MAX_ITEMS],
        "requests": {
            RequestCode(code).name: tally.counts_by_code
            for code, tally in sorted(name_server.counters.tallies_by_code.items())
        },
        "journal": None if figures is None else figures._asdict(),
        "process": {
            "threads": [thread.name for thread in threading.enumerate()],
            "tasks": len(asyncio.all_tasks()),
            "garbage": gc.get_stats(),
        },
    }


def _describe_tables(name_server: InspectedServer) -> dict[str, int]:
    tables = name_server.state.tables
    return {
        "clusters": len(tables.broker_names_by_cluster),
        "brokerGroups": len(tables.broker_groups),
        "brokers": len(tables.live_brokers),
        "topics": len(tables.placements_by_topic),
        "staticTopics": len(tables.queue_mappings),
        "kvNamespaces": len(name_server.state.kv_config.tables_by_namespace),
        "generation": tables.generation,
    }


def _describe_brokers(name_server: InspectedServer) -> list[dict[str, Any]]:
    now_ms, latest = name_server.now_ms(), name_server.counters.latest_registrations
    return [
        {
            "clusterName": key[0],
            "brokerAddr": key[1],
            "silentMillis": now_ms - live.heard_at_ms,
            "timeoutMillis": live.timeout_ms,
            "connection": live.channel_id,
            "registrationBytes": latest[key].body_bytes if key in latest else None,
        }
        for key, live in sorted(name_server.state.tables.live_brokers.items())
    ]


def _describe_connections(name_server: InspectedServer) -> list[dict[str, Any]]:
    now = asyncio.get_running_loop().time()
    return [
        {
            "number": stream.channel_id,
            "peer": stream.peer_addr,
            "idleSeconds": round(now - stream.active_at, 3),
        }
        for stream in sorted(name_server.open_streams, key=lambda stream: stream.channel_id)
    ]
