"""Owns `rebalance run`, which moves queues as a plan says, and moves them back with --rollback."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

from typer import Argument, Option

from namesrv_core import operator_files
from nsadmin.client.advised_command import quote_command
from nsadmin.client.results import NotApplied
from nsadmin.command_line.argument_values import parse_duration_seconds
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.changes import RESULT
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.procedures import signals
from nsadmin.commands.procedures.drain_options import parse_interval_seconds
from nsadmin.commands.procedures.live_output import ProcedureReporter
from nsadmin.console import audit
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, OutputText, ResultRows
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.inventory.keeper import open_inventory
from nsadmin.operations.plans.yaml_reader import InvalidPlanFileError
from nsadmin.operations.rebalance.rebalance_plan import (
    NO_QUEUES,
    QueuePair,
    RebalancePlan,
    load_rebalance_plan,
)
from nsadmin.operations.rebalance.rebalance_runner import RunOrder
from nsadmin.operations.rebalance.run_events import describe_record, list_progress_facts
from nsadmin.operations.rebalance.run_preparation import PendingRun, find_queues, open_run
from nsadmin.operations.rebalance.run_rules import RunRules
from nsadmin.operations.state_folder import find_state_home


class QueueChange(NamedTuple):
    """The change of a topic's queues on one broker. `before` is None if the broker does not answer."""

    topic: str
    broker_name: str
    before: QueuePair | None
    after: QueuePair
    is_ordered: bool


RUN_COLUMNS: Columns[QueueChange] = (
    TOPIC,
    BROKER_NAME,
    Column("readBefore", "read queues on the broker now", lambda c: c.before and c.before.read),
    Column("readAfter", "read queues on the broker after the run", lambda c: c.after.read),
    Column("writeBefore", "write queues on the broker now", lambda c: c.before and c.before.write),
    Column("writeAfter", "write queues on the broker after the run", lambda c: c.after.write),
    Column("ordered", "whether the sequence of keys matters", lambda c: c.is_ordered),
    RESULT.means("dry-run").of(lambda c: "dry-run"),
)

_MAX_PROBLEMS = 10


@command(
    columns=RUN_COLUMNS,
    agent_refusal="it reads local files",
    examples=("elsewhere", "a run waits for consumers; interop tests run plans on real brokers"),
)
def rebalance_run(
    session: Session,
    plan_file: Annotated[
        str,
        Argument(metavar="PLAN", help="A plan of `nsadmin rebalance plan`."),
        Flags("--file"),
        Values("files"),
    ],
    is_rollback: Annotated[
        bool, Option("--rollback", help="Move the topics back to where they were before this plan.")
    ] = False,
    allow_ordered: Annotated[
        bool, Option("--ordered", help="Also move ordered topics, and keep the sequence of every key.")
    ] = False,
    ignored_groups: Annotated[
        list[str] | None,
        Option(
            "--ignore-group",
            metavar="GROUP",
            help="Do not wait for this group: it loses its unconsumed messages. Repeatable, or a list: A,B.",
        ),
        Values("groups"),
    ] = None,
    max_topics: Annotated[
        int, Option("--max-topics", metavar="N", help="Topics that move at once. Default: 10.", min=1)
    ] = 10,
    max_share: Annotated[
        int,
        Option(
            "--max-share",
            metavar="PERCENT",
            help="Percent of the cluster's write queues whose topics move at once. Default: 20.",
            min=1,
        ),
    ] = 20,
    max_lag: Annotated[
        int | None,
        Option(
            "--max-lag",
            metavar="N",
            help="Pause if a group has more unconsumed messages of a moving topic. Default: no limit.",
            min=0,
        ),
    ] = None,
    max_disk: Annotated[
        int,
        Option(
            "--max-disk",
            metavar="PERCENT",
            help="Pause if a broker that gets queues uses more of its disk. Default: 85.",
            min=1,
        ),
    ] = 85,
    max_send_errors: Annotated[
        int,
        Option(
            "--max-send-errors",
            metavar="N",
            help="Pause if a broker fails to store more messages per minute. Default: 60.",
            min=0,
        ),
    ] = 60,
    timeout_text: Annotated[
        str | None,
        Option("--step-timeout", metavar="DURATION", help="Pause if a step takes longer. Default: no limit."),
    ] = None,
    settle_text: Annotated[
        str,
        Option(
            "--settle",
            metavar="DURATION",
            help="How long clients need to refresh their routes and to share out queues. Default: 60s.",
        ),
    ] = "60s",
    interval_text: Annotated[
        str, Option("--interval", metavar="DURATION", help="Time between two checks. Default: 5s.")
    ] = "5s",
) -> ResultRows | Iterator[OutputText]:
    """Move queues between brokers as a plan says, without send errors and without losing a message.

    First, nsadmin creates missing groups on brokers that get queues. Then it opens the new queues of a topic
    to consumers, and then to producers. It closes the old queues to producers, waits until every group has
    consumed them, and removes them. It reads each step back from every broker and name server.

    nsadmin refuses a plan if the cluster has changed since it was made. It pauses if a limit is exceeded, or
    if another change is in the way. The exit code is 3 then.

    Safe to interrupt. Run the same command to resume. --rollback moves the topics back, also while the plan
    is not finished.

    Ordered topics need --ordered, and name servers with orderMessageEnable=true. Their producers change to
    other queues with an order configuration, and consumers get the next queues only after they consumed the
    previous ones. Static topics are refused.

    Examples:
        # Show what the plan still changes on each broker, and its risks
        nsadmin rebalance run plan.yaml --dry-run
        # Move the queues
        nsadmin rebalance run plan.yaml --yes
        # Move them back
        nsadmin rebalance run plan.yaml --rollback --yes
    """
    plan = load_plan_file(plan_file)
    timeout_seconds = (
        None if timeout_text is None else parse_duration_seconds("--step-timeout", timeout_text, 1, 604_800)
    )
    rules = RunRules(
        settle_ms=round(parse_duration_seconds("--settle", settle_text, 0.1, 3600) * 1000),
        max_topics=max_topics,
        max_share=max_share / 100,
        timeout_ms=None if timeout_seconds is None else round(timeout_seconds * 1000),
        ignored_groups=frozenset(ignored_groups or ()),
        allow_ordered=allow_ordered,
        max_lag=max_lag,
        max_disk=max_disk / 100,
        max_failed_puts=max_send_errors,
    )
    run_order = RunOrder(
        plan, rules, parse_interval_seconds(interval_text), is_rollback, audit.describe_user()
    )
    return run_plan(session, run_order, plan_file)


def load_plan_file(plan_file: str) -> RebalancePlan:
    """Read a plan. Raises UsageError with a line for each problem."""
    try:
        return load_rebalance_plan(Path(plan_file))
    except OSError as error:
        raise UsageError(operator_files.explain_unreadable(plan_file, error)) from None
    except InvalidPlanFileError as error:
        first_problem, *other_problems = error.problem_lines
        usage_error = UsageError(first_problem)
        for problem_line in other_problems[: _MAX_PROBLEMS - 1]:
            usage_error.add_note(problem_line)
        raise usage_error from None


def run_plan(
    session: Session, run_order: RunOrder, plan_file: str | None = None
) -> ResultRows | Iterator[OutputText]:
    """Check a plan, ask, and run or resume it. `plan_file` is None for a plan that only the run has."""
    pending_run = open_run(
        session.admin,
        run_order,
        find_state_home(),
        signals.SYSTEM_CLOCK.now_ms(),
        open_inventory(session),
    )
    if session.is_dry_run:
        return _dry_run_rows(pending_run)
    for risk in pending_run.risks:
        session.write_remark(f"risk: {risk}")
    action = "Move back" if run_order.is_rollback else "Move"
    topics = count_noun(len(pending_run.open_moves), "topic")
    session.confirm_change(f"{action} the queues of {topics} in {run_order.plan.cluster}?")
    return _report_run(session, pending_run, plan_file or str(pending_run.folder.plan_file))


def _dry_run_rows(pending_run: PendingRun) -> ResultRows:
    """A row for each topic and broker whose queues still change, and the risks as notes."""
    moves, is_rollback = pending_run.open_moves, pending_run.run_order.is_rollback
    brokers = {broker for move in moves for broker in (*move.before, *move.after)}
    results = pending_run.environment.read_topics(sorted(brokers))
    changes = []
    for move in moves:
        last = move.before if is_rollback else move.after
        for broker in sorted({*move.before, *move.after}):
            table, after = results[broker].result, last.get(broker, NO_QUEUES)
            present = None if table is None else find_queues(table, move.topic)
            if present != after:
                changes.append(QueueChange(move.topic, broker, present, after, move.is_ordered))
    errors = [None, *(result.error for result in results.values())]
    return ResultRows.from_records(
        RUN_COLUMNS, changes, errors, [f"risk: {risk}" for risk in pending_run.risks]
    )


def _report_run(session: Session, pending_run: PendingRun, plan_file: str) -> Iterator[OutputText]:
    """Run the plan and yield a line for each event; the last text decides the exit code."""
    report_event = ProcedureReporter(session, "rebalance run", describe_record, list_progress_facts)
    pause_reason: str | None = None
    order = pending_run.run_order
    options = {"--rollback": order.is_rollback, "--ordered": order.rules.allow_ordered}
    words = [option for option, is_set in options.items() if is_set]
    resume_command = quote_command("rebalance", "run", plan_file, *words)
    interruption = f"interrupted; the run is saved: `{resume_command}` resumes it"
    try:
        for event_record, line in report_event.follow(pending_run.run_events, interruption):
            if event_record["event"] == "paused":
                pause_reason = event_record["reason"]
            yield line
    finally:
        # The run waited for name servers that were silent or behind for a while.
        session.admin.forget_failures()
    errors = [] if pause_reason is None else [NotApplied(f"paused: {pause_reason}")]
    yield OutputText("", [*errors, None])
