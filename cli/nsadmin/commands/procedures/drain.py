"""Owns drain, undrain and drainStatus, which stop client writes to a broker and allow them again."""

from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, NamedTuple

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client import NotApplied, NotFound
from nsadmin.client.advised_command import quote_command
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.brokers import BROKER_NAME, CLUSTER_NAME
from nsadmin.commands.columns.changes import RESULT
from nsadmin.commands.columns.servers import ERROR, NAMESRV_ADDR, outcome_word
from nsadmin.commands.procedures import signals
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
from nsadmin.commands.procedures.then_command import build_then_runner, then_fields
from nsadmin.console import audit
from nsadmin.console.exit_codes import CommandInterrupted, UsageError
from nsadmin.console.output import Column, Columns, OutputText, ResultRows, of_part
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.library.drain_procedure import (
    PreparedDrain,
    RestoredServer,
    explain_missing_drain,
    find_drain_folder,
    prepare_drain,
    prepare_undo,
    refuse_foreign_drain,
    restored_server_of,
)
from nsadmin.operations import shell_command
from nsadmin.operations.drain.cluster_environment import ClusterEnvironment
from nsadmin.operations.drain.events import (
    HoldEnded,
    describe_record,
    join_first_names,
)
from nsadmin.operations.drain.facts import NameServerFacts
from nsadmin.operations.drain.risks import (
    DrainRisk,
    describe_refusals,
    find_master_addr,
    find_slave_addrs,
    list_left_out,
)
from nsadmin.operations.drain.runner import DrainPlan, DrainRefused
from nsadmin.operations.drain.state import NO_DRAIN, DrainState, SavedDrain, load_drains
from nsadmin.operations.drain.undo import NOTHING_TO_DO, find_differing_queues
from nsadmin.operations.installation import Installation
from nsadmin.operations.inventory.keeper import open_inventory
from nsadmin.operations.run_folder import EventRecord, InvalidStateError
from nsadmin.operations.slave_reads import describe_refusal, find_refusing_slaves
from nsadmin.operations.state_folder import find_state_home


class DrainPreview(NamedTuple):
    """The broker on one name server before a drain, and why the drain would fail there."""

    server: NameServerFacts
    error: RocketMQError | None

    @property
    def result(self) -> str:
        return outcome_word(self.error, "dry-run")


_TOPIC_COUNT: Column[NameServerFacts] = Column(
    "topicCount",
    "topics of the broker on the name server",
    lambda s: None if s.error else len(s.topics),
)
_OPEN_TOPICS: Column[NameServerFacts] = Column(
    "openTopics",
    "topics of the broker that are open to writes",
    lambda s: None if s.error else len(s.open_topics),
)
DRAIN_COLUMNS: Columns[DrainPreview] = (
    NAMESRV_ADDR.of(lambda p: p.server.namesrv_addr),
    BROKER_NAME,
    *of_part(lambda p: p.server, (_TOPIC_COUNT, _OPEN_TOPICS)),
    RESULT,
    ERROR,
)


def _undo_error(server: RestoredServer) -> str | None:
    if server.error or not server.differing_topics:
        return server.error
    differences = (f"{topic} ({reason})" for topic, reason in server.differing_topics.items())
    return f"not as before: {join_first_names(differences)}"


def _undo_result(server: RestoredServer) -> str:
    if server.error:
        return "failed"
    if server.differing_topics:
        return "partly"
    return {None: "dry-run", NOTHING_TO_DO: "unchanged"}.get(server.method, "done")


UNDRAIN_COLUMNS: Columns[RestoredServer] = (
    NAMESRV_ADDR,
    BROKER_NAME,
    Column(
        "topicCount",
        "topics that are as before the drain; in a dry run, those that will be",
        lambda s: s.topic_count,
    ),
    Column(
        "how",
        "topic by topic, by a registration of the broker, rw- for all, or nothing to do",
        lambda s: s.method,
    ),
    Column(
        "differing",
        "topics that are not as before, with the reason",
        lambda s: s.differing_topics or None,
        wide=True,
    ),
    Column("result", "done, unchanged, partly, failed or dry-run", _undo_result),
    ERROR.of(_undo_error),
)


class StatusRow(NamedTuple):
    """A saved drain on one name server, or a drain that cannot be read."""

    state: DrainState | None
    pid: int | None
    server: NameServerFacts | None
    differing: str | None
    error: str | None

    @property
    def reopen_count(self) -> int | None:
        if self.state is None or self.server is None:
            return None
        return self.state.count_reopens(self.server.namesrv_addr)


STATUS_COLUMNS: Columns[StatusRow] = (
    *of_part(
        lambda r: r.state,
        (
            BROKER_NAME.of(lambda s: s.broker),
            CLUSTER_NAME.in_wide().of(lambda s: s.cluster),
            Column(
                "phase",
                "snapshot, wipe, settle, wait or safe; undrain while it is being undone",
                lambda s: s.phase,
            ),
            Column("started", "start of the drain (UTC)", lambda s: format_utc(s.started)),
            Column("by", "user who started the drain", lambda s: s.by, wide=True),
        ),
    ),
    Column("pid", "process that runs the drain now; null for none", lambda r: r.pid),
    *of_part(lambda r: r.server, (NAMESRV_ADDR.of(lambda s: s.namesrv_addr), _TOPIC_COUNT, _OPEN_TOPICS)),
    Column(
        "reopened",
        "how often a registration opened topics again there; null if unknown",
        lambda r: r.reopen_count,
    ),
    Column("differing", "the unexpected state; null if all is as expected", lambda r: r.differing),
    ERROR.of(lambda r: r.error),
)


@command(columns=DRAIN_COLUMNS)
def drain(
    session: Session,
    broker_name: BrokerNameArgument,
    keep_holding: Annotated[
        bool, Option("--hold", help="Keep the broker drained after it is safe to stop, until Ctrl-C.")
    ] = False,
    then_command: Annotated[
        str | None,
        Option(
            "--then",
            metavar="COMMAND",
            help="Shell command to run when the broker is safe to stop. {brokerName} and {brokerAddr} "
            "are replaced, and are in NSADMIN_BROKER_NAME and NSADMIN_BROKER_ADDR.",
        ),
    ] = None,
    wait_for_consumers: Annotated[
        bool,
        Option("--for-good", help="Also wait until consumer groups have read all messages on the broker."),
    ] = False,
    move_queues: Annotated[
        bool,
        Option("--move-queues", help="With --for-good: first move the broker's queues to other brokers."),
    ] = False,
    allow_ordered: Annotated[
        bool,
        Option(
            "--ordered",
            help="With --move-queues: also move ordered topics, and keep the sequence of every key.",
        ),
    ] = False,
    durable: Annotated[
        bool,
        Option(
            "--durable",
            help="Change brokerPermission, which survives a restart of the broker, instead of name servers.",
        ),
    ] = False,
    force: Annotated[
        bool, Option("--force", help="Drain even if some topics lose their only writable broker.")
    ] = False,
    allow_unreachable: AllowUnreachableOption = False,
    max_messages: ThresholdOption = 0,
    settle_text: SettleTimeOption = "30s",
    interval_text: IntervalOption = "10s",
    quiet_intervals: IntervalsOption = 3,
) -> ResultRows | Iterator[OutputText]:
    """Stop writes to a broker, keep them stopped, and report when the broker is safe to stop.

    First, nsadmin checks the risks. Without --force, it refuses the drain if a topic would lose its last
    writable queue or its last master, or if clients would continue to write (order configurations, static
    topics). Use --dry-run to list these topics.

    Then nsadmin saves the broker's queues from each name server, removes the write permission on each, and
    reads the routes back. If a registration restores the permission, nsadmin removes it again. The broker is
    safe to stop when clients have refreshed their routes, no message has arrived for --intervals checks in a
    row, and slaves have all messages. A line on stderr has the number of messages that consumers have not
    read yet. With --for-good, nsadmin also waits for them.

    Then the command ends, and a later registration can restore the permission. So stop the broker
    immediately, let --then stop it, or use --hold to keep the broker drained.

    Safe to interrupt. Run the same command to resume. To undo a drain, run undrain. If you start a second
    drain of the same broker, it joins the first drain. The exit code is 3 if a name server did not answer in
    the end, or did not list the broker.

    With --for-good --move-queues, nsadmin first moves the broker's queues to the other brokers of its
    cluster, like `nsadmin rebalance run`. Ordered topics also need --ordered. undrain does not move the
    queues back.

    nsadmin refuses --then if the broker's name or address contains characters that a shell could interpret.
    Safe characters are letters, digits and ._%:[]-

    Examples:
        # Before a restart or maintenance: stop writes without losing messages, until it is safe to stop
        nsadmin drain broker-a-1 --yes
        # Preview the risks; here some topics have only this broker (exit code 1)
        nsadmin drain broker-a-0 --dry-run
        # Drain it anyway; it is safe to stop after about a minute
        nsadmin drain broker-a-0 --force --yes
        # Also wait until consumers have read all messages of the broker; a preview
        nsadmin drain broker-a-1 --for-good --dry-run
        # Remove a broker from its cluster for good, or replace its machine; a preview (exit code 1)
        nsadmin drain broker-a-0 --for-good --move-queues --ordered --dry-run
    """
    drain_plan = DrainPlan(
        broker_name,
        parse_drain_rules(settle_text, quiet_intervals, max_messages, wait_for_consumers),
        parse_interval_seconds(interval_text),
        durable,
        force,
        allow_unreachable,
        keep_holding,
        build_then_runner(broker_name, then_command, signals.SYSTEM_CLOCK),
        audit.describe_user(),
    )
    if move_queues and not wait_for_consumers:
        raise UsageError("--move-queues needs --for-good: the queues do not come back by undrain")
    if not move_queues:
        if allow_ordered:
            raise UsageError("--ordered needs --move-queues: a drain alone moves no topic")
        return _check_and_drain(session, drain_plan, then_command)
    from nsadmin.commands.procedures.queue_removal import move_queues_first, prepare_move, preview_moves

    run_order = prepare_move(session, drain_plan, allow_ordered=allow_ordered)
    if session.is_dry_run:
        return _check_and_drain(session, drain_plan, then_command, preview_moves(session, run_order))
    return move_queues_first(session, run_order, lambda: _check_and_drain(session, drain_plan, then_command))


def _check_and_drain(
    session: Session, drain_plan: DrainPlan, then_command: str | None, moved_topics: Collection[str] = ()
) -> ResultRows | Iterator[OutputText]:
    """Check the risks, ask, and drain the broker or resume its drain. `moved_topics` have left it by then."""
    broker_name = drain_plan.broker
    prepared_drain = prepare_drain(
        session.admin,
        drain_plan,
        find_state_home(),
        signals.SYSTEM_CLOCK.now_ms(),
        open_inventory(session),
        is_dry_run=session.is_dry_run,
        moved_topics=moved_topics,
    )
    servers = prepared_drain.servers
    if then_command is not None:
        shell_command.require_safe_fields(then_fields(broker_name, find_master_addr(servers)))
    saved_state = prepared_drain.saved_state
    if saved_state is not None:
        if saved_state.durable != drain_plan.durable:
            mode = "with" if saved_state.durable else "without"
            session.write_remark(f"the drain of {broker_name} was started {mode} --durable, and continues so")
        return _report_drain(session, drain_plan, prepared_drain)
    risks = prepared_drain.risks
    if session.is_dry_run:
        refusal = DrainRefused("; ".join(risk.text for risk in risks))
        rows = _dry_run_rows(broker_name, servers, refusal if risks and not drain_plan.force else None, risks)
        return rows._replace(notes=[*rows.notes, *_unread_notes(session, prepared_drain)])
    if risks and not drain_plan.force:
        first_line, *other_lines = describe_refusals(risks)
        # With --move-queues, the queues have moved already.
        refusal = DrainRefused(f"the drain did not begin: {first_line}")
        for line in other_lines:
            refusal.add_note(line)
        raise refusal
    session.confirm_change(f"Drain {broker_name} on {', '.join(server.namesrv_addr for server in servers)}?")
    return _report_drain(session, drain_plan, prepared_drain)


def _dry_run_rows(
    broker_name: str,
    servers: tuple[NameServerFacts, ...],
    refusal: DrainRefused | None,
    risks: Sequence[DrainRisk],
) -> ResultRows:
    """A row for each name server, and a note with all topics of each risk and its remedy."""
    previews = [DrainPreview(s, NotApplied(s.error) if s.error else refusal) for s in servers]
    # The text of a risk ends with its first topics in parentheses.
    notes = describe_refusals(
        risk._replace(text=f"{risk.text.rpartition(' (')[0]} ({', '.join(risk.topics)})")
        if risk.topics
        else risk
        for risk in risks
    )
    notes += [
        f"{s.namesrv_addr} does not list {broker_name}: its clients may still write, and the drain would "
        "end with exit code 3"
        for s in servers
        if s.error is None and not s.member_addrs
    ]
    return ResultRows.from_records(
        DRAIN_COLUMNS, previews, [p.error for p in previews], notes, common={BROKER_NAME: broker_name}
    )


def _unread_notes(session: Session, prepared_drain: PreparedDrain) -> list[str]:
    """Say that consumers have not read all messages on the broker, unless the drain waits for them."""
    plan, servers = prepared_drain.plan, prepared_drain.servers
    master_addr = find_master_addr(servers)
    if plan.rules.for_good or master_addr is None:
        return []
    broker = prepared_drain.environment.read_broker(master_addr, {}, None, with_lag=True)
    if broker.lag_by_group is None:
        reason = f": {broker.error}" if broker.error else ""
        return [f"it is unknown how many unread messages {plan.broker} has{reason}"]
    lags = [lag.messages for lag in broker.lag_by_group.values() if lag.messages]
    if not lags:
        return []
    slave_ids = {addr: broker_id for broker_id, addr in find_slave_addrs(servers).items()}
    errors_by_slave = find_refusing_slaves(session.admin, slave_ids)
    refusing = [slave_ids[addr] for addr, error in errors_by_slave.items() if error is None]
    delivery = "they are delivered only after it has started again"
    if len(errors_by_slave) < len(slave_ids):
        delivery = "while it is stopped, only its slaves can deliver them"
    elif refusing:
        delivery = "while it is stopped, nobody can deliver them"
    unread = f"{count_noun(sum(lags), 'unread message')} of {count_noun(len(lags), 'group')}"
    return [
        f"{plan.broker} has {unread}: {delivery}; --for-good waits until all are read",
        *(describe_refusal(f"{plan.broker}:{broker_id}") for broker_id in sorted(refusing)),
    ]


def _report_drain(
    session: Session, drain_plan: DrainPlan, prepared_drain: PreparedDrain
) -> Iterator[OutputText]:
    """Run the drain and yield a line for each event; the last text decides the exit code."""
    report_event = ProcedureReporter(session, "drain", describe_record)
    safe_event: EventRecord | None = None
    ended_event: EventRecord | None = None
    interruption = (
        "interrupted; the drain is saved: run the same command to resume it, or "
        f"`{quote_command('undrain', drain_plan.broker)}` to undo it"
    )
    try:
        for drain_event, line in report_event.follow(prepared_drain.run_events, interruption):
            ended_event = drain_event if drain_event["event"] == "commandEnded" else ended_event
            safe_event = {"safe": drain_event, "unsafe": None, "reopened": None}.get(
                drain_event["event"], safe_event
            )
            if drain_event["event"] == "safe" and drain_plan.rules.for_good:
                # The operator is about to remove the broker, so it is not missing afterwards.
                open_inventory(session).mark_leaving(drain_plan.broker)
            yield line
            # The command of --then waits for nothing.
            if drain_event["event"] == "safe" and drain_plan.then is None:
                for note in _unread_notes(session, prepared_drain):
                    session.write_remark(note)
    except CommandInterrupted:
        if not (drain_plan.hold and safe_event):
            raise
    if safe_event and not drain_plan.hold and (ended_event is None or ended_event["code"]):
        hold_ended = HoldEnded(signals.SYSTEM_CLOCK.now_ms(), drain_plan.broker)
        yield report_event(hold_ended.to_record())
    if ended_event is not None and ended_event["code"]:
        raise DrainRefused(
            f"the command of --then failed with exit code {ended_event['code']}; {drain_plan.broker} stays "
            "drained"
        )
    unknown_addrs = [] if safe_event is None or drain_plan.allow_unreachable else safe_event["unknown"]
    if unknown_addrs and drain_plan.then is not None and ended_event is None:
        session.write_remark(
            f"the command of --then did not run: {', '.join(unknown_addrs)} did not "
            f"answer, or did not list {drain_plan.broker}"
        )
    yield OutputText(
        "",
        [
            *(
                NotApplied(f"{namesrv_addr} did not answer, or did not list {drain_plan.broker}")
                for namesrv_addr in unknown_addrs
            ),
            None,
        ],
    )


@command(columns=UNDRAIN_COLUMNS)
def undrain(session: Session, broker_name: BrokerNameArgument) -> ResultRows:
    """Allow writes to a drained broker again, exactly as before the drain.

    nsadmin restores the saved queues on each name server, topic by topic. Topics that were created or changed
    on the broker after the drain began keep their new state. Name servers of 4.x do not accept single topics,
    so the broker registers all of its topics there. Then nsadmin reads the routes back. If a topic differs
    from its state before the drain, the exit code is 3, and the drain stays saved.

    Examples:
        # After maintenance: bring broker-a-0 back, and let producers write to it
        nsadmin undrain broker-a-0 --yes
    """
    prepared_undo = prepare_undo(session.admin, broker_name, find_state_home())
    if session.is_dry_run:
        return _undo_rows(broker_name, prepared_undo.preview_servers())
    session.confirm_change(
        f"Allow writes to {broker_name} on "
        f"{', '.join(server.namesrv_addr for server in prepared_undo.servers)} as before the drain?"
    )
    open_inventory(session).mark_leaving(broker_name, is_leaving=False)
    undo_events = list(prepared_undo.run_events(signals.SYSTEM_CLOCK))
    rows = _undo_rows(
        broker_name, [restored_server_of(event) for event in undo_events if event["event"] == "putBack"]
    )
    left_out = list_left_out(broker_name, prepared_undo.environment.read_servers())
    when = "producers send to it again within 30 seconds, when they next read the routes"
    table_notes = [] if any(rows.errors) or rows.notes else [when]
    return rows._replace(notes=[*rows.notes, *left_out], table_notes=table_notes)


def _undo_rows(broker_name: str, servers: Sequence[RestoredServer]) -> ResultRows:
    errors, notes = list[RocketMQError | None](), []
    for server in servers:
        error = _undo_error(server)
        errors.append(NotApplied(error) if error else None)
        notes += [f"{server.addr}: {error}"] if error else []
        if server.closed_topics:
            closed = count_noun(len(server.closed_topics), "topic")
            note = f"{server.addr}: as before the drain, clients cannot write to {closed} of {broker_name}"
            repair = f": `{quote_command('repair', 'wipe', broker_name)}` restores the permissions"
            # The dry run has not undone the drain, and a drained broker is not repaired.
            notes.append(note if server.method is None else note + repair)
        if _undo_result(server) == "partly":
            # Other topics are as before: the None makes the exit code that of a partial failure.
            errors.append(None)
    common = {BROKER_NAME: broker_name}
    return ResultRows.from_records(UNDRAIN_COLUMNS, servers, errors, notes, common=common)


@command(columns=STATUS_COLUMNS, nothing=NO_DRAIN)
def drain_status(
    session: Session,
    broker_name: Annotated[
        str | None,
        Argument(metavar="BROKER", help="Only the drain of this broker."),
        Flags("-b", "--brokerName"),
    ] = None,
) -> ResultRows:
    """List drains that were not undone, also interrupted ones, and their unexpected state.

    Drains of other servers, of an installation with equal names for example, are named on stderr.

    On a drained broker, all topics must be closed to writes. During undrain, topics must be as before the
    drain. pid is the process that runs the drain now.

    Examples:
        # Which brokers are drained, for maintenance or for good
        nsadmin drainStatus
    """
    rows, errors, notes = list[StatusRow](), list[RocketMQError | None](), list[str]()
    installation = Installation(session.admin)
    for saved_drain in load_drains(installation.state_home):
        if isinstance(saved_drain, InvalidStateError):
            rows.append(StatusRow(None, None, None, None, str(saved_drain)))
            errors.append(saved_drain)
        elif broker_name not in (None, saved_drain.state.broker):
            continue
        elif installation.owns(saved_drain.state):
            for row in _list_status(session, saved_drain):
                rows.append(row)
                errors.append(NotApplied(row.error) if row.error else None)
        else:
            state = saved_drain.state
            notes.append(
                f"a drain of {state.broker} belongs to {state.owner}: `{state.advise('drainStatus')}`"
            )
    if broker_name is not None and not rows:
        refuse_foreign_drain(installation.state_home, broker_name, "drainStatus")
        environment = ClusterEnvironment(session.admin, broker_name)
        servers = environment.read_servers()
        folder = find_drain_folder(broker_name, servers, installation)
        raise NotFound(explain_missing_drain(broker_name, environment, servers, folder))
    return ResultRows.from_records(STATUS_COLUMNS, rows, errors, notes)


def _list_status(session: Session, saved_drain: SavedDrain) -> Iterator[StatusRow]:
    drain_state = saved_drain.state
    cluster_view = ClusterEnvironment(session.admin, drain_state.broker)
    servers = cluster_view.read_servers()
    master_addr = find_master_addr(servers)
    own_queues = cluster_view.read_own_queues(master_addr) if master_addr else None
    for server in servers:
        differing = None
        if server.error is None:
            known_queues = None if isinstance(own_queues, str) else own_queues
            differing_topics = find_differing_queues(saved_drain.snapshot, known_queues, server)
            wrong_topics = list(differing_topics) if drain_state.phase == "undrain" else server.open_topics
            differing = _describe_difference(drain_state.phase, server, wrong_topics)
        yield StatusRow(drain_state, saved_drain.holder_pid, server, differing, server.error)


def _describe_difference(drain_phase: str, server: NameServerFacts, wrong_topics: list[str]) -> str | None:
    if not server.member_addrs:
        return "the broker is not registered there"
    if not wrong_topics:
        return None
    return f"{'not as before' if drain_phase == 'undrain' else 'writable'}: {join_first_names(wrong_topics)}"
