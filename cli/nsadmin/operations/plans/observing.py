"""Reads the state of a cluster: topics and groups of every master, KV config of every name server."""

from collections.abc import Iterable, Mapping, Sequence

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient, targets
from nsadmin.client.bulk import Perms, TopicTable, Values
from nsadmin.client.order_conf import NAMESPACE
from nsadmin.client.results import NotApplied, ServerResult
from nsadmin.client.topics import SYSTEM_PREFIX, SYSTEM_TOPICS
from nsadmin.operations.plans.records import BrokerState, Live, NameServerState
from nsadmin.operations.plans.settings import Settings, complete

_OF_GROUPS = ("%RETRY%", "%DLQ%")


def observe(
    admin: AdminClient, cluster: str, namespaces: Iterable[str] = (), partly: Sequence[str] = ()
) -> Live:
    """Read every server once; servers that do not answer have an error in their state.

    The KV config is read for order configurations and `namespaces`, the route permissions for
    `partial_topics`.

    Raises:
        NotFound: the cluster does not exist.
    """
    masters = targets.masters(admin.clusters.info(), cluster)
    # Read routes first. A topic that is created meanwhile then has a broker, and its route is not deleted.
    servers = observe_name_servers(admin, cluster, namespaces, partly)
    addrs = {str(item.broker_name): item.broker_addr for item in masters}
    return Live(cluster, observe_brokers(admin, addrs, cluster), servers)


def observe_name_servers(
    admin: AdminClient, cluster: str, namespaces: Iterable[str], partly: Sequence[str] = ()
) -> tuple[NameServerState, ...]:
    """The KV config of each name server, and the topics of the cluster that it routes."""
    names = tuple(dict.fromkeys((NAMESPACE, *namespaces)))
    found = zip(admin.bulk.values(names), admin.bulk.routed(cluster), admin.bulk.perms(partly), strict=True)
    return tuple(_name_server(*results) for results in found)


def observe_brokers(
    admin: AdminClient, addrs: Mapping[str, str | None], cluster: str
) -> tuple[BrokerState, ...]:
    """The state of each broker, read from its master; a broker without an address has an error."""
    asked = [addr for addr in addrs.values() if addr]
    topics = {result.addr: result for result in admin.bulk.topics(asked)}
    groups = {result.addr: result for result in admin.bulk.groups(asked)}
    system = {result.addr: result for result in admin.bulk.system_topics(asked)}
    told = (result.result or frozenset() for result in system.values())
    own = SYSTEM_TOPICS.union({cluster, *addrs}, *told)
    return tuple(
        _broker(name, addr, topics[addr], groups[addr], system[addr].error, own)
        if addr
        else BrokerState(name, None, error=NotApplied(targets.NO_MASTER))
        for name, addr in sorted(addrs.items())
    )


def _broker(
    name: str,
    addr: str,
    topics: ServerResult[TopicTable],
    groups: ServerResult[dict[str, Settings]],
    error: RocketMQError | None,
    system: frozenset[str],
) -> BrokerState:
    error = topics.error or groups.error or error
    if error is not None or topics.result is None or groups.result is None:
        return BrokerState(name, addr, error=error)
    configs, static = topics.result
    own = (topic for topic in configs if topic in system or _is_made(topic))
    return BrokerState(
        name,
        addr,
        {topic: complete("topic", config) for topic, config in configs.items()},
        {group: complete("group", config) for group, config in groups.result.items()},
        frozenset(own),
        static,
    )


def _is_made(topic: str) -> bool:
    """Whether a broker created the topic for itself or for a group."""
    return topic.startswith(_OF_GROUPS) or topic.lower().startswith(SYSTEM_PREFIX)


def _name_server(
    tables: ServerResult[Values], routed: ServerResult[frozenset[str]], perms: ServerResult[Perms]
) -> NameServerState:
    error = tables.error or routed.error or perms.error
    if error is not None:
        return NameServerState(tables.addr, error=error)
    found = tables.result or {}, routed.result or frozenset(), perms.result or {}
    return NameServerState(tables.addr, *found)
