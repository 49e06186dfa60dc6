"""Owns `transfer verify`, which compares the messages of topics with their copies."""

from namesrv_core.errors import RocketMQError
from nsadmin.client.results import NotApplied
from nsadmin.command_line.declarations import declare_columns
from nsadmin.commands.transfer.cluster_ends import SourceOption, TargetOption, open_clusters
from nsadmin.commands.transfer.transfer_messages import (
    MapTopicOption,
    TopicsArgument,
    parse_pairs_of_topics,
)
from nsadmin.operations.transfer.verification import VerifiedQueue, load_transfer, verify_topic
from nsadmin.output import ResultRow, ResultRows
from nsadmin.session import Session

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


@declare_columns(VERIFY_COLUMNS)
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
    pairs = parse_pairs_of_topics(command_name, topics_text, topic_mappings)
    with open_clusters(session, command_name, source_text, target_text) as clusters:
        plans = [load_transfer(clusters, pair) for pair in pairs]
        records = [queue.record for plan in plans for queue in plan.queues]
        message_count = sum(record.next_offset - record.begin_offset for record in records)
        with session.show_progress("comparing", 2 * message_count) as advance_progress:
            verified_queues = [
                verified for plan in plans for verified in verify_topic(clusters, plan, advance_progress)
            ]
    rows: list[ResultRow] = [_make_row(verified) for verified in verified_queues]
    results = {str(row["result"]) for row in rows}
    errors: list[RocketMQError | None] = []
    if "different" in results:
        errors = [NotApplied("the target lacks messages, or has other ones")]
    elif "unfinished" in results:
        errors = [None, NotApplied("later messages are not copied yet")]
    return ResultRows(VERIFY_COLUMNS, rows, errors, [], _TABLE_COLUMNS)


def _make_row(verified: VerifiedQueue) -> ResultRow:
    planned, compared = verified.planned, verified.compared
    return {
        "topic": planned.source.topic,
        "brokerName": planned.source.broker_name,
        "queueId": planned.source.queue_id,
        "targetTopic": planned.send_queue.topic,
        "targetBroker": planned.send_queue.broker_name,
        "targetQueue": planned.send_queue.queue_id,
        "compared": compared.source_count,
        "copies": compared.copy_count,
        "missing": len(compared.missing),
        "duplicates": compared.duplicate_count,
        "changed": compared.changed_count,
        "misplaced": compared.misplaced_count,
        "expired": verified.expired_count,
        "remaining": planned.remaining_count,
        "missingOffsets": [
            f"{begin}-{end - 1}" if end - begin > 1 else str(begin)
            for begin, end in compared.missing.ranges[:_MAX_RANGES]
        ],
        "sourceHash": compared.source_hash,
        "targetHash": compared.target_hash,
        "result": _judge_queue(verified),
    }


def _judge_queue(verified: VerifiedQueue) -> str:
    compared = verified.compared
    if not compared.is_equal or compared.changed_count:
        return "different"
    if verified.planned.remaining_count:
        return "unfinished"
    return "duplicates" if compared.duplicate_count else "equal"
