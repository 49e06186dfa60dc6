"""Targets for Prometheus: name servers and brokers as file_sd and HTTP SD expect them. Pure."""

import json
from collections.abc import Iterable
from typing import Any

from namesrv_core.transport.address import join_addr, split_server_addr
from nsadmin.operations.exporter.figures import ServerIdentity

_PREFIX = "__meta_rocketmq_"


def build_target_groups(
    context_name: str,
    namesrv_addrs: Iterable[str],
    brokers: Iterable[ServerIdentity],
    port: int | None = None,
) -> list[dict[str, Any]]:
    """Build a target group per server. With `port`, targets have this port instead of the server's own.

    A server whose address is no HOST:PORT has a group without targets.

    Labels that begin with __meta_ are for relabeling: Prometheus drops them afterwards.
    """
    context_labels = {f"{_PREFIX}context": context_name} if context_name else {}
    name_server_groups = [
        {
            "targets": _list_targets(addr, port),
            "labels": {f"{_PREFIX}kind": "namesrv", f"{_PREFIX}address": addr, **context_labels},
        }
        for addr in namesrv_addrs
    ]
    broker_groups = [
        {
            "targets": _list_targets(server.address, port),
            "labels": {
                f"{_PREFIX}kind": "broker",
                f"{_PREFIX}address": server.address,
                f"{_PREFIX}cluster": server.cluster_name,
                f"{_PREFIX}broker": server.broker_name,
                f"{_PREFIX}broker_id": server.broker_id,
                **context_labels,
            },
        }
        for server in brokers
    ]
    return name_server_groups + broker_groups


def _list_targets(server_addr: str, port: int | None) -> list[str]:
    """The target of a server. None for an address such as ":9000": Prometheus would scrape its own host."""
    host_and_port = split_server_addr(server_addr)
    if host_and_port is None:
        return []
    return [server_addr if port is None else join_addr(host_and_port[0], port)]


def format_target_groups(target_groups: Iterable[dict[str, Any]]) -> str:
    """Format target groups as the JSON of a file_sd file."""
    return json.dumps(list(target_groups), indent=2, ensure_ascii=False)
