"""A cluster as it is: every master's tables of topics and groups, every name server's KV config."""

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
    """Ask every server once; one that does not answer has an error in its place.

    NotFound for a cluster that is not there. Of the KV config the order configurations are looked at, and
    `namespaces`; of routes those of the topics `partly`.
    """
    masters = targets.masters(admin.clusters.info(), cluster)
    # Routes first: a topic that is created meanwhile is one that a broker has, not one that none has.
    servers = observe_name_servers(admin, cluster, namespaces, partly)
    addrs = {str(item.broker_name): item.broker_addr for item in masters}
    return Live(cluster, observe_brokers(admin, addrs, cluster), servers)


def observe_name_servers(
    admin: AdminClient, cluster: str, namespaces: Iterable[str], partly: Sequence[str] = ()
) -> tuple[NameServerState, ...]:
    """What each name server has of the KV config, and which topics of the cluster it routes."""
    names = tuple(dict.fromkeys((NAMESPACE, *namespaces)))
    found = zip(admin.bulk.values(names), admin.bulk.routed(cluster), admin.bulk.perms(partly), strict=True)
    return tuple(_name_server(*results) for results in found)


def observe_brokers(
    admin: AdminClient, addrs: Mapping[str, str | None], cluster: str
) -> tuple[BrokerState, ...]:
    """What the masters at these addresses have, by broker name; one without an address has an error."""
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
    """Whether a broker has made it for itself or a group."""
    return topic.startswith(_OF_GROUPS) or topic.lower().startswith(SYSTEM_PREFIX)


def _name_server(
    tables: ServerResult[Values], routed: ServerResult[frozenset[str]], perms: ServerResult[Perms]
) -> NameServerState:
    error = tables.error or routed.error or perms.error
    if error is not None:
        return NameServerState(tables.addr, error=error)
    found = tables.result or {}, routed.result or frozenset(), perms.result or {}
    return NameServerState(tables.addr, *found)
