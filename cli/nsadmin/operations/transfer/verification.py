"""Verifies a transfer: reads source and target, and compares them queue by queue."""

from collections.abc import Callable
from typing import NamedTuple

from nsadmin.client.messages.queue_reader import QueueSpan
from nsadmin.client.results import NotFound
from nsadmin.operations.copy_source import SourceQueue, find_source, hash_content
from nsadmin.operations.transfer.copy_comparison import ComparedQueue, QueueComparison
from nsadmin.operations.transfer.copy_search import read_messages
from nsadmin.operations.transfer.message_rules import load_rules
from nsadmin.operations.transfer.queue_map import QueueId
from nsadmin.operations.transfer.source_reader import TopicQueue, open_reader
from nsadmin.operations.transfer.topic_plan import (
    PlannedQueue,
    TopicPair,
    TopicPlan,
    TopicPlanner,
    TransferClusters,
    open_store,
    require_targets,
)

_WAIT_SECONDS = 0.2


class VerifiedQueue(NamedTuple):
    """A queue and its outcome; `expired_count` source messages are deleted there, and were not compared."""

    planned_queue: PlannedQueue
    compared_queue: ComparedQueue
    expired_count: int


def load_transfer(clusters: TransferClusters, pair: TopicPair) -> TopicPlan:
    """Return a plan of a transfer, with the queues and the rules of its record.

    Raises:
        NotFound: There is no transfer. The advice is to create the topic first if the target lacks it.
        NotApplied: The source does not list a queue of the record now.
    """
    record = open_store(clusters, pair).load()
    if record is None:
        clusters.require_topics([pair])
        is_renamed = pair.topic != pair.target_topic
        mapping = ("--map-topic", "=".join(pair)) if is_renamed else ()
        other_name = f" to {pair.target_topic}" if is_renamed else ""
        raise NotFound(
            f"no messages of {pair.topic} were transferred{other_name}: "
            + clusters.advise_messages([pair.topic], *mapping)
        )
    # The record has a target for each queue, also if source queues share them.
    planner = TopicPlanner(clusters, record.rules, merges_queues=True)
    plan = planner.plan_topic(pair)
    if plan.missing_queues is not None:
        raise plan.missing_queues
    return plan._replace(queues=tuple(queue for queue in plan.queues if queue.has_progress))


def verify_topic(
    clusters: TransferClusters, plan: TopicPlan, count_messages: Callable[[int], None]
) -> list[VerifiedQueue]:
    """Compare the queues of a topic up to the message that was copied last.

    `plan` is the result of `load_transfer`; `count_messages` gets each number of messages that were read.
    """
    compared = {queue.source: QueueComparison() for queue in plan.queues}
    expired = _read_source(clusters, plan, compared, count_messages)
    for _, message in read_messages(
        clusters.target, plan.topic_pair.target_topic, list_copy_spans(clusters, plan)
    ):
        source = find_source(message)
        if source is not None and source.queue in compared:
            compared[source.queue].add_copy(source.offset, hash_content(message))
            count_messages(1)
    return [
        VerifiedQueue(queue, compared[queue.source].compare(), expired[queue.source]) for queue in plan.queues
    ]


def list_copy_spans(clusters: TransferClusters, plan: TopicPlan) -> list[QueueSpan]:
    """Return the parts of the target queues that can have copies: from the start of the transfer on."""
    begins: dict[QueueId, int] = {}
    for planned in plan.queues:
        target = QueueId(planned.send_queue.broker_name, planned.send_queue.queue_id)
        begins[target] = min(planned.record.target_begin, begins.get(target, 1 << 62))
    routes = clusters.target.topics.get_route(plan.topic_pair.target_topic).queues
    results = clusters.target.queue_reader.get_spans(plan.topic_pair.target_topic, routes)
    require_targets(
        plan.topic_pair.target_topic, begins, {QueueId(r.broker_name, r.queue_id) for r in results}
    )
    spans = []
    for result in results:
        begin_offset = begins.get(QueueId(result.broker_name, result.queue_id))
        if begin_offset is None:
            continue
        if result.queue_span is None:
            raise result.error or RuntimeError("no span")
        spans.append(
            result.queue_span._replace(begin_offset=max(begin_offset, result.queue_span.begin_offset))
        )
    return spans


def _read_source(
    clusters: TransferClusters,
    plan: TopicPlan,
    comparisons: dict[SourceQueue, QueueComparison],
    count_messages: Callable[[int], None],
) -> dict[SourceQueue, int]:
    """Read the compared source messages; return how many of each queue expired."""
    reader = open_reader(clusters.source, [plan.topic_pair.topic], load_rules(plan.rules))
    queues = {TopicQueue(plan.topic_pair.topic, queue.queue): queue for queue in plan.queues}
    for topic_queue, planned in queues.items():
        reader.add_queue(topic_queue, planned.record.begin_offset, planned.record.next_offset)
    expired_counts = dict.fromkeys(comparisons, 0)
    reader.start()
    try:
        while waiting_queues := [queue for queue in queues if not reader.is_drained(queue)]:
            error = next(filter(None, map(reader.find_error, waiting_queues)), None)
            if error is not None:
                raise error
            for topic_queue in waiting_queues:
                planned = queues[topic_queue]
                while (page := reader.take_page(topic_queue)) is not None:
                    expired_counts[planned.source] += page.lost_count
                    for message in page.messages:
                        comparisons[planned.source].add_source(message.queue_offset, hash_content(message))
                    count_messages(len(page.messages))
            reader.wait_for_page(waiting_queues, _WAIT_SECONDS)
    finally:
        reader.stop()
    return expired_counts
