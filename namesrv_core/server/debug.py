"""What a name server is doing right now, in full, for an administrator who looks for a reason."""

import asyncio
import gc
import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from namesrv_core import __version__
from namesrv_core.protocol.codes import RequestCode

if TYPE_CHECKING:
    from namesrv_core.server.name_server import NameServer

_MOST = 1000


def described(server: "NameServer") -> Mapping[str, Any]:
    """As JSON: settings, tables, the first thousand brokers and connections, requests, journal, process."""
    state, figures = server.state, server.journal_figures()
    return {
        "version": __version__,
        "pid": os.getpid(),
        "address": server.address,
        "now": server.now(),
        "startedAt": state.started_at,
        "unready": server.unready(),
        "settings": {**state.settings.items(), **state.shown},
        "tables": _tables(server),
        "brokers": _brokers(server)[:_MOST],
        "connections": _connections(server)[:_MOST],
        "requests": {
            RequestCode(code).name: tally.codes for code, tally in sorted(server.counters.tallies.items())
        },
        "journal": None if figures is None else figures._asdict(),
        "process": {
            "threads": [thread.name for thread in threading.enumerate()],
            "tasks": len(asyncio.all_tasks()),
            "garbage": gc.get_stats(),
        },
    }


def _tables(server: "NameServer") -> dict[str, int]:
    tables = server.state.tables
    return {
        "clusters": len(tables.clusters),
        "brokerGroups": len(tables.groups),
        "brokers": len(tables.live),
        "topics": len(tables.topics),
        "staticTopics": len(tables.mappings),
        "kvNamespaces": len(server.state.kv.tables),
        "generation": tables.generation,
    }


def _brokers(server: "NameServer") -> list[dict[str, Any]]:
    now, registrations = server.now(), server.counters.registrations
    return [
        {
            "clusterName": key[0],
            "brokerAddr": key[1],
            "silentMillis": now - live.heard_at,
            "timeoutMillis": live.timeout,
            "connection": live.channel,
            "registrationBytes": registrations[key].size if key in registrations else None,
        }
        for key, live in sorted(server.state.tables.live.items())
    ]


def _connections(server: "NameServer") -> list[dict[str, Any]]:
    now = asyncio.get_running_loop().time()
    return [
        {"number": stream.number, "peer": stream.peer, "idleSeconds": round(now - stream.active_at, 3)}
        for stream in sorted(server.streams, key=lambda stream: stream.number)
    ]
