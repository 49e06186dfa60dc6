"""Owns `transfer offsets`, which moves a consumer group to the copies of its messages."""

from collections.abc import Sequence
from typing import Annotated

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client.results import NotApplied, error_text
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.transfer.cluster_ends import SourceOption, TargetOption, open_clusters
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.quantities import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.transfer.group_transfer import (
    GroupTransfer,
    MovedQueue,
    UncarriedTopic,
    is_retry_topic,
)

OFFSET_COLUMNS = (
    "topic", "sourceOffsets", "targetTopic", "targetBroker", "targetQueue", "from", "to", "repeated",
    "missed", "result", "error",
)  # fmt: skip


@command(
    columns=OFFSET_COLUMNS,
    agent_refusal="it changes another cluster",
    examples=("elsewhere", "simulated brokers take no messages"),
)
def transfer_offsets(
    session: Session,
    group: Annotated[
        str, Argument(metavar="GROUP", help="A consumer group."), Flags("-g", "--groupName"), Values("groups")
    ],
    source_text: SourceOption,
    target_text: TargetOption,
    overwrites_offsets: Annotated[
        bool, Option("--overwrite-offsets", help="Move queues that have another offset, also backward.")
    ] = False,
) -> ResultRows:
    """Move a consumer group to the copies of its messages, so that it continues in the target.

    nsadmin looks for the first copy that the group did not consume in the source, in each target queue. If
    another producer wrote to the target queue before it, the group begins at that message. So the group
    misses no message. `repeated` counts the messages that it gets although it consumed them before, or gets
    twice. nsadmin reads every offset back.

    Stop the consumers in the source first, then let `nsadmin transfer messages` copy the rest. Start the
    consumers in the target afterwards. An offset that the group has in the target already stays, unless you
    pass --overwrite-offsets.

    Messages in the retry topic of the group are not carried: let the group consume them in the source before
    you stop it. `missed` counts unconsumed messages without a copy. The exit code is 3 if there are any.

    Examples:
        # Preview
        nsadmin transfer offsets payments-consumer --from prod --to dr --dry-run
        # Move the group
        nsadmin transfer offsets payments-consumer --from prod --to dr --yes
    """
    command_name = "transfer offsets"
    with open_clusters(session, command_name, source_text, target_text) as clusters:
        group_transfer = GroupTransfer(clusters, group, overwrites=overwrites_offsets)
        moves, uncarried_topics = group_transfer.plan_moves()
        if not moves:
            raise NotApplied(
                f'no topic of the group "{group}" was transferred there: run `nsadmin transfer messages`'
            )
        if group_transfer.has_source_clients():
            session.write_remark(
                f"consumers of {group} are connected in the source: stop them, then run this command again"
            )
        if not session.is_dry_run:
            repeated_count = sum(move.translated_queue.repeated_count for move in moves)
            session.confirm_change(
                f"Move {group} on {count_noun(len(moves), 'queue')} of {target_text}? It gets "
                f"{count_noun(repeated_count, 'message')} again."
            )
            moves = group_transfer.apply_moves(moves)
    return _make_rows(moves, uncarried_topics, is_dry_run=session.is_dry_run)


def _make_rows(
    moves: Sequence[MovedQueue], uncarried_topics: Sequence[UncarriedTopic], *, is_dry_run: bool
) -> ResultRows:
    rows = [_move_row(move, is_dry_run=is_dry_run) for move in moves]
    rows += [
        {
            **dict.fromkeys(OFFSET_COLUMNS),
            "topic": uncarried_topic.topic,
            "missed": uncarried_topic.pending_count,
            "result": "not carried",
        }
        for uncarried_topic in uncarried_topics
    ]
    errors: list[RocketMQError | None] = [move.error for move in moves]
    missed_count = sum(move.translated_queue.missed_count for move in moves) + sum(
        uncarried_topic.pending_count or 0 for uncarried_topic in uncarried_topics
    )
    errors += [
        NotApplied(f"unknown whether messages of {uncarried_topic.topic} were not consumed")
        for uncarried_topic in uncarried_topics
        if uncarried_topic.pending_count is None
    ]
    if missed_count:
        errors += [None, NotApplied(f"{count_noun(missed_count, 'unconsumed message')} without a copy")]
    return ResultRows(OFFSET_COLUMNS, rows, errors, _list_notes(moves, uncarried_topics))


def _list_notes(moves: Sequence[MovedQueue], uncarried_topics: Sequence[UncarriedTopic]) -> list[str]:
    notes = []
    for uncarried_topic in uncarried_topics:
        if uncarried_topic.pending_count and is_retry_topic(uncarried_topic.topic):
            pending_text = count_noun(uncarried_topic.pending_count, "message")
            notes.append(
                f"not carried: {pending_text} in {uncarried_topic.topic}: let the group consume them in the "
                "source"
            )
    kept_count = sum(
        move.result == "kept" and move.old_offset != move.translated_queue.offset for move in moves
    )
    if kept_count:
        notes.append(f"{count_noun(kept_count, 'queue')} kept another offset: --overwrite-offsets moves them")
    return notes


def _move_row(move: MovedQueue, *, is_dry_run: bool) -> ResultRow:
    translated_queue = move.translated_queue
    return {
        "topic": move.topic_pair.topic,
        "sourceOffsets": {
            f"{planned_queue.source.broker_name}/{planned_queue.source.queue_id}": offset
            for planned_queue, offset in translated_queue.sources
        },
        "targetTopic": move.topic_pair.target_topic,
        "targetBroker": translated_queue.span.broker_name,
        "targetQueue": translated_queue.span.queue_id,
        "from": move.old_offset,
        "to": translated_queue.offset,
        "repeated": translated_queue.repeated_count,
        "missed": translated_queue.missed_count,
        "result": "dry-run" if is_dry_run and move.result == "planned" else move.result,
        "error": None if move.error is None else error_text(move.error),
    }
