"""Owns `transfer verify`, which compares the messages of topics with their copies."""

from namesrv_core.errors import RocketMQError
from nsadmin.client.results import NotApplied
from nsadmin.command_line.declarations import command
from nsadmin.commands.transfer.cluster_ends import SourceOption, TargetOption, open_clusters
from nsadmin.commands.transfer.transfer_messages import (
    MapTopicOption,
    TopicsArgument,
    parse_pairs_of_topics,
)
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session
from nsadmin.operations.transfer.verification import VerifiedQueue, load_transfer, verify_topic

VERIFY_COLUMNS = (
    "topic", "brokerName", "queueId", "targetTopic", "targetBroker", "targetQueue", "compared", "copies",
    "missing", "duplicates", "changed", "misplaced", "expired", "remaining", "missingOffsets", "sourceHash",
    "targetHash", "result",
)  # fmt: skip
_TABLE_COLUMNS = (
    "topic", "brokerName", "queueId", "targetBroker", "targetQueue", "compared", "copies", "missing",
    "duplicates", "changed", "misplaced", "remaining", "result",
)  # fmt: skip
_MAX_RANGES = 10


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
        # After a transfer
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
            verified_queues = [
                verified_queue
                for plan in plans
                for verified_queue in verify_topic(clusters, plan, advance_progress)
            ]
    rows: list[ResultRow] = [_make_row(verified_queue) for verified_queue in verified_queues]
    results = {str(row["result"]) for row in rows}
    errors: list[RocketMQError | None] = []
    if "different" in results:
        errors = [NotApplied("the target lacks messages, or has other ones")]
    elif "unfinished" in results:
        errors = [None, NotApplied("later messages are not copied yet")]
    return ResultRows(VERIFY_COLUMNS, rows, errors, [], _TABLE_COLUMNS)


def _make_row(verified_queue: VerifiedQueue) -> ResultRow:
    planned_queue, compared_queue = verified_queue.planned_queue, verified_queue.compared_queue
    return {
        "topic": planned_queue.source.topic,
        "brokerName": planned_queue.source.broker_name,
        "queueId": planned_queue.source.queue_id,
        "targetTopic": planned_queue.send_queue.topic,
        "targetBroker": planned_queue.send_queue.broker_name,
        "targetQueue": planned_queue.send_queue.queue_id,
        "compared": compared_queue.source_count,
        "copies": compared_queue.copy_count,
        "missing": len(compared_queue.missing),
        "duplicates": compared_queue.duplicate_count,
        "changed": compared_queue.changed_count,
        "misplaced": compared_queue.misplaced_count,
        "expired": verified_queue.expired_count,
        "remaining": planned_queue.remaining_count,
        "missingOffsets": [
            f"{begin}-{end - 1}" if end - begin > 1 else str(begin)
            for begin, end in compared_queue.missing.ranges[:_MAX_RANGES]
        ],
        "sourceHash": compared_queue.source_hash,
        "targetHash": compared_queue.target_hash,
        "result": _judge_queue(verified_queue),
    }


def _judge_queue(verified_queue: VerifiedQueue) -> str:
    compared_queue = verified_queue.compared_queue
    if not compared_queue.is_equal or compared_queue.changed_count:
        return "different"
    if verified_queue.planned_queue.remaining_count:
        return "unfinished"
    return "duplicates" if compared_queue.duplicate_count else "equal"
