"""Owns updateStaticTopic and remappingStaticTopic; a logical queue keeps its number if it changes brokers."""

from collections.abc import Callable
from pathlib import Path
from time import time
from typing import Annotated

from nsadmin.client.results import NotApplied, NotFound
from nsadmin.commands import values
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.results import outcome
from nsadmin.diagnostics import UsageError
from nsadmin.operations.drain.keeping import file_name, home
from nsadmin.operations.static_topics import files, planning
from nsadmin.operations.static_topics.carrying import Carried, Place, carry_out, look
from nsadmin.operations.static_topics.files import AFTER, BEFORE, BadFile
from nsadmin.operations.static_topics.planning import Move, Plan
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = ("topic", "queueId", "before", "after", "brokerQueueId", "logicOffset", "result", "error")

Topic = Annotated[str, Word(("-t", "--topic"), "TOPIC", "Name of a topic.")]
Brokers = Annotated[
    str | None,
    Option("-b", "--brokers", metavar="BROKER,BROKER", help="These brokers, by name.", values="brokers"),
]
Clusters = Annotated[
    str | None,
    Option("-c", "--clusters", metavar="CLUSTER,CLUSTER", help="All brokers of these.", values="clusters"),
]
MapFile = Annotated[
    str | None,
    Option("-mf", "--mapFile", metavar="FILE", help="Carry out this mapping file instead: see above."),
]
Force = Annotated[
    str | None,
    Option("-fr", "--forceReplace", metavar="true|false", help="Have brokers take what they would refuse."),
]


@shows(COLUMNS)
def update_static_topic(
    session: Session,
    topic: Topic,
    total: Annotated[
        int | None,
        Option("-qn", "--totalQueueNum", metavar="N", minimum=1, help="So many logical queues, in all."),
    ] = None,
    brokers: Brokers = None,
    clusters: Clusters = None,
    map_file: MapFile = None,
    force: Force = None,
) -> Rows:
    """Create a static topic, or give it more logical queues: these keep their numbers wherever they lie.

    New queues go to those of the brokers that have the fewest. A row says where each of them comes to lie;
    with --dry-run that is all. What brokers had and what they are to have is written to files first, as
    mqadmin has them (in NSADMIN_STATE); a note names them. If it does not get through, carry on with the
    .after file: -mf FILE, which mqadmin does not heed.

    Examples:
        # Where its queues would lie
        nsadmin updateStaticTopic ledger -qn 4 -c cluster-a --dry-run
        # Create it
        nsadmin updateStaticTopic ledger -qn 4 -c cluster-a --yes
    """
    command = "updateStaticTopic"
    if total is None and map_file is None:
        raise UsageError(f"{command}: -qn N is missing: how many logical queues it is to have")

    def plan(place: Place) -> Plan:
        now = int(time() * 1000)
        return planning.created(topic, place.shares, place.targets, place.everybody, total or 0, now)

    return _carried_out(session, command, topic, brokers, clusters, map_file, force, plan)


@shows(COLUMNS)
def remapping_static_topic(
    session: Session,
    topic: Topic,
    brokers: Brokers = None,
    clusters: Clusters = None,
    map_file: MapFile = None,
    force: Force = None,
) -> Rows:
    """Move the logical queues of a static topic to these brokers, evenly; what is there already stays.

    Nothing is copied: brokers keep what was written to them, and readers get it by the queue's own offsets,
    which go on at the next multiple of 10000. For a moment nobody takes messages for a queue that moves. A
    row says where each of them comes to lie; with --dry-run that is all. The mapping is kept in files, as by
    updateStaticTopic; a run that was stopped is carried on with the .after file: -mf FILE.

    Examples:
        # Which queues would move
        nsadmin remappingStaticTopic ledger -b broker-a-0 --dry-run
        # Move them
        nsadmin remappingStaticTopic ledger -b broker-a-0 --yes
    """

    def plan(place: Place) -> Plan:
        if not place.shares:
            raise NotFound(f"remappingStaticTopic: there is no static topic {topic}")
        now = int(time() * 1000)
        return planning.remapped(topic, place.shares, place.targets, place.everybody, now)

    return _carried_out(session, "remappingStaticTopic", topic, brokers, clusters, map_file, force, plan)


def _carried_out(
    session: Session,
    command: str,
    topic: str,
    brokers: str | None,
    clusters: str | None,
    map_file: str | None,
    force: str | None,
    make: Callable[[Place], Plan],
) -> Rows:
    is_forced = values.flag(command, "-fr", force) is True
    given = None if map_file is None else _loaded(command, topic, map_file)
    names, groups = _list(brokers), _list(clusters)
    if given is not None:
        names, groups = names or list(given.shares), groups
    if not names and not groups:
        raise UsageError(f"{command}: type either -b BROKER,BROKER or -c CLUSTER,CLUSTER")
    place = look(session.admin, topic, names, groups)
    plan = given or make(place)
    moves = planning.moves(place.shares, planning.adopted(plan, place.shares))
    is_done = given is None and plan.shares is place.shares
    if session.dry_run or is_done:
        note = f"{topic} is in that way already" if is_done else ""
        return Rows(COLUMNS, [_row(topic, move, "dry-run") for move in moves], [], [note] if note else [])
    for move in moves:
        session.remark(f"queue {move.queue}: {move.before or 'new'} -> {move.after}")
    session.confirm(
        f"{topic}: {len(moves)} queues come to lie elsewhere, {len(plan.shares)} brokers are told; go on?"
    )
    folder = home() / "static-topics" / file_name(topic)
    try:
        files.save(folder, plan, BEFORE, place.shares)
        path = Path(map_file) if map_file is not None else files.save(folder, plan, AFTER)
    except OSError as error:
        raise NotApplied(f"{folder}: {error.strerror}: nothing was changed, as mappings are kept") from None
    session.remark(f"the mapping is kept in {path}")
    done = carry_out(session.admin, plan, place, lambda now: _keep(session, now, path), force=is_forced)
    return _told(command, topic, place, done, path)


def _keep(session: Session, plan: Plan, path: Path) -> None:
    """Save the decisions made during the run. A failure is only noted: a rerun makes the same decisions."""
    try:
        files.write(path, plan, plan.shares)
    except OSError as error:
        session.remark(f"{path}: {error.strerror}")


def _told(command: str, topic: str, place: Place, done: Carried, path: Path) -> Rows:
    first = next(iter(done.errors.values()), None)
    moves = planning.moves(place.shares, done.plan)
    rows = [{**_row(topic, move, "done"), **outcome(first)} for move in moves]
    notes = [f"broker {name}: {error}" for name, error in done.errors.items()]
    if done.stopped_in is not None:
        notes.append(f"stopped while {done.stopped_in}; carry on: nsadmin {command} {topic} -mf {path}")
    return Rows(COLUMNS, rows, [done.errors.get(name) for name in done.plan.shares], notes)


def _row(topic: str, move: Move, result: str) -> Row:
    return {
        "topic": topic,
        "queueId": move.queue,
        "before": move.before,
        "after": move.after,
        "brokerQueueId": move.queue_id,
        "logicOffset": move.logic_offset if move.logic_offset >= 0 else None,
        "result": result,
    }


def _loaded(command: str, topic: str, file: str) -> Plan:
    try:
        plan = files.load(Path(file))
    except BadFile as error:
        raise UsageError(f"{command}: {error}") from None
    if plan.topic != topic:
        raise UsageError(f"{command}: {file} is about the topic {plan.topic}")
    return plan


def _list(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]
