"""Owns resetOffsetByTime, skipAccumulatedMessage and cloneGroupOffset, which move a group's offsets."""

from collections.abc import Callable, Sequence
from typing import Annotated

from namesrv_core.protocol.codes import MASTER_ID
from nsadmin.client import NotFound
from nsadmin.client.offsets import END, Move, Plan
from nsadmin.client.queues import MessageQueue
from nsadmin.client.results import error_text
from nsadmin.commands import moments, values
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.targets import broker_addr
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = (
    "group",
    "topic",
    "brokerName",
    "brokerAddr",
    "queueId",
    "from",
    "to",
    "skipped",
    "repeated",
    "result",
    "error",
)
IN_TABLE = ("brokerName", "queueId", "from", "to", "skipped", "repeated", "result", "error")

Group = Annotated[str, Word(("-g", "--group"), "GROUP", "A consumer group.")]
Topic = Annotated[str, Word(("-t", "--topic"), "TOPIC", "Name of a topic.")]
Cluster = Annotated[
    str | None, Option("-c", "--cluster", metavar="CLUSTER", help="Only the brokers of this cluster.")
]
Force = Annotated[
    str | None,
    Option("-f", "--force", metavar="true|false", help="false: before 5.2, only go back. Else unused."),
]


@shows(COLUMNS)
def reset_offset_by_time(
    session: Session,
    group: Group,
    topic: Topic,
    timestamp: Annotated[
        str | None, Option("-s", "--timestamp", metavar="TIME", help=f"-1 for the end, {moments.HELP}")
    ] = None,
    force: Force = None,
    broker: Annotated[
        str | None, Option("-b", "--broker", metavar="ADDR", help="With -q: the master that has the queue.")
    ] = None,
    queue: Annotated[
        int | None, Option("-q", "--queue", metavar="ID", help="With -b: only this queue.")
    ] = None,
    offset: Annotated[
        int | None,
        Option("-o", "--offset", metavar="OFFSET", help="With -b and -q: there, whatever -s says."),
    ] = None,
    cluster: Cluster = None,
) -> Rows:
    """Move a consumer group to a time on every queue of a topic, or one queue to a time or an offset.

    Each row shows a queue, where the group is, where it goes on, and how many messages it skips or gets
    once more; --dry-run shows that and changes nothing. Nothing is known where it never committed an
    offset. Each master is asked by itself and its offsets are read back. A broker before 5.2 leaves the
    move to connected clients: that is "pending", and done within half a minute.

    Examples:
        # How many messages a group would get once more, from one o'clock on
        nsadmin resetOffsetByTime warehouse payments -s 2025-01-31T13:00:00Z --dry-run
        # Move it to the end of the topic
        nsadmin resetOffsetByTime warehouse payments -s -1 --yes
        # Move one queue of one broker to its end
        nsadmin resetOffsetByTime warehouse payments -b 127.0.0.1:10911 -q 0 -s -1 --yes
    """
    command = "resetOffsetByTime"
    wanted = values.flag(command, "-f", force)
    if (broker is None) != (queue is None) or (offset is not None and queue is None):
        raise UsageError(f"{command}: for one queue type -b ADDR -q ID, with -s TIME or -o OFFSET")
    if timestamp is None and offset is None:
        raise UsageError(f"{command}: when to go to is missing; type -s TIME, or -b ADDR -q ID -o OFFSET")
    time = END if timestamp is None else _time(command, timestamp)
    offsets = session.admin.offsets
    if broker is not None and queue is not None:
        addr = broker_addr(session, broker)
        plan = offsets.plan_queue(group, _queue_at(session, topic, addr, queue), addr, time, offset)
    else:
        plan = offsets.plan_reset(group, topic, time, cluster_name=cluster, force=wanted is not False)
    return _carried_out(session, plan, offsets.reset)


@shows(COLUMNS)
def skip_accumulated_message(
    session: Session, group: Group, topic: Topic, force: Force = None, cluster: Cluster = None
) -> Rows:
    """Move a consumer group to the end of every queue of a topic: what it has not consumed, it never will.

    Rows are as those of resetOffsetByTime; --dry-run shows how many messages would be skipped.

    Examples:
        # How many messages would be skipped
        nsadmin skipAccumulatedMessage warehouse payments --dry-run
        # Skip them
        nsadmin skipAccumulatedMessage warehouse payments --yes
    """
    wanted = values.flag("skipAccumulatedMessage", "-f", force)
    offsets = session.admin.offsets
    plan = offsets.plan_reset(group, topic, END, cluster_name=cluster, force=wanted is not False)
    return _carried_out(session, plan, offsets.reset)


@shows(COLUMNS)
def clone_group_offset(
    session: Session,
    source: Annotated[
        str, Word(("-s", "--srcGroup"), "SOURCE", "The group whose offsets are taken.", values="groups")
    ],
    group: Annotated[str, Word(("-d", "--destGroup"), "GROUP", "The group that is moved there.")],
    topic: Topic,
    offline: Annotated[
        str | None,
        Option(
            "-o", "--offline", metavar="true|false", help="true: only if no client of GROUP is connected."
        ),
    ] = None,
) -> Rows:
    """Move a consumer group to where another one is on every queue of a topic, and of this topic only.

    Rows are as those of resetOffsetByTime; --dry-run shows how many messages would be skipped or come once
    more. A queue where SOURCE never committed an offset is "kept". Both groups have to exist. A broker before
    5.2 wants the clients of GROUP stopped first.

    Examples:
        # Where a group would go on
        nsadmin cloneGroupOffset warehouse ledger payments --dry-run
        # Let it go on there
        nsadmin cloneGroupOffset warehouse ledger payments --yes
    """
    if source == group:
        raise UsageError("cloneGroupOffset: -s and -d name the same group")
    offsets = session.admin.offsets
    alone = values.flag("cloneGroupOffset", "-o", offline) is True
    return _carried_out(session, offsets.plan_clone(source, group, topic, offline=alone), offsets.clone)


def _time(command: str, text: str) -> int:
    return END if text.strip() == "-1" else moments.moment(command, "-s", text, END)


def _queue_at(session: Session, topic: str, addr: str, queue_id: int) -> MessageQueue:
    """Look up the queue in the topic's route; NotFound unless the address is of a master with it."""
    for item in session.admin.topics.route(topic).queues:
        if item.broker_addrs.get(MASTER_ID) == addr:
            if not 0 <= queue_id < (item.read_queue_nums or 0):
                raise NotFound(f"{topic} has the queues 0 to {(item.read_queue_nums or 0) - 1} at {addr}")
            return MessageQueue(topic, item.broker_name, queue_id)
    raise NotFound(f"{addr} is no master of a broker that has {topic}")


def _carried_out(session: Session, plan: Plan, carry_out: Callable[[Plan], Sequence[Move]]) -> Rows:
    skipped = sum(move.skipped or 0 for move in plan.moves)
    repeated = sum(move.repeated or 0 for move in plan.moves)
    session.confirm(
        f"Move {plan.group} on {len(plan.moves)} queues of {plan.topic}, skipping {skipped} messages and"
        f" repeating {repeated}?"
    )
    moves = plan.moves if session.dry_run else carry_out(plan)
    rows: list[Row] = [
        {
            "group": plan.group,
            "topic": plan.topic,
            "brokerName": move.queue.broker_name,
            "brokerAddr": move.addr or None,
            "queueId": move.queue.queue_id if move.addr else None,
            "from": move.old,
            "to": move.new,
            "skipped": move.skipped,
            "repeated": move.repeated,
            "result": "dry-run" if move.result == "planned" else move.result,
            "error": move.error and error_text(move.error),
        }
        for move in moves
    ]
    errors = [move.error for move in moves]
    failed = sum(error is not None for error in errors)
    notes = [f"failed on {failed} of {len(errors)} queues"] if failed else []
    if any(move.result == "pending" for move in moves):
        notes.append("pending: the clients of the group were told, and report their new offsets in a while")
    return Rows(COLUMNS, rows, errors, notes, IN_TABLE)
