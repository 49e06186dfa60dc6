"""Owns updateStaticTopic and remappingStaticTopic. A logical queue keeps its number on another broker."""

from collections.abc import Callable
from pathlib import Path
from time import time
from typing import Annotated

from typer import Option

from nsadmin.client.advised_command import quote_command
from nsadmin.client.results import NotApplied, NotFound, error_text
from nsadmin.command_line import argument_values
from nsadmin.command_line.declarations import RequiredUnless, Values, command
from nsadmin.commands.columns.changes import RESULT
from nsadmin.commands.columns.servers import ERROR, outcome_word
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.procedures.drain_warnings import warn_of_drains
from nsadmin.commands.topics.topics import NewTopicArgument, TopicArgument
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.installation import Installation
from nsadmin.operations.state_folder import escape_file_name
from nsadmin.operations.static_topics import mapping_files, mapping_planner
from nsadmin.operations.static_topics.executor import (
    ExecutedPlan,
    StaticTopicPlacement,
    execute_plan,
    observe_placement,
)
from nsadmin.operations.static_topics.mapping_files import (
    AFTER_SUFFIX,
    BEFORE_SUFFIX,
    InvalidMappingFileError,
)
from nsadmin.operations.static_topics.mapping_planner import MappingPlan, QueueMove

STATIC_QUEUE_COLUMNS: Columns[QueueMove] = (
    TOPIC,
    Column("queueId", "number of the logical queue, from 0", lambda q: q.logical_queue),
    Column("before", "the broker that receives writes now; null for a new queue", lambda q: q.source_broker),
    Column("after", "the broker that will receive writes to the queue", lambda q: q.target_broker),
    Column("brokerQueueId", "number of the queue on that broker", lambda q: q.queue_id),
    Column(
        "logicOffset",
        "offset at which the logical queue continues there; null if unknown",
        lambda q: q.logic_offset if q.logic_offset >= 0 else None,
    ),
    RESULT.means("done, dry-run or failed"),
    ERROR,
)
BrokerListOption = Annotated[
    str | None,
    Option("-b", "--brokers", metavar="BROKER,BROKER", help="Names of brokers."),
    Values("brokers"),
]
ClusterListOption = Annotated[
    str | None,
    Option("-c", "--clusters", metavar="CLUSTER,CLUSTER", help="All brokers of these clusters."),
    Values("clusters"),
]
MapFileOption = Annotated[
    str | None,
    Option("-mf", "--mapFile", metavar="FILE", help="Execute this mapping file instead, see above."),
]
ForceReplaceOption = Annotated[
    str | None,
    Option(
        "-fr",
        "--forceReplace",
        metavar="true|false",
        help="Make brokers accept mappings that they would refuse.",
    ),
]


@command(columns=STATIC_QUEUE_COLUMNS, examples=("elsewhere", "simulated brokers have no static topics"))
def update_static_topic(
    session: Session,
    topic: NewTopicArgument,
    total_queues: Annotated[
        int | None,
        Option("-qn", "--totalQueueNum", metavar="N", help="Total number of logical queues.", min=1),
        RequiredUnless("map_file"),
    ] = None,
    broker_list: BrokerListOption = None,
    cluster_list: ClusterListOption = None,
    map_file: MapFileOption = None,
    force_text: ForceReplaceOption = None,
) -> ResultRows:
    """Create a static topic, or add logical queues to it. Queues keep their numbers on all brokers.

    New queues go to the brokers with the fewest queues. Each row shows the broker of a queue. Use --dry-run
    for a preview. Before the change, nsadmin writes the old and new mapping to files in mqadmin's format (in
    NSADMIN_STATE), and names them on stderr. If the change is interrupted, resume it with the .after file:
    -mf FILE. (mqadmin ignores -mf.)

    Examples:
        # Preview the brokers of the queues
        nsadmin updateStaticTopic ledger -qn 4 -c cluster-a --dry-run
        # Create the topic
        nsadmin updateStaticTopic ledger -qn 4 -c cluster-a --yes
    """
    command_name = "updateStaticTopic"
    if total_queues is None and map_file is None:
        raise UsageError("missing option -qn N: pass the total number of logical queues")

    def plan_creation(mapping_view: StaticTopicPlacement) -> MappingPlan:
        if not mapping_view.current_shares:
            argument_values.validate_topic_name(topic)
        now_ms = int(time() * 1000)
        return mapping_planner.plan_creation(
            topic,
            mapping_view.current_shares,
            mapping_view.target_brokers,
            mapping_view.informed_brokers,
            total_queues or 0,
            now_ms,
        )

    return _apply_mapping(
        session, command_name, topic, broker_list, cluster_list, map_file, force_text, plan_creation
    )


@command(columns=STATIC_QUEUE_COLUMNS, examples=("elsewhere", "simulated brokers have no static topics"))
def remapping_static_topic(
    session: Session,
    topic: TopicArgument,
    broker_list: BrokerListOption = None,
    cluster_list: ClusterListOption = None,
    map_file: MapFileOption = None,
    force_text: ForceReplaceOption = None,
) -> ResultRows:
    """Move the logical queues of a static topic to these brokers, evenly.

    Queues that are already on these brokers stay. nsadmin copies no messages: brokers keep theirs, and
    consumers read them at the queue's own offsets, which continue at the next multiple of 10000. For a
    moment, no broker accepts messages of a moving queue. Each row shows the broker of a queue. Use --dry-run
    for a preview. nsadmin saves the mapping like updateStaticTopic. If the change is interrupted, resume it
    with the .after file: -mf FILE.

    Examples:
        # Preview the moves
        nsadmin remappingStaticTopic ledger -b broker-a-0 --dry-run
        # Move the queues
        nsadmin remappingStaticTopic ledger -b broker-a-0 --yes
    """

    def plan_remapping(mapping_view: StaticTopicPlacement) -> MappingPlan:
        if not mapping_view.current_shares:
            raise NotFound(f'no static topic "{topic}"')
        now_ms = int(time() * 1000)
        return mapping_planner.plan_remapping(
            topic,
            mapping_view.current_shares,
            mapping_view.target_brokers,
            mapping_view.informed_brokers,
            now_ms,
        )

    return _apply_mapping(
        session,
        "remappingStaticTopic",
        topic,
        broker_list,
        cluster_list,
        map_file,
        force_text,
        plan_remapping,
    )


def _apply_mapping(
    session: Session,
    command_name: str,
    topic: str,
    broker_list: str | None,
    cluster_list: str | None,
    map_file: str | None,
    force_text: str | None,
    make_plan: Callable[[StaticTopicPlacement], MappingPlan],
) -> ResultRows:
    is_forced = argument_values.parse_boolean("-fr", force_text) is True
    given_plan = None if map_file is None else _load_mapping(topic, map_file)
    broker_names = argument_values.parse_name_list("-b", broker_list)
    cluster_names = argument_values.parse_name_list("-c", cluster_list)
    if given_plan is not None:
        broker_names, cluster_names = broker_names or list(given_plan.shares), cluster_names
    if not broker_names and not cluster_names:
        raise UsageError("missing option -b BROKER,BROKER or -c CLUSTER,CLUSTER")
    mapping_view = observe_placement(session.admin, topic, broker_names, cluster_names)
    plan = given_plan or make_plan(mapping_view)
    moves = mapping_planner.list_moves(
        mapping_view.current_shares, mapping_planner.adopt_known_offsets(plan, mapping_view.current_shares)
    )
    is_unchanged = given_plan is None and plan.shares is mapping_view.current_shares
    if not is_unchanged:
        warn_of_drains(session, plan.shares)
    if session.is_dry_run or is_unchanged:
        notes = [f"{topic} already has this mapping"] if is_unchanged else []
        common = {TOPIC: topic, RESULT: "dry-run", ERROR: None}
        return ResultRows.from_records(STATIC_QUEUE_COLUMNS, moves, [], notes, common=common)
    for move in moves:
        places = f"{move.source_broker or 'new'} -> {move.target_broker}"
        session.write_remark(f"queue {move.logical_queue}: {places}")
    session.confirm_change(
        f"{topic}: move {count_noun(len(moves), 'queue')}, change {count_noun(len(plan.shares), 'broker')}. "
        "Continue?"
    )
    mapping_folder = Installation(session.admin).home / "static-topics" / escape_file_name(topic)
    try:
        mapping_files.save_mapping(mapping_folder, plan, BEFORE_SUFFIX, mapping_view.current_shares)
        mapping_path = (
            Path(map_file)
            if map_file is not None
            else mapping_files.save_mapping(mapping_folder, plan, AFTER_SUFFIX)
        )
    except OSError as file_error:
        raise NotApplied(
            f"cannot write {mapping_folder}: {file_error.strerror}; nothing was changed, because "
            "the mapping must be saved first"
        ) from None
    session.write_remark(f"the mapping is saved in {mapping_path}")
    execution = execute_plan(
        session.admin,
        plan,
        mapping_view,
        lambda current_plan: _save_decisions(session, current_plan, mapping_path),
        force=is_forced,
    )
    return _report_outcome(command_name, topic, mapping_view, execution, mapping_path)


def _save_decisions(session: Session, mapping_plan: MappingPlan, mapping_path: Path) -> None:
    """Save the decisions made during the run. A failure is only noted: a rerun makes the same decisions."""
    try:
        mapping_files.write_mapping_file(mapping_path, mapping_plan, mapping_plan.shares)
    except OSError as file_error:
        session.write_remark(f"cannot update the saved mapping {mapping_path}: {file_error.strerror}")


def _report_outcome(
    command: str, topic: str, mapping_view: StaticTopicPlacement, execution: ExecutedPlan, mapping_path: Path
) -> ResultRows:
    errors_by_broker = execution.errors_by_broker
    first_error = next(iter(errors_by_broker.values()), None)
    moves = mapping_planner.list_moves(mapping_view.current_shares, execution.final_plan)
    notes = [f"broker {name}: {error}" for name, error in errors_by_broker.items()]
    if execution.last_phase is not None:
        resume_words = (command, topic, "-mf", str(mapping_path))
        is_unchanged = errors_by_broker.keys() == execution.final_plan.shares.keys()
        where = ": no broker confirmed it" if is_unchanged else ""
        notes.append(
            f"stopped while {execution.last_phase}{where}; resume with: {quote_command(*resume_words)}"
        )
    return ResultRows.from_records(
        STATIC_QUEUE_COLUMNS,
        moves,
        [errors_by_broker.get(name) for name in execution.final_plan.shares],
        notes,
        common={
            TOPIC: topic,
            RESULT: outcome_word(first_error),
            ERROR: first_error and error_text(first_error),
        },
    )


def _load_mapping(topic: str, map_file: str) -> MappingPlan:
    try:
        mapping_plan = mapping_files.load_mapping_file(Path(map_file))
    except InvalidMappingFileError as file_error:
        raise UsageError(f"{file_error}") from None
    if mapping_plan.topic != topic:
        raise UsageError(f'{map_file} is for the topic "{mapping_plan.topic}": pass its file')
    return mapping_plan
