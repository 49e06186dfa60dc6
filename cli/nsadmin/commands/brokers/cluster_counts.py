"""Counts the brokers, topics, queues, groups and clients of clusters, for `clusterList --counts`."""

from collections.abc import Iterable
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import AdminClient
from nsadmin.client.results import error_text
from nsadmin.client.wire_configs import WireConfig
from nsadmin.commands.columns.brokers import CLUSTER_NAME
from nsadmin.console.output import Column, Columns, ResultRows


class ClusterCounts(NamedTuple):
    """How many things a cluster has; topics and groups without RocketMQ's own. Failures make it too low."""

    cluster_name: str
    master_count: int
    slave_count: int
    topic_count: int
    read_queue_count: int
    write_queue_count: int
    group_count: int
    client_count: int


COUNT_COLUMNS: Columns[ClusterCounts] = (
    CLUSTER_NAME,
    Column("masterCount", "registered masters", lambda c: c.master_count),
    Column("slaveCount", "registered slaves", lambda c: c.slave_count),
    Column("topicCount", "topics, without those of RocketMQ and of groups", lambda c: c.topic_count),
    Column("readQueueCount", "read queues of these topics, on all masters", lambda c: c.read_queue_count),
    Column("writeQueueCount", "write queues of these topics, on all masters", lambda c: c.write_queue_count),
    Column("groupCount", "consumer groups, without those of RocketMQ", lambda c: c.group_count),
    Column("clientCount", "connected clients", lambda c: c.client_count),
)


def list_counts(admin: AdminClient, cluster_name: str | None) -> ResultRows:
    """Count what each cluster has; a server that does not answer is an error, and a note."""
    # clusterList without --counts need not load these.
    from nsadmin.client.consumers.groups import select_user_groups
    from nsadmin.operations.topic_kinds import is_user_topic

    info = admin.clusters.get_info()
    groups = info.processes_in_cluster(cluster_name)
    own_topics = admin.topics.list_system_names()
    counts: list[ClusterCounts] = []
    errors: dict[str, RocketMQError] = {}
    for name in sorted({group.cluster_name for group in groups}):
        in_cluster = [group.broker_addrs for group in groups if group.cluster_name == name]
        # A slave has the topics and groups of its master.
        addrs = list(dict.fromkeys(addr for by_id in in_cluster for addr in list(by_id.values())[:1]))
        topic_results = admin.bulk.list_topics(addrs)
        group_results = admin.bulk.list_groups(addrs)
        clients = admin.clients.list_clients(name)
        errors |= {r.addr: r.error for r in topic_results if r.error is not None}
        errors |= {r.addr: r.error for r in group_results if r.error is not None}
        errors |= clients.errors
        configs = [
            (topic, config)
            for r in topic_results
            for topic, config in (r.result.configs_by_topic.items() if r.result else ())
            if is_user_topic(topic, own_topics)
        ]
        broker_ids = [broker_id for by_id in in_cluster for broker_id in by_id]
        counts.append(
            ClusterCounts(
                name,
                broker_ids.count(MASTER_BROKER_ID),
                len(broker_ids) - broker_ids.count(MASTER_BROKER_ID),
                len({topic for topic, _ in configs}),
                _sum_member("readQueueNums", (config for _, config in configs)),
                _sum_member("writeQueueNums", (config for _, config in configs)),
                len({group for r in group_results for group in select_user_groups(r.result or {})}),
                len(clients.clients),
            )
        )
    notes = [f"the counts may be too low: {addr}: {error_text(error)}" for addr, error in errors.items()]
    return ResultRows.from_records(COUNT_COLUMNS, counts, [None, *errors.values()], notes)


def _sum_member(key: str, configs: Iterable[WireConfig]) -> int:
    return sum(config.get(key) or 0 for config in configs)
