"""export, plan, apply: manage topics, groups, order configurations and KV config of a cluster as a file."""

from pathlib import Path
from typing import Annotated

from namesrv_core import operator_files
from nsadmin import confirmation, stderr
from nsadmin.client.results import NotApplied
from nsadmin.command_line.declarations import Argument, Option, declare_columns
from nsadmin.commands.columns.awaited_servers import report_awaited_servers
from nsadmin.commands.procedures.drain_warnings import warn_of_drains
from nsadmin.commands.procedures.plan_rows import (
    PLAN_COLUMNS,
    StrandedMessages,
    count_failures,
    list_late_addrs,
    pending_outcomes,
    preview_steps,
    step_rows,
    stranded_warnings,
    summarize_plan,
)
from nsadmin.exit_codes import DIFFERENCES_FOUND, UsageError
from nsadmin.library.cluster_plans import compare_cluster, is_stranding
from nsadmin.operations.plans import plan_file, schema
from nsadmin.operations.plans.backlog import count_stranded_messages
from nsadmin.operations.plans.cluster_export import describe_cluster
from nsadmin.operations.plans.diff import ClusterDiff
from nsadmin.operations.plans.executor import execute_steps
from nsadmin.operations.plans.observer import observe_cluster
from nsadmin.operations.plans.plan_file import SavedPlan
from nsadmin.operations.plans.records import ClusterState, DesiredCluster
from nsadmin.operations.plans.yaml_reader import InvalidPlanFileError, read_desired_cluster
from nsadmin.operations.plans.yaml_writer import SCHEMA_FILE, format_cluster
from nsadmin.output import OutputText, ResultRows
from nsadmin.session import Session

MAX_DELETES = 10
_MAX_PROBLEMS = 10

PlanFileArgument = Annotated[str, Argument(("--file",), "FILE", "What the cluster is to have, in YAML.")]
PruneOption = Annotated[
    bool, Option("--prune", help="Delete what the file does not have, of the sections that it has.")
]


def export(
    session: Session,
    cluster_name: Annotated[
        str | None, Argument(("-c", "--clusterName"), "CLUSTER", "The cluster.", required=False)
    ],
    kv_namespaces: Annotated[
        list[str] | None,
        Option(
            "-s",
            "--namespace",
            metavar="NAMESPACE",
            help="With this KV namespace too. Repeatable.",
            value_source="namespaces",
        ),
    ] = None,
    with_schema: Annotated[bool, Option("--schema", help="The schema of such files instead.")] = False,
) -> OutputText:
    """Write what a cluster has as YAML: topics, consumer groups, order configurations, KV config.

    What goes without saying is left out: defaults (those of updateTopic and updateSubGroup), system topics
    and groups, retry and dead-letter topics. What is otherwise on single brokers stands there under
    perBroker, onlyOn or notOn. The same state gives the same text. Name servers do not list their KV
    namespaces: name those that are to be in it.

    Editors check such a file, and complete in it, by its schema: write that beside it as cluster.schema.json.

    Examples:
        # All topics and groups of a cluster
        nsadmin export cluster-a
        # With a namespace of the operator's own
        nsadmin export cluster-a --namespace DEPLOYMENT
        # The schema for editors
        nsadmin export --schema
    """
    if with_schema:
        return OutputText(schema.format_schema())
    if cluster_name is None:
        raise UsageError("export: CLUSTER is missing; type: nsadmin export CLUSTER")
    namespace_names = tuple(kv_namespaces or ())
    live_state = observe_cluster(session.admin, cluster_name, namespace_names)
    desired_state, remark_lines = describe_cluster(live_state, namespace_names)
    errors = [broker.error for broker in live_state.broker_states] + [
        server.error for server in live_state.server_states
    ]
    for remark_line in remark_lines:
        (stderr.write_stderr_line if any(errors) else session.write_remark)(remark_line)
    head_lines = [
        "nsadmin plan FILE shows what differs from this, nsadmin apply FILE makes it so;",
        f"nsadmin export --schema writes {SCHEMA_FILE}, which editors check it by.",
    ]
    return OutputText(format_cluster(desired_state, [*head_lines, *remark_lines]), errors)


@declare_columns(PLAN_COLUMNS)
def plan(
    session: Session,
    file_name: PlanFileArgument,
    prune: PruneOption = False,
    saved_file: Annotated[
        str | None, Option("--save-to", metavar="FILE", help="Keep the plan, for apply to carry it out.")
    ] = None,
    reports_differences: Annotated[
        bool, Option("--exit-code", help="Exit code 2 if there is something to do, 1 for a bad file.")
    ] = False,
) -> ResultRows:
    """Show what apply would do to make a cluster what a file says: creates, updates, perhaps deletes.

    The file is as export writes it. What it leaves out of a topic or group has its default; a section that it
    has not is not looked at. A row for each item has what changes there, field by field, and the servers.
    Queues that go take their messages with them: how many are in them is said.

    A plan that was kept is carried out by apply just as it was shown, or refused when the cluster is not what
    it was.

    With --exit-code, for scripts, the exit code is 0 if there is nothing to do, and 2 if there is something.
    A file that cannot be used is 1 then, not 2. A server that did not answer is 3, 4 or 5 as always. Only a
    command line with unknown options still is 2.

    Examples:
        # What would change
        nsadmin plan cluster.yaml
        # With deletes, kept for apply
        nsadmin plan cluster.yaml --prune --save-to tonight.plan
        # In a script: does the cluster differ from the file? (exit code 2)
        nsadmin plan cluster.yaml --exit-code
    """
    try:
        plan_rows, has_steps = _plan_file(session, file_name, prune, saved_file)
    except UsageError as error:
        if not reports_differences:
            raise
        # Exit code 2 has another meaning here.
        raise _with_notes_of(error, NotApplied(str(error))) from None
    return plan_rows._replace(done_code=DIFFERENCES_FOUND) if reports_differences and has_steps else plan_rows


def _plan_file(
    session: Session, file_name: str, prune: bool, saved_file: str | None
) -> tuple[ResultRows, bool]:
    """The rows of a plan, and whether it has steps; `saved_file` keeps it."""
    desired_state = _parse_desired_state("plan", file_name, _read_file("plan", file_name))
    live_state, plan_difference = compare_cluster(session.admin, desired_state, prune)
    if saved_file is not None:
        try:
            plan_file.save_plan(
                Path(saved_file), plan_file.make_saved_plan(desired_state, prune, live_state, plan_difference)
            )
        except OSError as error:
            raise UsageError(f"plan: --save-to {saved_file}: {error.strerror}") from None
    stranded_messages = count_stranded_messages(session.admin, live_state, plan_difference.steps)
    notes = [*stranded_warnings(stranded_messages), summarize_plan(plan_difference)]
    plan_rows = step_rows(
        pending_outcomes(plan_difference, "planned"), plan_difference.troubles, stranded_messages, notes
    )
    return plan_rows, bool(plan_difference.steps)


def _with_notes_of(noted_error: Exception, new_error: NotApplied) -> NotApplied:
    for note in getattr(noted_error, "__notes__", ()):
        new_error.add_note(note)
    return new_error


@declare_columns(PLAN_COLUMNS)
def apply(
    session: Session,
    file_name: Annotated[
        str, Argument(("--file",), "FILE", "What the cluster is to have, or a plan that was kept.")
    ],
    prune: PruneOption = False,
    max_deletes: Annotated[
        int,
        Option("--max-deletes", metavar="N", help="Refuse to delete more items; 10 if left out.", minimum=0),
    ] = MAX_DELETES,
    allow_stranded: Annotated[
        bool, Option("--allow-stranded", help="Take queues away although messages in them are left unread.")
    ] = False,
) -> ResultRows:
    """Make a cluster what a file says: topics, consumer groups, order configurations, KV config.

    It is the plan, the question whether to go on, and then the steps: creates and updates, order
    configurations, what shrinks, deletes. Brokers since 5.3 take topics and groups in lists. Afterwards every
    server is read again, and a row for each item says what came of it, on which servers. Nothing is deleted
    without --prune, and not more than --max-deletes items; groups go with their offsets. What was interrupted
    goes on when it is started again.

    A topic that gets fewer queues to read keeps the messages of the others, and no consumer can read them.
    Such a change is refused if these queues hold messages, or if their broker does not say, unless
    --allow-stranded accepts it. plan and --dry-run show how many messages there are.

    A plan that plan --save-to has kept is carried out as it was shown, deletes included; it is refused when
    the cluster is not what it was, but for those of its own steps that are done.

    Examples:
        # Make it so
        nsadmin apply cluster.yaml --yes
        # What would be deleted as well
        nsadmin apply cluster.yaml --prune --max-deletes 100 --dry-run
    """
    file_text = _read_file("apply", file_name)
    saved_plan = _parse_saved_plan("apply", file_name, file_text)
    if saved_plan is not None and prune:
        raise UsageError(
            f"apply: {file_name} is a plan, which says itself whether it prunes: leave --prune out"
        )
    desired_state = (
        saved_plan.desired_cluster if saved_plan else _parse_desired_state("apply", file_name, file_text)
    )
    live_state, plan_difference = compare_cluster(
        session.admin, desired_state, saved_plan.prune if saved_plan else prune
    )
    if saved_plan is not None:
        _require_unchanged(file_name, saved_plan, live_state, plan_difference)
    _require_few_deletes(plan_difference, max_deletes)
    warn_of_drains(session, (step.server_name for step in plan_difference.steps if step.kind == "topic"))
    stranded_messages = count_stranded_messages(session.admin, live_state, plan_difference.steps)
    warning_lines = stranded_warnings(stranded_messages)
    refusal = None if allow_stranded else _refuse_stranding(stranded_messages)
    if session.is_dry_run or not plan_difference.steps:
        notes = [
            *warning_lines,
            summarize_plan(plan_difference),
            *([] if refusal is None else [str(refusal)]),
        ]
        dry_rows = step_rows(
            pending_outcomes(plan_difference, "dry-run"), plan_difference.troubles, stranded_messages, notes
        )
        return dry_rows if refusal is None else dry_rows._replace(errors=[refusal])
    if refusal is not None:
        for warning_line in warning_lines:
            stderr.write_stderr_line(warning_line)
        raise refusal
    _confirm_plan(session, plan_difference, live_state, warning_lines)
    with session.show_progress("applying", len(plan_difference.steps)) as advance_progress:
        outcomes = execute_steps(session.admin, live_state, plan_difference.steps, advance_progress)
    failure_count = count_failures(outcome.error for outcome in outcomes)
    notes = (
        [f"failed in {failure_count} of {len(outcomes)} steps; start it again to try those"]
        if failure_count
        else []
    )
    applied_rows = step_rows(outcomes, plan_difference.troubles, stranded_messages, notes)
    return report_awaited_servers(session.admin, applied_rows, list_late_addrs(live_state, outcomes))


def _read_file(command_name: str, file_name: str) -> str:
    try:
        return operator_files.read_text(file_name)
    except OSError as error:
        raise UsageError(f"{command_name}: {file_name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{command_name}: {file_name} is no text in UTF-8") from None


def _parse_desired_state(command_name: str, file_name: str, file_text: str) -> DesiredCluster:
    if _parse_saved_plan(command_name, file_name, file_text) is not None:
        raise UsageError(
            f"{command_name}: {file_name} is a plan already: nsadmin apply {file_name} carries it out"
        )
    try:
        return read_desired_cluster(file_text, file_name)
    except InvalidPlanFileError as error:
        raise _file_error(command_name, error) from None


def _parse_saved_plan(command_name: str, file_name: str, file_text: str) -> SavedPlan | None:
    try:
        return plan_file.parse_plan(file_text, file_name)
    except InvalidPlanFileError as error:
        raise _file_error(command_name, error) from None


def _file_error(command_name: str, error: InvalidPlanFileError) -> UsageError:
    """The error with a line for each problem, limited to `_MAX_PROBLEMS` lines."""
    first_problem, *other_problems = error.problem_lines
    usage_error = UsageError(f"{command_name}: {first_problem}")
    for problem_line in other_problems[: _MAX_PROBLEMS - 1]:
        usage_error.add_note(problem_line)
    if len(other_problems) >= _MAX_PROBLEMS:
        usage_error.add_note(f"... and {len(other_problems) - _MAX_PROBLEMS + 1} more")
    return usage_error


def _require_unchanged(
    file_name: str, saved_plan: SavedPlan, live_state: ClusterState, plan_difference: ClusterDiff
) -> None:
    reasons = plan_file.explain_changes(saved_plan, live_state, plan_difference)
    if reasons:
        error = NotApplied(f"the cluster is not what it was when {file_name} was made: make the plan again")
        for reason_line in reasons[:_MAX_PROBLEMS]:
            error.add_note(reason_line)
        if len(reasons) > _MAX_PROBLEMS:
            error.add_note(f"... and {len(reasons) - _MAX_PROBLEMS} more")
        raise error


def _require_few_deletes(plan_difference: ClusterDiff, max_deletes: int) -> None:
    delete_count = len(plan_difference.deleted_items)
    if delete_count > max_deletes:
        raise NotApplied(
            f"this would delete {delete_count} items, more than --max-deletes "
            f"{max_deletes}: look at the plan, and"
            f" if it is right, type --max-deletes {delete_count}"
        )


def _refuse_stranding(stranded_messages: StrandedMessages) -> NotApplied | None:
    """Return the error if a topic loses queues with messages; None if not. Deletions have other limits."""
    if not is_stranding(stranded_messages):
        return None
    return NotApplied(
        "this takes queues away that hold messages, or may hold some: consume them first, or accept with "
        "--allow-stranded that nobody can read them"
    )


def _confirm_plan(
    session: Session, plan_difference: ClusterDiff, live_state: ClusterState, warning_lines: list[str]
) -> None:
    """Ask for confirmation; deletes cannot be undone, so off a terminal they need --yes."""
    if plan_difference.deleted_items:
        session.require_yes("apply with deletes")
    if confirmation.can_ask_operator() and not session.options.yes:
        for output_line in preview_steps(plan_difference, live_state):
            session.write_remark(output_line)
    for output_line in warning_lines:
        stderr.write_stderr_line(output_line)
    server_counts = (
        f"{len(live_state.broker_states)} broker(s) and {len(live_state.server_states)} name server(s)"
    )
    session.confirm_change(
        f"{live_state.cluster_name}, {server_counts}: {summarize_plan(plan_difference)}; go on?"
    )
