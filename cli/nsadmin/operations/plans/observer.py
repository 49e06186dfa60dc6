"""Reads the state of a cluster: topics and groups of every master, KV config of every name server."""

from collections.abc import Iterable, Mapping, Sequence

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.resource_names import GROUP_TOPIC_PREFIXES
from nsadmin.client import AdminClient
from nsadmin.client.brokers import targets
from nsadmin.client.brokers.clusters import find_shared_addrs
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.results import NotApplied, ServerResult
from nsadmin.client.topics.bulk_changes import BrokerTopicTable, KvValuesByNamespace, PermissionsByTopic
from nsadmin.client.topics.topics import SYSTEM_TOPIC_PREFIX, SYSTEM_TOPICS, list_own_names
from nsadmin.operations.plans.records import ClusterState, LiveBrokerState, LiveNameServerState
from nsadmin.operations.plans.settings import ItemSettings, complete_settings


def observe_cluster(
    admin: AdminClient, cluster_name: str, namespaces: Iterable[str] = (), partial_topics: Sequence[str] = ()
) -> ClusterState:
    """Read every server once; servers that do not answer have an error in their state.

    The KV config is read for order configurations and `namespaces`, the route permissions for
    `partial_topics`.

    Raises NotFound if the cluster does not exist.
    """
    cluster_info = admin.clusters.get_info()
    master_targets = targets.list_master_targets(cluster_info, cluster_name)
    # Read routes first. A topic that is created meanwhile then has a broker, and its route is not deleted.
    server_states = observe_name_servers(admin, cluster_name, namespaces, partial_topics)
    master_addrs = {str(target.broker_name): target.broker_addr for target in master_targets}
    return ClusterState(
        cluster_name,
        observe_brokers(admin, master_addrs, cluster_name),
        server_states,
        find_shared_addrs(cluster_info.groups_in_cluster(cluster_name)),
    )


def observe_name_servers(
    admin: AdminClient, cluster_name: str, namespaces: Iterable[str], partial_topics: Sequence[str] = ()
) -> tuple[LiveNameServerState, ...]:
    all_namespaces = tuple(dict.fromkeys((ORDER_CONF_NAMESPACE, *namespaces)))
    server_results = zip(
        admin.bulk.list_kv_values(all_namespaces),
        admin.bulk.list_routed_topics(cluster_name),
        admin.bulk.get_topic_permissions(partial_topics),
        strict=True,
    )
    return tuple(_name_server_state(*server_result) for server_result in server_results)


def observe_brokers(
    admin: AdminClient, addrs_by_name: Mapping[str, str | None], cluster_name: str
) -> tuple[LiveBrokerState, ...]:
    """The state of each broker, read from its master; a broker without an address has an error."""
    asked_addrs = [broker_addr for broker_addr in addrs_by_name.values() if broker_addr]
    topics_by_addr = {result.addr: result for result in admin.bulk.list_topics(asked_addrs)}
    groups_by_addr = {result.addr: result for result in admin.bulk.list_groups(asked_addrs)}
    system_by_addr = {result.addr: result for result in admin.bulk.list_system_topics(asked_addrs)}
    system_topics = (result.result or frozenset() for result in system_by_addr.values())
    own_topics = SYSTEM_TOPICS.union(
        *(list_own_names(broker_name, cluster_name) for broker_name in addrs_by_name), *system_topics
    )
    return tuple(
        _broker_state(
            broker_name,
            broker_addr,
            topics_by_addr[broker_addr],
            groups_by_addr[broker_addr],
            system_by_addr[broker_addr].error,
            own_topics,
        )
        if broker_addr
        else LiveBrokerState(broker_name, None, error=NotApplied(targets.NO_MASTER))
        for broker_name, broker_addr in sorted(addrs_by_name.items())
    )


def _broker_state(
    broker_name: str,
    broker_addr: str,
    topics_result: ServerResult[BrokerTopicTable],
    groups_result: ServerResult[dict[str, ItemSettings]],
    error: RocketMQError | None,
    system_topics: frozenset[str],
) -> LiveBrokerState:
    error = topics_result.error or groups_result.error or error
    if error is not None or topics_result.result is None or groups_result.result is None:
        return LiveBrokerState(broker_name, broker_addr, error=error)
    topic_configs, static_topics, queue_shares = topics_result.result
    own_topics = (topic for topic in topic_configs if topic in system_topics or _is_broker_made(topic))
    return LiveBrokerState(
        broker_name,
        broker_addr,
        {topic: complete_settings("topic", item_config) for topic, item_config in topic_configs.items()},
        {group: complete_settings("group", config) for group, config in groups_result.result.items()},
        frozenset(own_topics),
        static_topics,
        queue_shares,
    )


def _is_broker_made(topic: str) -> bool:
    """Whether a broker created the topic for itself or for a group."""
    return topic.startswith(GROUP_TOPIC_PREFIXES) or topic.lower().startswith(SYSTEM_TOPIC_PREFIX)


def _name_server_state(
    values_result: ServerResult[KvValuesByNamespace],
    routed_result: ServerResult[frozenset[str]],
    perms_result: ServerResult[PermissionsByTopic],
) -> LiveNameServerState:
    error = values_result.error or routed_result.error or perms_result.error
    if error is not None:
        return LiveNameServerState(values_result.addr, error=error)
    state_fields = values_result.result or {}, routed_result.result or frozenset(), perms_result.result or {}
    return LiveNameServerState(values_result.addr, *state_fields)
