"""Owns resetOffsetByTime, skipAccumulatedMessage and cloneGroupOffset, which move a group's offsets."""

from collections.abc import Callable, Sequence
from time import sleep
from typing import Annotated

from typer import Argument, Option

from nsadmin.client import NotApplied, NotFound
from nsadmin.client.advised_command import quote_command
from nsadmin.client.consumers.offset_moves import (
    COMMIT_INTERVAL_SECONDS,
    END_OF_QUEUE,
    OffsetMove,
    OffsetPlan,
)
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.wall_clock import time
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
from nsadmin.console.phrases import count_noun, failed_on
from nsadmin.console.session import Session

OFFSET_MOVE_COLUMNS: Columns[OffsetMove] = (
    GROUP.in_wide(),
    TOPIC.in_wide(),
    *of_part(lambda m: m.queue, (BROKER_NAME,)),
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
MovedTopicArgument = Annotated[
    str, Argument(metavar="TOPIC", help="Name of a topic."), Flags("-t", "--topic")
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
    topic: MovedTopicArgument,
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
    """Move a consumer group to a time on every queue of a topic, or one queue to a time or an offset.

    Each row shows a queue, the old and new offset, and how many messages the group skips or receives again.
    Use --dry-run to see this without a change. A queue without a consumer offset has no old offset. nsadmin
    asks each master separately and reads the offsets back. A broker before 5.2 leaves the move to connected
    clients. Then the result is "pending", and the move takes up to half a minute.

    Connected clients commit their own offsets every 5 seconds, and a busy client may overwrite the move. So
    nsadmin reads the offsets again after 6 seconds, and up to two more times if a move was overwritten. Then
    the result is "failed". Without connected clients, nsadmin does not wait.

    -b, -q and -o move the group on one queue: the offset after a poison message skips this one message.

    With --undo, the group returns to the offsets that it had before the last resetOffsetByTime,
    skipAccumulatedMessage or cloneGroupOffset of this account on the topic. What it has consumed since then,
    it receives again. The audit has these offsets, so the account that moved the group can undo it. A command
    that failed and ran again is one move. If --undo fails, run it again.

    Examples:
        # Reprocess since one o'clock: preview how many messages the group would receive again
        nsadmin resetOffsetByTime warehouse payments -s 2025-01-31T13:00:00Z --dry-run
        # Move the group to the end of the topic
        nsadmin resetOffsetByTime warehouse payments -s -1 --yes
        # Skip one broken (poison) message: go on behind it; this offset is too old (exit code 1)
        nsadmin resetOffsetByTime warehouse payments -b broker-a-0 -q 0 -o 4711 --dry-run
        # Undo the last move
        nsadmin resetOffsetByTime warehouse payments --undo --yes
    """
    offset_admin = session.admin.offsets
    if undoes_move:
        if any(
            value is not None for value in (time_text, broker_text, queue_id, wanted_offset, cluster_name)
        ):
            raise UsageError("--undo has no target: leave out -s, -b, -q, -o and -c")
        former_offsets = read_former_offsets(group, topic, session.admin.addresses.addrs)
        return _apply_offset_plan(
            session,
            _UNDO,
            offset_admin.plan_return(group, topic, former_offsets),
            offset_admin.apply_clone,
            skip_verification,
        )
    force_flag = argument_values.parse_boolean("-f", force_text)
    if (broker_text is None) != (queue_id is None) or (wanted_offset is not None and queue_id is None):
        raise UsageError("incomplete queue: pass -b ADDR and -q ID, with -s TIME or -o OFFSET")
    target_time_ms = END_OF_QUEUE if time_text is None else _parse_target_time(time_text)
    if wanted_offset is None and target_time_ms > time() * 1000:
        session.write_remark(f"{format_utc(target_time_ms)} is in the future: {group} moves to the end")
    if broker_text is not None and queue_id is not None:
        broker_addr = find_broker_addr(session, broker_text)
        offset_plan = offset_admin.plan_queue_reset(
            group,
            _find_queue_at(session, topic, broker_addr, queue_id),
            broker_addr,
            target_time_ms,
            wanted_offset,
        )
    else:
        offset_plan = offset_admin.plan_reset(
            group, topic, target_time_ms, cluster_name=cluster_name, force=force_flag is not False
        )
    return _apply_offset_plan(
        session, "resetOffsetByTime", offset_plan, offset_admin.apply_reset, skip_verification
    )


@command(columns=OFFSET_MOVE_COLUMNS)
def skip_accumulated_message(
    session: Session,
    group: MovedGroupArgument,
    topic: MovedTopicArgument,
    force_text: ForceMoveOption = None,
    cluster_name: MovedClusterOption = None,
    skip_verification: NoVerifyOption = False,
) -> ResultRows:
    """Move a consumer group to the end of every queue of a topic, which skips all unconsumed messages.

    The rows are like those of resetOffsetByTime. Use --dry-run to see how many messages the group would skip.
    If clients are connected, nsadmin reads the offsets again after they commit.

    Examples:
        # Throw the lag away: preview how many messages the group would skip
        nsadmin skipAccumulatedMessage warehouse payments --dry-run
        # Skip them
        nsadmin skipAccumulatedMessage warehouse payments --yes
    """
    force_flag = argument_values.parse_boolean("-f", force_text)
    offset_admin = session.admin.offsets
    offset_plan = offset_admin.plan_reset(
        group, topic, END_OF_QUEUE, cluster_name=cluster_name, force=force_flag is not False
    )
    return _apply_offset_plan(
        session, "skipAccumulatedMessage", offset_plan, offset_admin.apply_reset, skip_verification
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
    topic: MovedTopicArgument,
    offline_text: Annotated[
        str | None,
        Option(
            "-o", "--offline", metavar="true|false", help="true: refuse if a client of GROUP is connected."
        ),
    ] = None,
    skip_verification: NoVerifyOption = False,
) -> ResultRows:
    """Move a consumer group to the offsets of another group, on every queue of a topic.

    Other topics of the groups do not change. The rows are like those of resetOffsetByTime. Use --dry-run to
    see how many messages the group would skip or receive again. A queue where SOURCE has no consumer offset
    is "kept". Both groups must exist. For a broker before 5.2, stop the clients of GROUP first.

    Examples:
        # A group gets a new name: preview how the new one starts where the old one is, on one topic
        nsadmin cloneGroupOffset warehouse ledger payments --dry-run
        # Move the group
        nsadmin cloneGroupOffset warehouse ledger payments --yes
    """
    if source_group == group:
        raise UsageError("-s and -d name the same group: pass two different groups")
    offset_admin = session.admin.offsets
    require_offline = argument_values.parse_boolean("-o", offline_text) is True
    plan = offset_admin.plan_clone(source_group, group, topic, require_offline=require_offline)
    if kept_count := sum(m.error is None and m.new_offset is None for m in plan.moves):
        session.write_remark(
            f"{group} stays on {count_noun(kept_count, 'queue')} of {topic}: "
            f"{source_group} has no offset there"
        )
    return _apply_offset_plan(
        session,
        "cloneGroupOffset",
        plan,
        offset_admin.apply_clone,
        skip_verification,
    )


def _parse_target_time(time_text: str) -> int:
    return (
        END_OF_QUEUE
        if time_text.strip() == "-1"
        else time_arguments.parse_time_option("-s", time_text, END_OF_QUEUE)
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


def _apply_offset_plan(
    session: Session,
    command_name: str,
    plan: OffsetPlan,
    apply_plan: Callable[[OffsetPlan], Sequence[OffsetMove]],
    skip_verification: bool,
) -> ResultRows:
    skip_count = sum(m.skipped_count or 0 for m in plan.moves)
    repeat_count = sum(m.repeated_count or 0 for m in plan.moves)
    effects = [f"skip {count_noun(skip_count, 'message')}"] if skip_count else []
    if repeat_count or not skip_count:
        effects.insert(0, f"receive {count_noun(repeat_count, 'message')} again")
    effect = " and ".join(effects)
    first_count = sum(m.result == "planned" and m.old_offset is None for m in plan.moves)
    if first_count:
        effect += f", and set the first offset of {count_noun(first_count, 'queue')}"
    loss = f"this would let {plan.group} {effect} on {plan.topic}"
    if first_count and all(m.old_offset is None for m in plan.moves):
        effect = f"begin on {plan.topic}, where it has no offset"
        loss = (
            f"{plan.group} has no offset on {plan.topic}; this sets offsets on "
            f"{count_noun(first_count, 'queue')}"
        )
    session.require_yes(command_name, loss)
    queues = f"{count_noun(sum(m.error is None for m in plan.moves), 'queue')} of {plan.topic}"
    session.confirm_change(f"Move {plan.group} on {queues}, which lets it {effect}?")
    moves: Sequence[OffsetMove] = plan.moves
    applied = moves
    common = {GROUP: plan.group, TOPIC: plan.topic}
    if not session.is_dry_run:
        # --undo needs the old offsets, also if this process is killed.
        begun = [m._replace(result="unknown") if m.result == "planned" else m for m in moves]
        session.record_begun(
            ResultRows.from_records(OFFSET_MOVE_COLUMNS, begun, [m.error for m in begun], common=common)
        )
        moves = applied = apply_plan(plan)
        if not skip_verification:
            moves = _verify_after_commits(session, plan.group, moves)
    errors = [m.error for m in moves]
    notes = failed_on(errors, "queue")
    if any(a.error is None and isinstance(m.error, NotApplied) for a, m in zip(applied, moves, strict=True)):
        notes.append(
            "a connected client sets the offset back: stop the clients that "
            f"{quote_command('consumerConnection', plan.group)} lists, then repeat the command"
        )
    if any(m.result == "pending" for m in moves):
        notes.append("pending: the clients of the group will move within half a minute")
    # Brokers cannot remove an offset where there was none.
    if any(_awaits_commits(m) and m.old_offset is not None for m in moves) and audit_path() is not None:
        undo_command = quote_command("resetOffsetByTime", plan.group, plan.topic, "--undo")
        if command_name != _UNDO:
            notes.append(f"to undo it: {undo_command}")
        elif not any(errors):
            # --undo after a failed one continues it.
            notes.append(f"to make the undone move again: {undo_command}")
    return ResultRows.from_records(OFFSET_MOVE_COLUMNS, moves, errors, notes, common=common)


def _verify_after_commits(session: Session, group: str, moves: Sequence[OffsetMove]) -> Sequence[OffsetMove]:
    """Read the offsets after connected clients committed, until each move holds, at most three times."""
    offset_admin = session.admin.offsets
    if not any(map(_awaits_commits, moves)) or not offset_admin.has_clients(group, moves):
        return moves
    verified_moves = moves
    with session.show_progress("waiting for commits", _MAX_ROUNDS * _ROUND_SECONDS) as advance_seconds:
        for _ in range(_MAX_ROUNDS):
            for _ in range(_ROUND_SECONDS):
                sleep(1)
                advance_seconds(1)
            verified_moves = offset_admin.verify_moves(group, moves)
            pairs = zip(moves, verified_moves, strict=True)
            if all(verified.result == "done" for move, verified in pairs if _awaits_commits(move)):
                break
    return verified_moves


def _awaits_commits(move: OffsetMove) -> bool:
    return move.result in ("done", "pending")
