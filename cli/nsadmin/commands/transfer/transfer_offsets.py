"""Owns `transfer offsets`, which moves a consumer group to the copies of its messages."""

from collections.abc import Collection, Sequence
from typing import Annotated, NamedTuple

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client.results import NotApplied
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.changes import RESULT
from nsadmin.commands.columns.servers import ERROR
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.transfer.cluster_ends import SourceOption, TargetOption, open_clusters
from nsadmin.commands.transfer.transfer_messages import TARGET_BROKER, TARGET_QUEUE, TARGET_TOPIC
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.transfer.group_transfer import (
    GroupTransfer,
    MovedQueue,
    UncarriedTopic,
    is_retry_topic,
)
from nsadmin.operations.transfer.topic_plan import TopicPair, TransferClusters


class OffsetRow(NamedTuple):
    """A target queue of the group, or a topic without copies."""

    topic: str
    move: MovedQueue | None
    missed: int | None
    result: str


OFFSET_COLUMNS: Columns[OffsetRow] = (
    TOPIC.means("name of the topic in the source"),
    *of_part(
        lambda r: r.move,
        (
            Column(
                "sourceOffsets",
                "offset of the group on each source queue, by BROKER/QUEUE",
                lambda m: {
                    f"{queue.source.broker_name}/{queue.source.queue_id}": offset
                    for queue, offset in m.translated_queue.sources
                },
            ),
            TARGET_TOPIC.of(lambda m: m.topic_pair.target_topic),
            TARGET_BROKER.of(lambda m: m.translated_queue.span.broker_name),
            TARGET_QUEUE.of(lambda m: m.translated_queue.span.queue_id),
            Column("from", "offset of the group in the target before; null for none", lambda m: m.old_offset),
            Column(
                "to", "offset in the target where the group continues", lambda m: m.translated_queue.offset
            ),
            Column(
                "repeated",
                "messages that the group gets again, or twice",
                lambda m: m.translated_queue.repeated_count,
            ),
        ),
    ),
    Column(
        "missed",
        "messages that the group did not consume in the source, and that have no copy",
        lambda r: r.missed,
    ),
    RESULT.means("done, dry-run, kept, failed or not carried"),
    *of_part(lambda r: r.move, (ERROR,)),
)


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
        # Preview where the group would continue, before consumers switch to the other cluster
        nsadmin transfer offsets payments-consumer --from prod --to dr --dry-run
        # Move the group
        nsadmin transfer offsets payments-consumer --from prod --to dr --yes
    """
    command_name = "transfer offsets"
    with open_clusters(session, command_name, source_text, target_text) as clusters:
        group_transfer = GroupTransfer(clusters, group, overwrites=overwrites_offsets)
        moves, uncarried_topics = group_transfer.plan_moves()
        if not moves:
            names = {t.topic for t in uncarried_topics if not is_retry_topic(t.topic)}
            raise NotApplied(
                f'no topic of the group "{group}" was transferred to {target_text}: '
                + _advise_transfers(clusters, names)
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


def _advise_transfers(clusters: TransferClusters, names: Collection[str]) -> str:
    """The commands that transfer those of these topics that the source still has."""
    topics = sorted({*names}.intersection(clusters.source.topics.list_names()))
    if not topics:
        return "the source has none of its topics but the retry topic"
    if clusters.source_text == clusters.target_text:
        return f"source and target are both {clusters.source_text}: pass another --to"
    missing = [pair.topic for pair in clusters.find_missing(TopicPair(t, t) for t in topics)]
    commands = [clusters.advise("topics", missing)] if missing else []
    return f"run {' and '.join([*commands, clusters.advise('messages', topics)])} first"


def _make_rows(
    moves: Sequence[MovedQueue], uncarried_topics: Sequence[UncarriedTopic], *, is_dry_run: bool
) -> ResultRows:
    rows = [
        OffsetRow(
            m.topic_pair.topic,
            m,
            m.translated_queue.missed_count,
            "dry-run" if is_dry_run and m.result == "planned" else m.result,
        )
        for m in moves
    ]
    rows += [OffsetRow(t.topic, None, t.pending_count, "not carried") for t in uncarried_topics]
    errors: list[RocketMQError | None] = [m.error for m in moves]
    errors += [
        NotApplied(f"unknown how many messages of {t.topic} the group has not consumed")
        for t in uncarried_topics
        if t.pending_count is None
    ]
    missed_count = sum(row.missed or 0 for row in rows)
    if missed_count:
        errors += [
            None,
            NotApplied(f"the target has no copy of {count_noun(missed_count, 'unconsumed message')}"),
        ]
    return ResultRows.from_records(OFFSET_COLUMNS, rows, errors, _list_notes(moves, uncarried_topics))


def _list_notes(moves: Sequence[MovedQueue], uncarried_topics: Sequence[UncarriedTopic]) -> list[str]:
    notes = [
        f"not carried: {count_noun(t.pending_count, 'message')} in {t.topic}: let the group consume them in "
        "the source"
        for t in uncarried_topics
        if t.pending_count and is_retry_topic(t.topic)
    ]
    kept_count = sum(m.result == "kept" and m.old_offset != m.translated_queue.offset for m in moves)
    if kept_count:
        queues = count_noun(kept_count, "queue")
        notes.append(
            f"the group keeps its own offset on {queues} of the target: --overwrite-offsets moves it"
        )
    return notes
