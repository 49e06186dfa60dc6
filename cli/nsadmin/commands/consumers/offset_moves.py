"""Owns resetOffsetByTime, skipAccumulatedMessage and cloneGroupOffset, which move a group's offsets."""

from collections.abc import Callable, Sequence
from functools import partial
from time import sleep
from typing import Annotated

from typer import Argument, Option

from namesrv_core.errors import RocketMQError, TopicNotExist
from namesrv_core.protocol.resource_names import GROUP_TOPIC_PREFIXES
from nsadmin.client import NotApplied, NotFound
from nsadmin.client.advised_command import quote_command
from nsadmin.client.consumers.offset_moves import (
    COMMIT_INTERVAL_SECONDS,
    END_OF_QUEUE,
    OffsetMove,
    OffsetPlan,
)
from nsadmin.client.message_queues import MessageQueue
from nsadmin.command_line import argument_values, time_arguments
from nsadmin.command_line.broker_targets import find_broker_addr
from nsadmin.command_line.declarations import Flags, RequiredUnless, Values, command
from nsadmin.commands.columns.brokers import BROKER_ADDR, BROKER_NAME
from nsadmin.commands.columns.consumers import GROUP
from nsadmin.commands.columns.servers import ERROR
from nsadmin.commands.columns.topics import QUEUE_ID, TOPIC
from nsadmin.commands.consumers.offset_undo import read_former_offsets
from nsadmin.console.audit import audit_path
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import abbreviate_names, count_noun, failed_on, format_utc_second
from nsadmin.console.session import Session
from nsadmin.operations.name_patterns import expand_patterns

OFFSET_MOVE_COLUMNS: Columns[OffsetMove] = (
    GROUP.in_wide(),
    *of_part(lambda m: m.queue, (TOPIC,)),
    BROKER_NAME.of(lambda m: m.queue.broker_name or None),
    BROKER_ADDR.in_wide().of(lambda m: m.broker_addr or None),
    QUEUE_ID.of(lambda m: m.queue.queue_id if m.broker_addr else None),
    Column("from", "offset of the group; null if it never committed one", lambda m: m.old_offset),
    Column("to", "new offset of the group", lambda m: m.new_offset),
    Column("skipped", "messages that the group will not receive", lambda m: m.skipped_count),
    Column("repeated", "messages that the group receives again", lambda m: m.repeated_count),
    Column(
        "result",
        "done, kept, pending, dry-run, failed or unknown",
        lambda m: "dry-run" if m.result == "planned" else m.result,
    ),
    ERROR,
)

_UNDO = "resetOffsetByTime --undo"
_ROUND_SECONDS = COMMIT_INTERVAL_SECONDS + 1
_MAX_ROUNDS = 3
"""Clients of 4.x execute a reset 10 seconds after they receive it, and commit an old offset before."""

MovedGroupArgument = Annotated[
    str, Argument(metavar="GROUP", help="A consumer group."), Flags("-g", "--group")
]
MovedTopicsArgument = Annotated[
    str | None,
    Argument(metavar="TOPIC", help="A topic, several as a,b or a pattern. Default: all topics of the group."),
    Flags("-t", "--topic"),
]
MovedClusterOption = Annotated[
    str | None, Option("-c", "--cluster", metavar="CLUSTER", help="Only the brokers of this cluster.")
]
NoVerifyOption = Annotated[
    bool, Option("--no-verify", help="Do not wait for the next commits of connected clients.")
]
ForceMoveOption = Annotated[
    str | None,
    Option(
        "-f",
        "--force",
        metavar="true|false",
        help="false: only move backwards, on brokers before 5.2. Otherwise ignored.",
    ),
]


@command(columns=OFFSET_MOVE_COLUMNS)
def reset_offset_by_time(
    session: Session,
    group: MovedGroupArgument,
    topic: MovedTopicsArgument = None,
    time_text: Annotated[
        str | None,
        Option(
            "-s",
            "--timestamp",
            metavar="TIME",
            help=f"The target time: -1 (the end), {time_arguments.TIME_HELP}",
        ),
        RequiredUnless("wanted_offset", "undoes_move"),
    ] = None,
    force_text: ForceMoveOption = None,
    broker_text: Annotated[
        str | None, Option("-b", "--broker", metavar="ADDR", help="With -q: the master with the queue.")
    ] = None,
    queue_id: Annotated[
        int | None, Option("-q", "--queue", metavar="ID", help="With -b: only this queue.")
    ] = None,
    wanted_offset: Annotated[
        int | None,
        Option(
            "-o",
            "--offset",
            metavar="OFFSET",
            help="With -b and -q: the target offset. Takes precedence over -s.",
        ),
    ] = None,
    cluster_name: MovedClusterOption = None,
    skip_verification: NoVerifyOption = False,
    undoes_move: Annotated[
        bool,
        Option("--undo", help="Move the group back to where it was before the last move that the audit has."),
    ] = False,
) -> ResultRows:
    """Move a consumer group to a time on every queue of its topics, or one queue to a time or an offset.

    Without TOPIC, these are the topics that consumerProgress -g GROUP shows, without the retry topic of the
    group: messages that wait for a retry are delivered as before.

    Each row shows a queue, the old and new offset, and how many messages the group skips or receives again.
    Use --dry-run to see this without a change. A queue without a consumer offset has no old offset. nsadmin
    asks each master separately and reads the offsets back. A broker before 5.2 leaves the move to connected
    clients. Then the result is "pending", and the move takes up to half a minute.

    Connected clients commit their own offsets every 5 seconds, and a busy client may overwrite the move. So
    nsadmin reads the offsets again after 6 seconds, and up to two more times if a move was overwritten. Then
    the result is "failed", or "unknown" if the group may have read the messages again already. Without
    connected clients, nsadmin does not wait.

    -b, -q and -o move the group on one queue: the offset after a poison message skips this one message. If it
    is the next message of the queue, its offset is the consumerOffset that `nsadmin consumerProgress GROUP`
    shows. A lower offset moves the group back, and a line on stderr says so.

    With --undo, the group returns to the offsets that it had before the last resetOffsetByTime,
    skipAccumulatedMessage or cloneGroupOffset of this account on the topic. What it has consumed since then,
    it receives again. The audit has these offsets, so the account that moved the group can undo it. A command
    that failed and ran again is one move. If --undo fails, run it again. Moves before the last one are not
    undone: a second --undo undoes the first.

    Examples:
        # Replay messages since a time (timestamp): reset the offset of a group; preview what it gets again
        nsadmin resetOffsetByTime warehouse payments -s 'yesterday 10:00' --dry-run
        # Rewind a group by two hours on all its topics: preview what it would receive again
        nsadmin resetOffsetByTime warehouse -s 2h --dry-run
        # Set a specific offset of one queue, to skip a bad (poison) message; 4711 is too old (exit code 1)
        nsadmin resetOffsetByTime warehouse payments -b broker-a-0 -q 0 -o 4711 --dry-run
        # Rewind a group, reset its offset to one hour ago: it receives the messages since then again
        nsadmin resetOffsetByTime warehouse payments -s 1h --yes
        # Undo the last move: go back to the offsets from before the reset
        nsadmin resetOffsetByTime warehouse payments --undo --yes
    """
    offset_admin = session.admin.offsets
    if undoes_move:
        if any(
            value is not None for value in (time_text, broker_text, queue_id, wanted_offset, cluster_name)
        ):
            raise UsageError("--undo has no target: leave out -s, -b, -q, -o and -c")
        if topic is None:
            raise UsageError("--undo needs TOPIC: `nsadmin audit list` shows the whole command of each move")
        undo_plans = _plan_topics(
            session,
            group,
            topic,
            lambda name: offset_admin.plan_return(
                group, name, read_former_offsets(group, name, session.admin.addresses.addrs)
            ),
        )
        return _apply_offset_plans(session, _UNDO, undo_plans, offset_admin.apply_clone, skip_verification)
    force_flag = argument_values.parse_boolean("-f", force_text)
    if (broker_text is None) != (queue_id is None) or (wanted_offset is not None and queue_id is None):
        raise UsageError("incomplete queue: pass -b ADDR and -q ID, with -s TIME or -o OFFSET")
    target_time_ms = END_OF_QUEUE
    if wanted_offset is None and time_text is not None and time_text.strip() != "-1":
        target_time_ms = time_arguments.parse_past_time(
            "-s", time_text, other_advice="; to skip all messages, use -s -1"
        )
    if broker_text is not None and queue_id is not None:
        if topic is None:
            raise UsageError("incomplete queue: pass TOPIC")
        broker_addr = find_broker_addr(session, broker_text)
        offset_plans = [
            offset_admin.plan_queue_reset(
                group,
                _find_queue_at(session, topic, broker_addr, queue_id),
                broker_addr,
                target_time_ms,
                wanted_offset,
            )
        ]
        for move in offset_plans[0].moves if wanted_offset is not None else ():
            if move.repeated_count and move.old_offset is not None:
                session.write_remark(
                    f"offset {wanted_offset} is before {move.old_offset}, the offset of {group}: it receives "
                    f"{count_noun(move.repeated_count, 'message')} again (-o {move.old_offset + 1} skips one)"
                )
    else:
        offset_plans = _plan_topics(
            session,
            group,
            topic,
            lambda name: offset_admin.plan_reset(
                group, name, target_time_ms, cluster_name=cluster_name, force=force_flag is not False
            ),
            cluster_name=cluster_name,
            with_retries=False,
        )
    if wanted_offset is None and target_time_ms > 0:
        _remark_expired(session, [move for plan in offset_plans for move in plan.moves], target_time_ms)
    return _apply_offset_plans(
        session, "resetOffsetByTime", offset_plans, offset_admin.apply_reset, skip_verification
    )


def _remark_expired(session: Session, moves: Sequence[OffsetMove], target_time_ms: int) -> None:
    """Name the brokers whose oldest message is younger than the target time."""
    names = {move.broker_addr: move.queue.broker_name for move in moves if move.broker_addr}
    oldest_ms = {
        names[r.addr]: r.result.get_integer("earliestMessageTimeStamp") or 0
        for r in session.admin.brokers.get_runtime_info(names)
        if r.result is not None
    }
    if late := [name for name, time_ms in oldest_ms.items() if time_ms > target_time_ms]:
        first = format_utc_second(max(oldest_ms[name] for name in late))
        session.write_remark(
            f"{abbreviate_names(late, 3)}: no messages from before {first}: older ones may have expired"
        )


@command(columns=OFFSET_MOVE_COLUMNS)
def skip_accumulated_message(
    session: Session,
    group: MovedGroupArgument,
    topic: MovedTopicsArgument = None,
    force_text: ForceMoveOption = None,
    cluster_name: MovedClusterOption = None,
    skip_verification: NoVerifyOption = False,
) -> ResultRows:
    """Move a consumer group to the end of every queue of its topics, which skips all unconsumed messages.

    Without TOPIC, these are the topics that consumerProgress -g GROUP shows, with the retry topic of the
    group: the messages that wait for a retry are skipped too. A pattern matches retry topics only with a % at
    its start.

    The rows are like those of resetOffsetByTime. Use --dry-run to see how many messages the group would skip.
    If clients are connected, nsadmin reads the offsets again after they commit.

    Examples:
        # Throw the lag away: preview how many messages the group would skip
        nsadmin skipAccumulatedMessage warehouse payments --dry-run
        # Preview it for all topics of the group and its retries
        nsadmin skipAccumulatedMessage warehouse --dry-run
        # Skip the lag of a group on a topic: it continues with new messages
        nsadmin skipAccumulatedMessage warehouse payments --yes
    """
    force_flag = argument_values.parse_boolean("-f", force_text)
    offset_admin = session.admin.offsets
    offset_plans = _plan_topics(
        session,
        group,
        topic,
        lambda name: offset_admin.plan_reset(
            group, name, END_OF_QUEUE, cluster_name=cluster_name, force=force_flag is not False
        ),
        cluster_name=cluster_name,
    )
    return _apply_offset_plans(
        session, "skipAccumulatedMessage", offset_plans, offset_admin.apply_reset, skip_verification
    )


@command(columns=OFFSET_MOVE_COLUMNS)
def clone_group_offset(
    session: Session,
    source_group: Annotated[
        str,
        Argument(metavar="SOURCE", help="The group whose offsets are copied."),
        Flags("-s", "--srcGroup"),
        Values("groups"),
    ],
    group: Annotated[
        str,
        Argument(metavar="GROUP", help="The group that is moved."),
        Flags("-d", "--destGroup", may_be_new=True),
    ],
    topic: Annotated[
        str | None,
        Argument(
            metavar="TOPIC", help="A topic, several as a,b or a pattern. Default: all topics of SOURCE."
        ),
        Flags("-t", "--topic"),
    ] = None,
    offline_text: Annotated[
        str | None,
        Option(
            "-o", "--offline", metavar="true|false", help="true: refuse if a client of GROUP is connected."
        ),
    ] = None,
    skip_verification: NoVerifyOption = False,
) -> ResultRows:
    """Move a consumer group to the offsets of another group, on every queue of topics.

    Without TOPIC, these are the topics that consumerProgress -g SOURCE shows, without its retry topic. Only
    SOURCE reads that one, so messages that wait for a retry stay with SOURCE.

    The rows are like those of resetOffsetByTime. Use --dry-run to see how many messages the group would skip
    or receive again. A queue where SOURCE has no consumer offset is "kept". Both groups must exist. For a
    broker before 5.2, stop the clients of GROUP first.

    Examples:
        # A group gets a new name: preview how the new one starts where the old one is, on one topic
        nsadmin cloneGroupOffset warehouse ledger payments --dry-run
        # Preview the copy of the offsets of all topics of a group to another group
        nsadmin cloneGroupOffset warehouse ledger --dry-run
        # Copy the offsets of a group to another group, on one topic
        nsadmin cloneGroupOffset warehouse ledger payments --yes
    """
    if source_group == group:
        raise UsageError("-s and -d name the same group: pass two different groups")
    offset_admin = session.admin.offsets
    require_offline = argument_values.parse_boolean("-o", offline_text) is True
    plans = _plan_topics(
        session,
        source_group,
        topic,
        lambda name: offset_admin.plan_clone(source_group, group, name, require_offline=require_offline),
        with_retries=False,
    )
    for plan in plans:
        if kept_count := sum(m.error is None and m.new_offset is None for m in plan.moves):
            session.write_remark(
                f"{group} stays on {count_noun(kept_count, 'queue')} of {plan.topic}: "
                f"{source_group} has no offset there"
            )
    return _apply_offset_plans(
        session, "cloneGroupOffset", plans, offset_admin.apply_clone, skip_verification
    )


def _find_queue_at(session: Session, topic: str, master_addr: str, queue_id: int) -> MessageQueue:
    """Look up the queue in the topic's route; NotFound unless the address is of a master with it."""
    for queue_route in session.admin.topics.get_route(topic).queues:
        if queue_route.master_addr == master_addr:
            queue_count = queue_route.read_queue_nums or 0
            if not 0 <= queue_id < queue_count:
                raise NotFound(f"{topic} has only the queues 0 to {queue_count - 1} on {master_addr}")
            return MessageQueue(topic, queue_route.broker_name, queue_id)
    raise NotFound(f"{master_addr} is not a master of a broker with {topic}")


def _plan_topics(
    session: Session,
    group: str,
    topic_text: str | None,
    make_plan: Callable[[str], OffsetPlan],
    *,
    cluster_name: str | None = None,
    with_retries: bool = True,
) -> list[OffsetPlan]:
    """Plan a move on each topic that the argument means; None means all topics of the group.

    It is refused if a named topic refuses it. A topic that only a pattern found has a failed move then.
    """
    list_names = partial(_list_topics_of_group, session, group, cluster_name)
    if topic_text is None:
        topics = [
            topic for topic in list_names() if with_retries or not topic.startswith(GROUP_TOPIC_PREFIXES)
        ]
        if not topics:
            raise NotFound(f'group "{group}" has no offset on any topic: pass a topic')
        named_topics = topics if len(topics) == 1 else []
    else:
        named_topics = argument_values.parse_name_list("TOPIC", topic_text)
        topics = expand_patterns(f'topic of group "{group}"', named_topics, list_names)
    plans: list[OffsetPlan] = []
    problems: dict[str, RocketMQError] = {}
    for topic in topics:
        try:
            plans.append(make_plan(topic))
        except (NotFound, NotApplied, TopicNotExist) as error:
            if topic in named_topics:
                raise
            problems[topic] = error
    if not plans:
        raise min(problems.values(), key=lambda problem: isinstance(problem, TopicNotExist))
    for topic, problem in problems.items():
        if isinstance(problem, TopicNotExist):
            session.write_remark(f"{topic} is left out: the group has offsets of it, but it does not exist")
            continue
        failed_move = OffsetMove("", MessageQueue(topic, "", 0), None, None, "failed", problem)
        plans.append(OffsetPlan(plans[0].group, topic, END_OF_QUEUE, True, None, (failed_move,)))
    return plans


def _list_topics_of_group(session: Session, group: str, cluster_name: str | None) -> list[str]:
    results = session.admin.consumers.get_progress(group, cluster_name=cluster_name)
    for result in results:
        if result.error is not None:
            session.write_remark(f"topics may be missing: {result.addr}: {result.error}")
    return sorted({lag.queue.topic for r in results if r.result is not None for lag in r.result.queues})


def _apply_offset_plans(
    session: Session,
    command_name: str,
    plans: Sequence[OffsetPlan],
    apply_plan: Callable[[OffsetPlan], Sequence[OffsetMove]],
    skip_verification: bool,
) -> ResultRows:
    group, topics = plans[0].group, [plan.topic for plan in plans]
    moves: Sequence[OffsetMove] = [move for plan in plans for move in plan.moves]
    on_topics = topics[0] if len(topics) == 1 else f"{len(topics)} topics ({abbreviate_names(topics, 10)})"
    skip_count = sum(m.skipped_count or 0 for m in moves)
    repeat_count = sum(m.repeated_count or 0 for m in moves)
    first_count = sum(m.result == "planned" and m.old_offset is None for m in moves)
    effects = [f"skip {count_noun(skip_count, 'message')}"] if skip_count else []
    if repeat_count or not (skip_count or first_count):
        effects.insert(0, f"receive {count_noun(repeat_count, 'message')} again")
    if first_count:
        effects.append(f"get an offset on {count_noun(first_count, 'queue')} where it has none")
    effect = " and ".join(effects)
    queues = f"{count_noun(sum(m.error is None for m in moves), 'queue')} of {on_topics}"
    target_time_ms = plans[0].timestamp_ms
    target_text = {END_OF_QUEUE: "", 0: " to the oldest message"}.get(
        target_time_ms, f" to {format_utc(target_time_ms)}"
    )
    move_text = f"move {group} on {queues}{target_text}, which lets it {effect}"
    if first_count and all(m.old_offset is None for m in moves):
        move_text = f"give {group} an offset on {queues}{target_text}, where it has none"
    if any(m.error is None for m in moves):
        session.require_yes(command_name, f"this would {move_text}")
        if session.is_dry_run:
            session.write_remark(f"this would {move_text}")
        session.confirm_change(f"{move_text[0].upper()}{move_text[1:]}?")
    columns = OFFSET_MOVE_COLUMNS
    if len(plans) == 1:
        columns = tuple(column.in_wide() if column.key == TOPIC.key else column for column in columns)
    applied = moves
    common = {GROUP: group}
    if not session.is_dry_run:
        # --undo needs the old offsets, also if this process is killed.
        begun = [m._replace(result="unknown") if m.result == "planned" else m for m in moves]
        session.record_begun(ResultRows.from_records(columns, begun, [m.error for m in begun], common=common))
        moves = applied = [move for plan in plans for move in apply_plan(plan)]
        if not skip_verification:
            moves = _verify_after_commits(session, group, moves)
    errors = [m.error for m in moves]
    unknown_count = sum(m.result == "unknown" for m in moves)
    notes = failed_on([None if m.result == "unknown" else m.error for m in moves], "queue")
    done_count = sum(m.result == "done" for m in moves)
    if notes and done_count:
        notes.append(f"the group was moved on {count_noun(done_count, 'queue')}")
    if unknown_count:
        notes.append(
            f"unknown on {unknown_count} of {count_noun(len(moves), 'queue')}: the group may have moved. "
            "Before you repeat the command, see what its application received, and compare its offsets: "
            f"{quote_command('consumerProgress', group)}"
        )
    if any(a.error is None and isinstance(m.error, NotApplied) for a, m in zip(applied, moves, strict=True)):
        notes.append(
            "a connected client sets the offset back: stop the clients that "
            f"{quote_command('consumerConnection', group)} lists, then repeat the command"
        )
    if any(m.result == "pending" for m in moves):
        notes.append("pending: the clients of the group will move within half a minute")
    # Brokers cannot remove an offset where there was none.
    returning = dict.fromkeys(m.queue.topic for m in moves if _awaits_commits(m) and m.old_offset is not None)
    if returning and audit_path() is not None:
        undo_command = quote_command("resetOffsetByTime", group, ",".join(returning), "--undo")
        if command_name != _UNDO:
            notes.append(f"to undo this move, while it is the last one: {undo_command}")
        elif not any(errors):
            # --undo after a failed one continues it.
            notes.append(f"to return to the offsets from before this undo: {undo_command}")
    rows = ResultRows.from_records(columns, moves, errors, notes, common=common)
    is_done = done_count == len(moves) > 1
    return rows._replace(
        table_notes=[f"{group} was moved on {queues}, which lets it {effect}"] if is_done else []
    )


def _verify_after_commits(session: Session, group: str, moves: Sequence[OffsetMove]) -> Sequence[OffsetMove]:
    """Read the offsets after connected clients committed, until each move holds, at most three times."""
    offset_admin = session.admin.offsets
    if not any(map(_awaits_commits, moves)) or not offset_admin.has_clients(group, moves):
        return moves
    verified_moves = moves
    held_back: dict[OffsetMove, OffsetMove] = {}
    with session.show_progress("waiting for commits", _MAX_ROUNDS * _ROUND_SECONDS) as advance_seconds:
        for _ in range(_MAX_ROUNDS):
            for _ in range(_ROUND_SECONDS):
                sleep(1)
                advance_seconds(1)
            pairs = list(zip(moves, offset_admin.verify_moves(group, moves), strict=True))
            # A group that was seen before its old offset passes it when it has read the messages again.
            held_back |= {move: v for move, v in pairs if move.repeated_count and v.result == "done"}
            verified_moves = [held_back.get(move, v) for move, v in pairs]
            pairs = list(zip(moves, verified_moves, strict=True))
            if all(verified.result == "done" for move, verified in pairs if _awaits_commits(move)):
                break
    return verified_moves


def _awaits_commits(move: OffsetMove) -> bool:
    return move.result in ("done", "pending")
