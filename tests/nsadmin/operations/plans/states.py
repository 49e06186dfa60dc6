"""Clusters as they are, made of little: for tests of what is pure."""

from collections.abc import Mapping
from typing import Any

from namesrv_core.errors import RocketMQError
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.operations.plans.records import ClusterState, LiveBrokerState, LiveNameServerState
from nsadmin.operations.plans.settings import ItemSettings, complete_settings

Items = Mapping[str, ItemSettings]


def topic(**settings: Any) -> dict[str, Any]:
    """All settings of a topic."""
    return complete_settings("topic", settings)


def group(**settings: Any) -> dict[str, Any]:
    """All settings of a group."""
    return complete_settings("group", settings)


def broker(
    name: str, topics: Items | None = None, groups: Items | None = None, **more: Any
) -> LiveBrokerState:
    """A broker with these, besides what it has for itself."""
    own = {"TBW102": topic(perm=7), "%RETRY%g": topic()}
    tables = {name: complete_settings("topic", item) for name, item in (topics or {}).items()}
    of_groups = {name: complete_settings("group", item) for name, item in (groups or {}).items()}
    return LiveBrokerState(
        name, f"{name}:10911", own | tables, {"TOOLS_CONSUMER": group()} | of_groups, frozenset(own), **more
    )


def silent(name: str) -> LiveBrokerState:
    """A broker that does not answer."""
    return LiveBrokerState(name, f"{name}:10911", error=RocketMQError("no answer"))


def server(
    addr: str = "ns:1",
    orders: Mapping[str, str] | None = None,
    kv: Mapping[str, Mapping[str, str]] | None = None,
    routed: tuple[str, ...] = (),
    perms: Mapping[str, Mapping[str, int]] | None = None,
) -> LiveNameServerState:
    """A name server with these order configurations and values."""
    return LiveNameServerState(
        addr, {ORDER_CONF_NAMESPACE: orders or {}, **(kv or {})}, frozenset(routed), perms or {}
    )


def live(*parts: LiveBrokerState | LiveNameServerState) -> ClusterState:
    """The cluster of these."""
    brokers = tuple(part for part in parts if isinstance(part, LiveBrokerState))
    servers = tuple(part for part in parts if isinstance(part, LiveNameServerState))
    return ClusterState("c", brokers, servers or (server(),))
