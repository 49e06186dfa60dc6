"""Owns export, plan and apply: topics, groups, order configurations and KV config of a cluster as a file."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from namesrv_core import operator_files
from nsadmin.client.advised_command import quote_command
from nsadmin.client.results import NotApplied
from nsadmin.command_line.broker_targets import remark_missing
from nsadmin.command_line.declarations import Flags, command
from nsadmin.command_line.namespace_options import IncludedNamespacesOption
from nsadmin.commands.columns.awaited_servers import report_awaited_servers
from nsadmin.commands.columns.files import write_or_show
from nsadmin.commands.procedures.attribute_warnings import warn_of_unknown_attributes
from nsadmin.commands.procedures.drain_warnings import warn_of_drains
from nsadmin.commands.procedures.plan_rows import (
    APPLY_COLUMNS,
    PLAN_COLUMNS,
    StrandedMessages,
    count_failures,
    list_late_addrs,
    pending_outcomes,
    preview_steps,
    step_rows,
    stranded_warnings,
    summarize_plan,
    unread_warnings,
)
from nsadmin.console import confirmation, stderr
from nsadmin.console.exit_codes import DIFFERENCES_FOUND, UsageError
from nsadmin.console.output import OutputText, ResultRows
from nsadmin.console.phrases import abbreviate_names, count_noun
from nsadmin.console.session import Session
from nsadmin.library.cluster_plans import compare_cluster, is_stranding
from nsadmin.operations.broker_identity import remark_twins
from nsadmin.operations.plans import fields, plan_file
from nsadmin.operations.plans.cluster_export import describe_cluster
from nsadmin.operations.plans.diff import ClusterDiff, compute_diff
from nsadmin.operations.plans.executor import execute_steps
from nsadmin.operations.plans.observer import observe_cluster
from nsadmin.operations.plans.plan_file import SavedPlan
from nsadmin.operations.plans.records import ClusterState, DesiredCluster
from nsadmin.operations.plans.stranded_messages import count_stranded_messages
from nsadmin.operations.plans.unnamed_settings import keep_unnamed, list_unnamed_attributes
from nsadmin.operations.plans.yaml_reader import InvalidPlanFileError, read_desired_cluster
from nsadmin.operations.plans.yaml_writer import SCHEMA_FILE, format_cluster
from nsadmin.operations.state_folder import find_state_home, list_homes

MAX_DELETES = 10
_MAX_PROBLEMS = 10

PlanFileArgument = Annotated[
    str, Argument(metavar="FILE", help="A YAML file with the wanted state."), Flags("--file")
]
PruneOption = Annotated[
    bool, Option("--prune", help="Delete items that the file does not have, in the sections that it has.")
]
KeepOption = Annotated[
    bool,
    Option("--keep", help="Keep the present value of settings and attributes that the file does not name."),
]


@command()
def export(
    session: Session,
    cluster_name: Annotated[
        str | None, Argument(metavar="CLUSTER", help="Name of a cluster."), Flags("-c", "--clusterName")
    ],
    kv_namespaces: IncludedNamespacesOption = None,
    with_schema: Annotated[
        bool, Option("--schema", help="Write the JSON schema of these files instead.")
    ] = False,
    target_file: Annotated[
        str | None, Option("--out", metavar="FILE", help="Write to this file instead of stdout.")
    ] = None,
) -> OutputText:
    """Write the state of a cluster as YAML: topics, consumer groups, order configurations, KV config.

    The file does not contain defaults (those of updateTopic and updateSubGroup), system topics and groups, or
    retry and dead-letter topics. Users, ACLs and broker settings are not in it: `nsadmin backup create` saves
    them, and `nsadmin backup show` prints them as text. Differences between brokers are under perBroker,
    onlyOn or notOn. Equal states give equal text. Name servers do not list their KV namespaces, so name those
    that you need.

    Editors can check and complete such a file with its schema: save the schema next to it as
    cluster.schema.json.

    Examples:
        # All topics and groups of a cluster
        nsadmin export cluster-a
        # Include a KV namespace
        nsadmin export cluster-a --namespace DEPLOYMENT
        # The schema for editors
        nsadmin export --schema
    """
    if with_schema:
        return write_or_show(fields.format_schema(), target_file)
    if cluster_name is None:
        raise UsageError("missing argument CLUSTER: usage: nsadmin export CLUSTER")
    namespace_names = tuple(kv_namespaces or ())
    live_state = observe_cluster(session.admin, cluster_name, namespace_names)
    remark_twins(session)
    remark_missing(session, cluster_name, "the file lacks what only this broker has")
    desired_state, remark_lines = describe_cluster(live_state, namespace_names)
    errors = [broker.error for broker in live_state.broker_states] + [
        server.error for server in live_state.server_states
    ]
    for remark_line in remark_lines:
        (stderr.write_stderr_line if any(errors) else session.write_remark)(remark_line)
    head_lines = [
        "nsadmin plan FILE shows the differences between this file and the cluster. nsadmin "
        "apply FILE applies it.",
        f"nsadmin export --schema writes {SCHEMA_FILE}, which editors use to check it.",
    ]
    return write_or_show(format_cluster(desired_state, [*head_lines, *remark_lines]), target_file, errors)


@command(columns=PLAN_COLUMNS)
def plan(
    session: Session,
    file_name: PlanFileArgument,
    prune: PruneOption = False,
    saved_file: Annotated[
        str | None, Option("--out", metavar="FILE", help="Save the plan for `nsadmin apply`.")
    ] = None,
    reports_differences: Annotated[
        bool,
        Option("--exit-code", help="Exit with 2 if the plan has changes, and with 1 if the file is invalid."),
    ] = False,
    keeps_unnamed: KeepOption = False,
) -> ResultRows:
    """Show the changes that apply would make: creations, updates, and with --prune deletions.

    The file is in the format of `nsadmin export`. If a topic or group in the file lacks a setting, the
    setting gets its default, and an attribute is removed: a line says so. With --keep, they keep their
    present value. If the file lacks a section, nsadmin does not change the items of that section.
    A row for each item shows the changes field by field, and the servers. Removing queues makes their
    messages unreadable: nsadmin shows the number of messages.

    apply executes a saved plan exactly as shown. It refuses the plan if a server or an item of the file has
    changed, and with --prune also if the cluster has new items.

    For scripts, pass --exit-code: the exit code is then 0 if apply would change nothing, 2 if it would change
    something, and 1 if the file is invalid. With --prune, items that only the cluster has are changes, too.
    Servers that do not answer still cause 3, 4 or 5. An unknown option still causes 2.

    Examples:
        # Dry run of apply: preview the changes, the diff of a file and the cluster
        nsadmin plan cluster.yaml
        # Include deletions, and save the plan
        nsadmin plan cluster.yaml --prune --out tonight.plan
        # Check in a script whether cluster and file differ (exit code 2)
        nsadmin plan cluster.yaml --prune --exit-code
    """
    try:
        plan_rows, has_steps = _plan_file(session, file_name, prune, saved_file, keeps_unnamed)
    except UsageError as error:
        if not reports_differences:
            raise
        # Exit code 2 has another meaning here.
        raise _with_notes_of(error, NotApplied(str(error))) from None
    return plan_rows._replace(done_code=DIFFERENCES_FOUND) if reports_differences and has_steps else plan_rows


def _plan_file(
    session: Session, file_name: str, prune: bool, saved_file: str | None, keeps_unnamed: bool
) -> tuple[ResultRows, bool]:
    """The rows of a plan, and whether it has steps; `saved_file` keeps it."""
    desired_state, live_state, plan_difference = _compare_file(
        session, _parse_desired_state(file_name, _read_file(file_name)), prune, keeps_unnamed
    )
    remark_twins(session)
    remark_missing(session, live_state.cluster_name, "the plan leaves it out; plan again when it is back")
    warn_of_unknown_attributes(
        session, ((step.kind, step.attribute_changes) for step in plan_difference.steps)
    )
    if saved_file is not None:
        try:
            plan_file.save_plan(
                Path(saved_file), plan_file.make_saved_plan(desired_state, prune, live_state, plan_difference)
            )
        except OSError as error:
            raise UsageError(f"cannot write {saved_file} (--out): {error.strerror}") from None
    stranded_messages = count_stranded_messages(session.admin, live_state, plan_difference.steps)
    notes = [
        *live_state.shared_addr_lines,
        *_list_rebalance_risks(session, live_state.cluster_name, plan_difference),
        *_warn_of_unnamed(desired_state, live_state),
        *stranded_warnings(stranded_messages),
        *unread_warnings(plan_difference.steps),
        summarize_plan(plan_difference),
    ]
    plan_rows = step_rows(
        pending_outcomes(plan_difference, "planned"),
        plan_difference.troubles,
        stranded_messages,
        notes,
        PLAN_COLUMNS,
    )
    return plan_rows, bool(plan_difference.steps)


def _with_notes_of(noted_error: Exception, new_error: NotApplied) -> NotApplied:
    for note in getattr(noted_error, "__notes__", ()):
        new_error.add_note(note)
    return new_error


@command(columns=APPLY_COLUMNS)
def apply(
    session: Session,
    file_name: Annotated[
        str,
        Argument(metavar="FILE", help="A YAML file with the wanted state, or a saved plan."),
        Flags("--file"),
    ],
    prune: PruneOption = False,
    max_deletes: Annotated[
        int,
        Option(
            "--max-deletes",
            metavar="N",
            help="Refuse the plan if it deletes more than N items. Default: 10.",
            min=0,
        ),
    ] = MAX_DELETES,
    allow_stranded: Annotated[
        bool, Option("--allow-stranded", help="Remove queues even if consumers have not read their messages.")
    ] = False,
    keeps_unnamed: KeepOption = False,
) -> ResultRows:
    """Change a cluster to the state in a file: topics, consumer groups, order configurations, KV config.

    apply shows the plan, asks for confirmation, and makes the changes in this order: creations and updates,
    order configurations, removal of queues, deletions. Then nsadmin reads every server again. A row for each
    item shows the result and the servers. Safe to interrupt. Run the same command to resume.

    A topic or group of the file gets the default of each setting that the file does not name, also of
    attributes: begin with a file of `nsadmin export`. With --keep, nsadmin changes only what the file names.

    nsadmin deletes only with --prune, and at most --max-deletes items. It deletes groups with their offsets.

    Consumers cannot read the messages in removed read queues, or without the read permission. So nsadmin
    refuses to remove queues with messages that a group has not consumed, or that the broker does not report.
    Pass --allow-stranded to remove them anyway. plan and --dry-run show the number of messages.

    apply executes a saved plan (plan --out) exactly as shown, including deletions. It refuses the plan if a
    server or an item of the file has changed in other ways than by steps of this plan. If the plan prunes, it
    also refuses it if the cluster has new items.

    Examples:
        # Create and change topics and groups as a YAML file says
        nsadmin apply cluster.yaml --yes
        # Preview it with deletions
        nsadmin apply cluster.yaml --prune --max-deletes 100 --dry-run
    """
    file_text = _read_file(file_name)
    saved_plan = _parse_saved_plan(file_name, file_text)
    if saved_plan is not None and prune:
        raise UsageError(f"{file_name} is a plan, which determines its deletions: omit --prune")
    if saved_plan is not None and keeps_unnamed:
        raise UsageError(f"{file_name} is a plan, which has all settings: pass --keep to plan instead")
    desired_state, live_state, plan_difference = _compare_file(
        session,
        saved_plan.desired_cluster if saved_plan else _parse_desired_state(file_name, file_text),
        saved_plan.prune if saved_plan else prune,
        keeps_unnamed,
    )
    if saved_plan is not None:
        _require_unchanged(file_name, saved_plan, live_state, plan_difference)
    _require_few_deletes(plan_difference, max_deletes, file_name, is_saved=saved_plan is not None)
    remark_twins(session)
    remark_missing(session, live_state.cluster_name, "apply leaves it out; apply again when it is back")
    warn_of_drains(session, (step.server_name for step in plan_difference.steps if step.kind == "topic"))
    warn_of_unknown_attributes(
        session, ((step.kind, step.attribute_changes) for step in plan_difference.steps)
    )
    stranded_messages = count_stranded_messages(session.admin, live_state, plan_difference.steps)
    warning_lines = [
        *live_state.shared_addr_lines,
        *_list_rebalance_risks(session, live_state.cluster_name, plan_difference),
        *([] if saved_plan else _warn_of_unnamed(desired_state, live_state)),
        *stranded_warnings(stranded_messages),
        *unread_warnings(plan_difference.steps),
    ]
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
        [f"{failure_count} of {len(outcomes)} changes failed: run the same command to retry them"]
        if failure_count
        else []
    )
    applied_rows = step_rows(outcomes, plan_difference.troubles, stranded_messages, notes)
    return report_awaited_servers(session.admin, applied_rows, list_late_addrs(live_state, outcomes))


def _compare_file(
    session: Session, desired_state: DesiredCluster, prune: bool, keeps_unnamed: bool
) -> tuple[DesiredCluster, ClusterState, ClusterDiff]:
    """The desired state, with --keep completed from the present one; the present state; the difference."""
    live_state, plan_difference = compare_cluster(session.admin, desired_state, prune)
    if not keeps_unnamed:
        return desired_state, live_state, plan_difference
    desired_state = keep_unnamed(desired_state, live_state)
    return desired_state, live_state, compute_diff(desired_state, live_state, prune=prune)


def _warn_of_unnamed(desired_state: DesiredCluster, live_state: ClusterState) -> list[str]:
    unnamed = [
        f"{kind} {name} ({', '.join(attributes)})"
        for (kind, name), attributes in list_unnamed_attributes(desired_state, live_state).items()
    ]
    if not unnamed:
        return []
    return [
        f"attributes would be removed, because the file does not name them: {abbreviate_names(unnamed, 5)}; "
        "add them to the file, or pass --keep"
    ]


def _list_rebalance_risks(session: Session, cluster_name: str, plan_difference: ClusterDiff) -> list[str]:
    """A line for each unfinished rebalance of this account whose topics the plan changes."""
    state_home = find_state_home()
    if not any((home / "rebalances").is_dir() for home in list_homes(state_home)):
        return []
    # Most machines have no rebalance, and their plans need not load this.
    from nsadmin.operations.installation import Installation
    from nsadmin.operations.rebalance.run_state import explain_rebalance_conflicts, load_rebalances

    topics = {step.item_name for step in plan_difference.steps if step.kind in ("topic", "orderConf")}
    runs = Installation(session.admin).keep_own(load_rebalances(state_home, cluster_name))
    return list(explain_rebalance_conflicts(runs, topics))


def _read_file(file_name: str) -> str:
    try:
        return operator_files.read_text(file_name)
    except OSError as error:
        raise UsageError(operator_files.explain_unreadable(file_name, error)) from None
    except UnicodeDecodeError:
        raise UsageError(f"{file_name} is not UTF-8 text") from None


def _parse_desired_state(file_name: str, file_text: str) -> DesiredCluster:
    if _parse_saved_plan(file_name, file_text) is not None:
        raise UsageError(f"{file_name} is already a plan: run {quote_command('apply', file_name)}")
    try:
        return read_desired_cluster(file_text, file_name)
    except InvalidPlanFileError as error:
        raise _file_error(error) from None


def _parse_saved_plan(file_name: str, file_text: str) -> SavedPlan | None:
    try:
        return plan_file.parse_plan(file_text, file_name)
    except InvalidPlanFileError as error:
        raise _file_error(error) from None


def _file_error(error: InvalidPlanFileError) -> UsageError:
    """The error with a line for each problem, limited to `_MAX_PROBLEMS` lines."""
    first_problem, *other_problems = error.problem_lines
    usage_error = UsageError(f"{first_problem}")
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
        is_only_silent = len(reasons) == sum(t.is_silent for t in plan_difference.troubles)
        error = NotApplied(
            "nothing was applied, because servers do not answer: apply the plan again when they do"
            if is_only_silent
            else f"nothing was applied: the cluster does not match {file_name} now; make the plan again"
        )
        for reason_line in reasons[:_MAX_PROBLEMS]:
            error.add_note(reason_line)
        if len(reasons) > _MAX_PROBLEMS:
            error.add_note(f"... and {len(reasons) - _MAX_PROBLEMS} more")
        raise error


def _require_few_deletes(
    plan_difference: ClusterDiff, max_deletes: int, file_name: str, is_saved: bool
) -> None:
    delete_count = len(plan_difference.deleted_items)
    if delete_count > max_deletes:
        allowance = ("--max-deletes", str(delete_count))
        # `nsadmin plan` shows no saved plan.
        words = ("apply", file_name, *allowance, "--dry-run") if is_saved else ("plan", file_name, "--prune")
        raise NotApplied(
            f"the plan deletes {count_noun(delete_count, 'item')}, more than --max-deletes "
            f"{max_deletes}: check them with "
            f"`{quote_command(*words)}`, then pass {' '.join(allowance)}"
        )


def _refuse_stranding(stranded_messages: StrandedMessages) -> NotApplied | None:
    """Return the error if a topic loses queues with messages; None if not. Deletions have other limits."""
    if not is_stranding(stranded_messages):
        return None
    return NotApplied(
        "the plan takes queues from consumers that may have unread messages there: let them read the "
        "messages first, or pass --allow-stranded to lose them"
    )


def _confirm_plan(
    session: Session, plan_difference: ClusterDiff, live_state: ClusterState, warning_lines: list[str]
) -> None:
    """Ask for confirmation; deletes cannot be undone, so off a terminal they need --yes."""
    if plan_difference.deleted_items:
        names = [f"{kind} {name}" for kind, _, name in sorted(plan_difference.deleted_items)]
        session.require_yes("apply", f"this would delete {abbreviate_names(names, 10)}")
    if confirmation.can_ask_operator() and not session.options.yes:
        for output_line in preview_steps(plan_difference, live_state):
            session.write_remark(output_line)
    for output_line in warning_lines:
        stderr.write_stderr_line(output_line)
    server_counts = (
        f"{count_noun(len(live_state.broker_states), 'broker')} and "
        f"{count_noun(len(live_state.server_states), 'name server')}"
    )
    session.confirm_change(
        f"{live_state.cluster_name}, {server_counts}: {summarize_plan(plan_difference)}. Continue?"
    )
