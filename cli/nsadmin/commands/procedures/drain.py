"""drain, undrain, drainStatus: stop client writes to a broker, allow them again, list unfinished drains."""

from collections.abc import Callable, Iterator
from time import sleep, time
from typing import Annotated

from namesrv_core.errors import RocketMQError
from nsadmin import audit
from nsadmin.client import NotApplied, NotFound
from nsadmin.command_line.declarations import Argument, Option, declare_columns
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.commands.procedures.drain_options import (
    AllowUnreachableOption,
    BrokerNameArgument,
    IntervalOption,
    IntervalsOption,
    SettleTimeOption,
    ThresholdOption,
    parse_drain_rules,
    parse_interval_seconds,
)
from nsadmin.commands.procedures.live_output import ProcedureReporter
from nsadmin.commands.procedures.signals import StopRequestedError, catch_stop_signals
from nsadmin.commands.procedures.then_command import build_then_runner, then_fields
from nsadmin.exit_codes import CommandInterrupted
from nsadmin.library.drain_procedure import (
    RestoredServer,
    prepare_drain,
    prepare_undo,
    restored_server_of,
)
from nsadmin.operations import shell_command
from nsadmin.operations.drain.cluster_environment import ClusterEnvironment
from nsadmin.operations.drain.events import (
    EventRecord,
    HoldEnded,
    build_event_record,
    describe_record,
    join_first_names,
)
from nsadmin.operations.drain.facts import NameServerFacts
from nsadmin.operations.drain.risks import find_master_addr
from nsadmin.operations.drain.runner import DrainPlan, DrainRefused, ProcedureClock
from nsadmin.operations.drain.state import InvalidStateError
from nsadmin.operations.drain.store import SavedDrain, load_drains
from nsadmin.operations.drain.undo import find_differing_queues
from nsadmin.operations.inventory.keeper import open_inventory
from nsadmin.operations.state_folder import find_state_home
from nsadmin.output import OutputText, ResultRow, ResultRows
from nsadmin.output.timestamps import format_utc
from nsadmin.phrases import quote_command
from nsadmin.session import Session

DRAIN_COLUMNS = ("namesrvAddr", "brokerName", "topicCount", "openTopics", "result", "error")
UNDRAIN_COLUMNS = ("namesrvAddr", "brokerName", "topicCount", "how", "differing", "result", "error")
STATUS_COLUMNS = (
    "brokerName", "clusterName", "phase", "started", "by", "pid", "namesrvAddr", "topicCount", "openTopics",
    "reopened", "differing", "error",
)  # fmt: skip
STATUS_TABLE_COLUMNS = (
    "brokerName", "phase", "started", "pid", "namesrvAddr", "topicCount", "openTopics", "reopened",
    "differing", "error",
)  # fmt: skip

SYSTEM_CLOCK = ProcedureClock(lambda: int(time() * 1000), sleep)


@declare_columns(DRAIN_COLUMNS)
def drain(
    session: Session,
    broker_name: BrokerNameArgument,
    keep_holding: Annotated[
        bool, Option("--hold", help="Go on holding when it is safe, until Ctrl-C.")
    ] = False,
    then_command: Annotated[
        str | None,
        Option(
            "--then",
            metavar="COMMAND",
            help="What the shell is to run once it is safe; {brokerName} and {brokerAddr} are filled in, "
            "and are in NSADMIN_BROKER_NAME and NSADMIN_BROKER_ADDR.",
        ),
    ] = None,
    wait_for_consumers: Annotated[
        bool, Option("--for-good", help="Wait also until no consumer group has anything left to read here.")
    ] = False,
    durable: Annotated[
        bool,
        Option(
            "--durable",
            help="Through brokerPermission, which a restarted broker keeps, and not on name servers.",
        ),
    ] = False,
    force: Annotated[bool, Option("--force", help="Although topics would be left without a broker.")] = False,
    allow_unreachable: AllowUnreachableOption = False,
    max_messages: ThresholdOption = 0,
    settle_text: SettleTimeOption = "30s",
    interval_text: IntervalOption = "10s",
    quiet_intervals: IntervalsOption = 3,
) -> ResultRows | Iterator[OutputText]:
    """Stop writes to a broker, keep them stopped, and say when it can be stopped.

    First it is checked what would be left: it is refused, without --force, where a topic would lose its last
    queue that can be written to or its last master, and where clients go on writing whatever they are told
    (order configurations, static topics). Then the broker's queues are saved as each name server has them,
    the write permission is taken away on each, and routes are read back. Whatever a registration opens again
    is closed again. When clients had time to look and no message came for --intervals looks in a row, and
    slaves have all there is, it is safe to stop the broker. Then the command ends and no longer closes
    what a registration opens: stop the broker now, have --then stop it, or go on with --hold.

    All of that is kept in a file: a drain that was interrupted goes on when it is started again, and a second
    one of the same broker joins the first. undrain undoes it. The exit code is 3 where a name server did not
    answer in the end.

    --then is refused, before anything is done, if the name or address of the broker has a character that a
    shell could interpret, here or at the other end of ssh: only letters, digits and ._%:[]- are safe.

    Examples:
        # What would be left without the broker: some topics are on this one alone (exit code 1)
        nsadmin drain broker-a-0 --dry-run
        # All the same; about a minute later it can be stopped
        nsadmin drain broker-a-0 --force --yes
    """
    drain_plan = DrainPlan(
        broker_name,
        parse_drain_rules("drain", settle_text, quiet_intervals, max_messages, wait_for_consumers),
        parse_interval_seconds("drain", interval_text),
        durable,
        force,
        allow_unreachable,
        keep_holding,
        build_then_runner(broker_name, then_command, SYSTEM_CLOCK),
        audit.describe_user(),
    )
    prepared_drain = prepare_drain(
        session.admin,
        drain_plan,
        find_state_home(),
        SYSTEM_CLOCK.now_ms(),
        is_dry_run=session.is_dry_run,
    )
    servers = prepared_drain.servers
    if then_command is not None:
        shell_command.require_safe_fields(then_fields(broker_name, find_master_addr(servers)))
    saved_state = prepared_drain.saved_state
    if saved_state is not None:
        if saved_state.durable != durable:
            saved_mode = "durable" if saved_state.durable else "not durable"
            session.write_remark(f"the drain of {broker_name} that is kept is {saved_mode}, and goes on so")
        return _report_drain(session, drain_plan, prepared_drain.run_events)
    refusal = _refuse_risks(drain_plan, [risk.text for risk in prepared_drain.risks])
    if session.is_dry_run:
        return _dry_run_rows(broker_name, servers, refusal)
    if refusal is not None:
        raise refusal
    session.confirm_change(f"Drain {broker_name} on {', '.join(server.namesrv_addr for server in servers)}?")
    return _report_drain(session, drain_plan, prepared_drain.run_events)


def _refuse_risks(drain_plan: DrainPlan, risk_texts: list[str]) -> DrainRefused | None:
    if not risk_texts or drain_plan.force:
        return None
    return DrainRefused(f"{'; '.join(risk_texts)}; --force drains {drain_plan.broker} all the same")


def _dry_run_rows(
    broker_name: str, servers: tuple[NameServerFacts, ...], refusal: DrainRefused | None
) -> ResultRows:
    errors = [NotApplied(server.error) if server.error else refusal for server in servers]
    server_rows: list[ResultRow] = [
        {
            "namesrvAddr": server.namesrv_addr,
            "brokerName": broker_name,
            "topicCount": None if server.error else len(server.topics),
            "openTopics": None if server.error else len(server.open_topics),
            **outcome_cells(error, "dry-run"),
        }
        for server, error in zip(servers, errors, strict=True)
    ]
    return ResultRows(DRAIN_COLUMNS, server_rows, errors)


def _report_drain(
    session: Session, drain_plan: DrainPlan, begin_drain: Callable[[ProcedureClock], Iterator[EventRecord]]
) -> Iterator[OutputText]:
    """Run the drain and yield a line for each event; the last text decides the exit code."""
    report_event = ProcedureReporter(session, "drain", describe_record)
    safe_event: EventRecord | None = None
    ended_event: EventRecord | None = None
    with catch_stop_signals(SYSTEM_CLOCK) as stop_signal, report_event:
        try:
            for drain_event in begin_drain(stop_signal.stoppable_clock):
                ended_event = drain_event if drain_event["event"] == "commandEnded" else ended_event
                safe_event = {"safe": drain_event, "unsafe": None, "reopened": None}.get(
                    drain_event["event"], safe_event
                )
                if drain_event["event"] == "safe" and drain_plan.rules.for_good:
                    # The operator is about to remove the broker, so nobody will miss it.
                    open_inventory(session).mark_leaving(drain_plan.broker)
                yield report_event(drain_event)
                stop_signal.raise_if_requested()
        except StopRequestedError:
            if not (drain_plan.hold and safe_event):
                raise CommandInterrupted(
                    f"interrupted; the drain is kept: {quote_command('drain', drain_plan.broker)} goes on "
                    f"with it, {quote_command('undrain', drain_plan.broker)} undoes it"
                ) from None
        if safe_event and not drain_plan.hold and (ended_event is None or ended_event["code"]):
            hold_ended = HoldEnded(SYSTEM_CLOCK.now_ms(), drain_plan.broker)
            yield report_event(build_event_record(hold_ended))
    if ended_event is not None and ended_event["code"]:
        raise DrainRefused(
            f"the command of --then ended with {ended_event['code']}; {drain_plan.broker} stays drained"
        )
    unknown_addrs = [] if safe_event is None or drain_plan.allow_unreachable else safe_event["unknown"]
    if unknown_addrs and drain_plan.then is not None and ended_event is None:
        session.write_remark(f"the command of --then was not run: {', '.join(unknown_addrs)} did not answer")
    yield OutputText(
        "", [*(NotApplied(f"{namesrv_addr} did not answer") for namesrv_addr in unknown_addrs), None]
    )


@declare_columns(UNDRAIN_COLUMNS)
def undrain(session: Session, broker_name: BrokerNameArgument) -> ResultRows:
    """Allow writes to a drained broker again, exactly as they were allowed before the drain.

    Each name server is given the queues that it had, topic by topic; topics that were created or changed on
    the broker since keep what they have there. Name servers of 4.x do not take that: for them the broker is
    told to register all that it has. Routes are read back; what is not as before is shown, with exit code 3,
    and the drain stays kept.

    Examples:
        # Producers come back to broker-a-0
        nsadmin undrain broker-a-0 --yes
    """
    prepared_undo = prepare_undo(session.admin, broker_name, find_state_home())
    if session.is_dry_run:
        return _undo_rows(broker_name, [_undo_row(server) for server in prepared_undo.preview_servers()])
    session.confirm_change(
        f"Allow writes to {broker_name} on "
        f"{', '.join(server.namesrv_addr for server in prepared_undo.servers)} as before?"
    )
    open_inventory(session).mark_leaving(broker_name, is_leaving=False)
    undo_events = list(prepared_undo.run_events(SYSTEM_CLOCK))
    return _undo_rows(
        broker_name,
        [
            _undo_row(restored_server_of(undo_event))
            for undo_event in undo_events
            if undo_event["event"] == "putBack"
        ],
    )


def _undo_row(server: RestoredServer) -> ResultRow:
    error = server.error or (
        f"not as before: "
        f"{join_first_names(f'{topic} ({reason})' for topic, reason in server.differing_topics.items())}"
        if server.differing_topics
        else None
    )
    done_result = "dry-run" if server.method is None else "done"
    return {
        "namesrvAddr": server.addr,
        "topicCount": server.topic_count,
        "how": server.method,
        "differing": server.differing_topics or None,
        "result": "failed" if server.error else "partly" if server.differing_topics else done_result,
        "error": error,
    }


def _undo_rows(broker_name: str, server_rows: list[ResultRow]) -> ResultRows:
    errors: list[RocketMQError | None] = []
    for row in server_rows:
        errors.append(NotApplied(str(row["error"])) if row["error"] else None)
        if row["result"] == "partly":
            # Other topics are as before: the None makes the exit code that of a partial failure.
            errors.append(None)
    notes = [f"{row['namesrvAddr']}: {row['error']}" for row in server_rows if row["error"]]
    table_columns = tuple(column_name for column_name in UNDRAIN_COLUMNS if column_name != "differing")
    return ResultRows(
        UNDRAIN_COLUMNS,
        [{"brokerName": broker_name, **row} for row in server_rows],
        errors,
        notes,
        table_columns,
    )


@declare_columns(STATUS_COLUMNS)
def drain_status(
    session: Session,
    broker_name: Annotated[
        str | None,
        Argument(("-b", "--brokerName"), "BROKER", "Only the drain of this broker.", required=False),
    ] = None,
) -> ResultRows:
    """List the drains that are not undone, half-finished ones too, and what differs now from what should be.

    A drained broker should have no topic open to writes; while a drain is being undone, topics should be as
    before it. pid is the process that is at it now.

    Examples:
        # All of them
        nsadmin drainStatus
    """
    status_rows: list[ResultRow] = []
    errors: list[RocketMQError | None] = []
    for saved_drain in load_drains(find_state_home()):
        if isinstance(saved_drain, InvalidStateError):
            status_rows.append({"error": str(saved_drain)})
            errors.append(saved_drain)
        elif broker_name in (None, saved_drain.drain_state.broker):
            for row in _status_rows(session, saved_drain):
                status_rows.append(row)
                errors.append(NotApplied(str(row["error"])) if row["error"] else None)
    if broker_name is not None and not status_rows:
        raise NotFound(f"no drain of {broker_name} is kept in {find_state_home() / 'drains'}")
    return ResultRows(STATUS_COLUMNS, status_rows, errors, (), STATUS_TABLE_COLUMNS)


def _status_rows(session: Session, saved_drain: SavedDrain) -> Iterator[ResultRow]:
    drain_state = saved_drain.drain_state
    common_cells: ResultRow = {
        "brokerName": drain_state.broker,
        "clusterName": drain_state.cluster,
        "phase": drain_state.phase,
        "started": format_utc(drain_state.started),
        "by": drain_state.by,
        "pid": saved_drain.holder_pid,
    }
    cluster_view = ClusterEnvironment(session.admin, drain_state.broker)
    servers = cluster_view.read_servers()
    own_queues = (
        cluster_view.read_own_queues(find_master_addr(servers) or "") if find_master_addr(servers) else None
    )
    for server in servers:
        status_row: dict[str, object] = {
            **common_cells,
            "namesrvAddr": server.namesrv_addr,
            "reopened": drain_state.count_reopens(server.namesrv_addr),
            "error": server.error,
        }
        if server.error is None:
            known_queues = None if isinstance(own_queues, str) else own_queues
            differing_topics = find_differing_queues(saved_drain.queue_snapshot, known_queues, server)
            wrong_topics = list(differing_topics) if drain_state.phase == "undrain" else server.open_topics
            status_row |= {
                "topicCount": len(server.topics),
                "openTopics": len(server.open_topics),
                "differing": _describe_difference(drain_state.phase, server, wrong_topics),
            }
        yield status_row


def _describe_difference(drain_phase: str, server: NameServerFacts, wrong_topics: list[str]) -> str | None:
    if not server.member_addrs:
        return "the broker is not registered there"
    if not wrong_topics:
        return None
    return f"{join_first_names(wrong_topics)} {'not as before' if drain_phase == 'undrain' else 'open'}"
