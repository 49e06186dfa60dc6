"""Owns `transfer verify`, which compares the messages of topics with their copies."""

from namesrv_core.errors import RocketMQError
from nsadmin.client.results import NotApplied
from nsadmin.command_line.declarations import command
from nsadmin.commands.transfer.cluster_ends import SourceOption, TargetOption, open_clusters
from nsadmin.commands.transfer.transfer_messages import (
    QUEUE_COLUMNS,
    MapTopicOption,
    TopicsArgument,
    parse_pairs_of_topics,
)
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.session import Session
from nsadmin.operations.transfer.verification import VerifiedQueue, load_transfer, verify_topic

_MAX_RANGES = 10


def _judge_queue(queue: VerifiedQueue) -> str:
    compared = queue.compared_queue
    if not compared.is_equal or compared.changed_count:
        return "different"
    if queue.planned_queue.remaining_count:
        return "unfinished"
    return "duplicates" if compared.duplicate_count else "equal"


VERIFY_COLUMNS: Columns[VerifiedQueue] = (
    *of_part(
        lambda q: q.planned_queue, (c.in_wide() if c.key == "targetTopic" else c for c in QUEUE_COLUMNS)
    ),
    *of_part(
        lambda q: q.compared_queue,
        (
            Column("compared", "source messages that were compared", lambda c: c.source_count),
            Column("copies", "copies in the target, repeated ones too", lambda c: c.copy_count),
            Column("missing", "source messages without a copy", lambda c: len(c.missing)),
            Column(
                "duplicates", "copies of messages that the target has already", lambda c: c.duplicate_count
            ),
            Column("changed", "copies with another content", lambda c: c.changed_count),
            Column(
                "misplaced", "copies that come after the copy of a later message", lambda c: c.misplaced_count
            ),
        ),
    ),
    Column(
        "expired",
        "messages that the source deleted, so that they were not compared",
        lambda q: q.expired_count,
        wide=True,
    ),
    Column("remaining", "source messages after the last copy", lambda q: q.planned_queue.remaining_count),
    *of_part(
        lambda q: q.compared_queue,
        (
            Column(
                "missingOffsets",
                "source offsets without a copy: the first 10 ranges",
                lambda c: [
                    f"{begin}-{end - 1}" if end - begin > 1 else str(begin)
                    for begin, end in c.missing.ranges[:_MAX_RANGES]
                ],
                wide=True,
            ),
            Column(
                "sourceHash", "hash of the source messages in their order", lambda c: c.source_hash, wide=True
            ),
            Column("targetHash", "the same hash of the first copies", lambda c: c.target_hash, wide=True),
        ),
    ),
    Column("result", "equal, duplicates, different or unfinished", _judge_queue),
)


@command(
    columns=VERIFY_COLUMNS,
    agent_refusal="it connects to an address on the command line",
    examples=("elsewhere", "simulated brokers take no messages"),
)
def transfer_verify(
    session: Session,
    topics_text: TopicsArgument,
    source_text: SourceOption,
    target_text: TargetOption,
    topic_mappings: MapTopicOption = None,
) -> ResultRows:
    """Compare the messages of topics with their copies: number, content and order.

    nsadmin reads both clusters from the start of the transfer to the message that was copied last, with the
    filters of the transfer. The content is body, keys, tag and the properties of the application. Messages of
    other producers in the target do not matter.

    The result of a queue is equal, duplicates (every message is there, some repeatedly), different, or
    unfinished (later messages are not copied yet). The exit code is 1 if a message is missing, changed or
    misplaced, otherwise 3 if a queue is unfinished, otherwise 0.

    Examples:
        # After a transfer: did all messages arrive?
        nsadmin transfer verify orders --from prod --to dr
        # The offsets of missing messages
        nsadmin transfer verify orders --from prod --to dr --filter result=different --output json
    """
    command_name = "transfer verify"
    topic_pairs = parse_pairs_of_topics(command_name, topics_text, topic_mappings)
    with open_clusters(session, command_name, source_text, target_text) as clusters:
        plans = [load_transfer(clusters, topic_pair) for topic_pair in topic_pairs]
        records = [queue.record for plan in plans for queue in plan.queues]
        message_count = sum(record.next_offset - record.begin_offset for record in records)
        with session.show_progress("comparing", 2 * message_count) as advance_progress:
            queues = [q for plan in plans for q in verify_topic(clusters, plan, advance_progress)]
    results = {_judge_queue(q) for q in queues}
    errors: list[RocketMQError | None] = []
    if "different" in results:
        errors = [NotApplied("the target lacks messages, or has other ones")]
    elif "unfinished" in results:
        errors = [None, NotApplied("later messages are not copied yet")]
    return ResultRows.from_records(VERIFY_COLUMNS, queues, errors)
