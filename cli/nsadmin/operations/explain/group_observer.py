"""Reads what is known about consumer groups: from brokers, then from their clients."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client import AdminClient
from nsadmin.client.brokers.targets import target_at_addr
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.queue_reader import QueueSpan
from nsadmin.client.results import ServerResult, is_unreachable
from nsadmin.client.topics.topic_stats import QueueStats
from nsadmin.operations.broker_disks import observe_disks
from nsadmin.operations.dead_letters.replay_store import count_replayed
from nsadmin.operations.explain.findings import CauseExplanation, Verdict, reach_verdict
from nsadmin.operations.explain.group_causes import explain_group, is_quiet
from nsadmin.operations.explain.group_facts import ClusterFacts, GroupFacts
from nsadmin.operations.inventory.keeper import InventoryKeeper
from nsadmin.operations.side_by_side import run_side_by_side

_SAMPLE_SIZE, _MAX_SAMPLED_QUEUES = 32, 64
_MAX_HEADS, _MAX_STACKS = 64, 3
_MAX_THREADS = 8


class GroupExplanation(NamedTuple):
    """Why a group does not consume.

    Attributes:
        group: The consumer group.
        explanations: What was found and examined: causes first, the most likely one before others.
        verdict: "fine", "cause found" or "unknown".
    """

    group: str
    explanations: tuple[CauseExplanation, ...]
    verdict: Verdict


def explain_groups(
    admin: AdminClient,
    inventory: InventoryKeeper,
    groups: Sequence[str],
    topic: str | None = None,
    cluster_name: str | None = None,
) -> list[GroupExplanation]:
    """Explain groups, as far as they consume a topic if there is one.

    Raises:
        NotFound: The name servers do not know the cluster.
        RocketMQError: No name server answered.
    """
    cluster = observe_cluster(admin, inventory, cluster_name)
    observed = run_side_by_side(
        [partial(observe_group, admin, cluster, name, topic) for name in groups], _MAX_THREADS
    )
    explained = [(facts.group, explain_group(facts)) for facts in observed]
    return [GroupExplanation(name, tuple(steps), reach_verdict(steps)) for name, steps in explained]


def observe_cluster(
    admin: AdminClient, inventory: InventoryKeeper, cluster_name: str | None = None
) -> ClusterFacts:
    """Read the brokers and proxies that the groups of a cluster depend on.

    Raises:
        NotFound: The name servers do not know the cluster.
        RocketMQError: No name server answered.
    """
    broker_groups = tuple(admin.clusters.get_info().processes_in_cluster(cluster_name))
    lost_topics = inventory.observe_topics(admin.clusters.list_latest_groups(), {})
    addrs = list(dict.fromkeys(addr for g in broker_groups for addr in g.broker_addrs.values()))
    configs = {result.addr: result for result in admin.broker_configs.get_each(addrs)}
    reader_addrs = {
        g.broker_name: next(
            (addr for addr in g.broker_addrs.values() if not is_unreachable(configs[addr].error)),
            next(iter(g.broker_addrs.values())),
        )
        for g in broker_groups
        if g.broker_addrs
    }
    readers = list(reader_addrs.values())
    facts = ClusterFacts(
        admin.clock_ms,
        broker_groups,
        configs,
        reader_addrs,
        {r.addr: r for r in admin.groups.get_tables(map(target_at_addr, readers))},
        {r.addr: r for r in admin.consume_modes.list_modes(readers)},
        {r.addr: r for r in admin.groups.list_forbidden_topics(readers)},
        observe_disks(admin, admin.brokers.get_runtime_info(readers)),
        lost_topics=lost_topics.limit_to(cluster_name),
    )
    try:
        return facts._replace(proxies=admin.proxies.list_proxies(cluster_name))
    except RocketMQError as error:
        return facts._replace(proxies_error=error)


def observe_group(
    admin: AdminClient, cluster: ClusterFacts, group: str, topic: str | None = None
) -> GroupFacts:
    """Read one group. What cannot be read is missing in the facts, or an error there."""
    readers = list(cluster.reader_addrs.values())
    connections = admin.consumers.get_group_connections([group], cluster.configs)
    if cluster.proxies is not None:
        connections = admin.proxies.add_clients(connections, heartbeats=cluster.proxies.heartbeats)
    facts = GroupFacts(
        group,
        cluster,
        connections[group],
        tuple(admin.client_runtime.get_clients(group, connections[group].clients)),
        tuple(admin.consumers.get_progress_at(group, readers)),
        topic=topic,
    )
    [dead_letters] = admin.dead_letters.count_letters([group], cluster.now_ms)
    facts = facts._replace(
        routes=admin.topics.get_routes(facts.topics),
        dead_letters=dead_letters,
        replayed_count=count_replayed(admin, dead_letters),
    )
    bounds, put_tps = _read_bounds(admin, facts)
    facts = facts._replace(
        put_tps=put_tps,
        min_offsets={q: s.min_offset for q, s in bounds.items() if s.min_offset is not None},
        samples=_read_samples(admin, facts, bounds),
        heads=_read_heads(admin, facts),
    )
    return facts._replace(stacks=_read_stacks(admin, facts))


def _read_bounds(
    admin: AdminClient, facts: GroupFacts
) -> tuple[dict[MessageQueue, QueueStats], float | None]:
    """The first and last offset of each queue, and the arriving messages per second.

    Static topics, which have logical ids, are left out. The rate is None if a broker does not tell it.
    """
    reader_addrs = facts.cluster.reader_addrs
    places = [
        (queue.broker_name, reader_addrs[queue.broker_name], topic)
        for topic, route in facts.routes.items()
        if route.result is not None and not route.result.logical_queues_by_scope
        for queue in route.result.queues
        if queue.broker_name in reader_addrs
    ]
    results = admin.topics.get_stats_at([(addr, topic) for _, addr, topic in places])
    bounds = {
        MessageQueue(topic, broker_name, queue.queue_id): queue
        for (broker_name, _, topic), result in zip(places, results, strict=True)
        for queue in (result.result.queues if result.result else ())
    }
    rates = [r.result.put_tps if r.result else None for r in results]
    is_complete = {topic for _, _, topic in places} == set(facts.topics)
    return bounds, sum(r or 0 for r in rates) if is_complete and None not in rates else None


def _read_samples(
    admin: AdminClient, facts: GroupFacts, bounds: dict[MessageQueue, QueueStats]
) -> dict[str, tuple[StoredMessage, ...]]:
    """The newest messages of topics of which not all clients want all messages."""
    samples = {}
    for topic in facts.topics:
        filters = {str(by_topic.get(topic)) for by_topic in facts.subscriptions.values()}
        if filters <= {"*"}:
            continue
        spans = []
        for (queue_topic, name, queue_id), stats in sorted(bounds.items()):
            if queue_topic == topic and (end := stats.max_offset):
                begin = max(stats.min_offset or 0, end - _SAMPLE_SIZE)
                spans.append(QueueSpan(name, facts.cluster.reader_addrs[name], queue_id, begin, end))
        pages = admin.queue_reader.read_pages(topic, spans[:_MAX_SAMPLED_QUEUES])
        samples[topic] = tuple(message for page in pages for message in page.messages)
    return samples


def _read_heads(
    admin: AdminClient, facts: GroupFacts
) -> dict[MessageQueue, StoredMessage | RocketMQError | None]:
    """The first messages of the queues that may stand still: the client finished none for a while."""
    suspects = [held for held in facts.held_queues() if is_quiet(facts, held)][:_MAX_HEADS]
    spans: dict[str, list[QueueSpan]] = {}
    for held in suspects:
        topic, name, queue_id = held.running.queue
        span = QueueSpan(name, facts.cluster.reader_addrs[name], queue_id, held.offset, held.offset + 1)
        spans.setdefault(topic, []).append(span)
    return {
        MessageQueue(topic, page.broker_name, page.queue_id): page.error or next(iter(page.messages), None)
        for topic, topic_spans in spans.items()
        for page in admin.queue_reader.read_pages(topic, topic_spans)
    }


def _read_stacks(admin: AdminClient, facts: GroupFacts) -> dict[str, ServerResult[str]]:
    """Thread dumps of the first clients with a queue that stands still. A dump has 200 KB."""
    ids = dict.fromkeys(h.client_id for h in facts.held_queues() if h.unfinished_count and is_quiet(facts, h))
    suspects = [c.client for c in facts.clients if c.client.client_id in list(ids)[:_MAX_STACKS]]
    return {
        c.client.client_id: ServerResult(c.client.client_id, c.info.jstack if c.info else None, c.error)
        for c in admin.client_runtime.get_clients(facts.group, suspects, with_jstack=True)
    }
