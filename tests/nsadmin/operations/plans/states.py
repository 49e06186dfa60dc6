"""Clusters as they are, made of little: for tests of what is pure."""

from collections.abc import Mapping
from typing import Any

from namesrv_core.errors import RocketMQError
from nsadmin.client.order_conf import NAMESPACE
from nsadmin.operations.plans.records import BrokerState, Live, NameServerState
from nsadmin.operations.plans.settings import Settings, complete

Items = Mapping[str, Settings]


def topic(**settings: Any) -> dict[str, Any]:
    """All settings of a topic."""
    return complete("topic", settings)


def group(**settings: Any) -> dict[str, Any]:
    """All settings of a group."""
    return complete("group", settings)


def broker(name: str, topics: Items | None = None, groups: Items | None = None, **more: Any) -> BrokerState:
    """A broker with these, besides what it has for itself."""
    own = {"TBW102": topic(perm=7), "%RETRY%g": topic()}
    tables = {name: complete("topic", item) for name, item in (topics or {}).items()}
    of_groups = {name: complete("group", item) for name, item in (groups or {}).items()}
    return BrokerState(
        name,
        f"{name}:10911",
        own | tables,
        {"TOOLS_CONSUMER": group()} | of_groups,
        frozenset(own),
        **more,
    )


def silent(name: str) -> BrokerState:
    """A broker that does not answer."""
    return BrokerState(name, f"{name}:10911", error=RocketMQError("no answer"))


def server(
    addr: str = "ns:1",
    orders: Mapping[str, str] | None = None,
    kv: Mapping[str, Mapping[str, str]] | None = None,
    routed: tuple[str, ...] = (),
    perms: Mapping[str, Mapping[str, int]] | None = None,
) -> NameServerState:
    """A name server with these order configurations and values."""
    return NameServerState(addr, {NAMESPACE: orders or {}, **(kv or {})}, frozenset(routed), perms or {})


def live(*parts: BrokerState | NameServerState) -> Live:
    """The cluster of these."""
    brokers = tuple(part for part in parts if isinstance(part, BrokerState))
    servers = tuple(part for part in parts if isinstance(part, NameServerState))
    return Live("c", brokers, servers or (server(),))
