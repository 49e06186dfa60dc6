"""Owns updateTopicList and updateSubGroupList, which create or change many topics or groups from a file."""

from collections.abc import Sequence
from typing import Annotated

from typer import Argument, Option

from namesrv_core import operator_files
from nsadmin.client.results import NotApplied
from nsadmin.command_line.broker_targets import MasterAddrOption, select_masters
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.awaited_servers import report_awaited_servers
from nsadmin.commands.columns.changes import RESULT
from nsadmin.commands.procedures.attribute_warnings import warn_of_unknown_attributes
from nsadmin.commands.procedures.drain_warnings import warn_of_drains
from nsadmin.commands.procedures.plan_rows import (
    APPLY_COLUMNS,
    count_failures,
    list_late_addrs,
    step_rows,
    stranded_warnings,
    unread_warnings,
)
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, ResultRows, replace_columns
from nsadmin.console.session import Session
from nsadmin.operations.plans.bulk_lists import ItemList, plan_list_steps, read_list
from nsadmin.operations.plans.diff import PlanTrouble
from nsadmin.operations.plans.executor import StepOutcome, execute_steps
from nsadmin.operations.plans.observer import observe_brokers, observe_cluster
from nsadmin.operations.plans.records import ClusterState
from nsadmin.operations.plans.settings import SpreadKind
from nsadmin.operations.plans.stranded_messages import count_stranded_messages
from nsadmin.operations.plans.yaml_reader import InvalidPlanFileError

LIST_COLUMNS = replace_columns(
    APPLY_COLUMNS,
    Column("kind", "topic or group", lambda r: r.kind),
    Column("name", "name of the topic or group", lambda r: r.name),
    Column(
        "action",
        "create or update; null if nothing is sent",
        lambda r: None if r.result in ("unchanged", "skipped") else r.action,
    ),
    RESULT.means("done, dry-run, unchanged, skipped, failed, or unknown (the broker does not answer)"),
)

ListFileArgument = Annotated[
    str,
    Argument(
        metavar="FILE",
        help="A JSON list in mqadmin's format, or a file of exportMetadata or `nsadmin export`.",
    ),
    Flags("-f", "--filename"),
]
OneClusterOption = Annotated[
    str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="All masters of this cluster.")
]
_MAX_PROBLEMS = 10


@command(columns=LIST_COLUMNS, agent_refusal="it reads local files")
def update_topic_list(
    session: Session,
    file_name: ListFileArgument,
    broker_text: MasterAddrOption = None,
    cluster_name: OneClusterOption = None,
) -> ResultRows:
    """Create or change the topics in a file, on one master or on every master of a cluster.

    The file is a JSON array of topic configs (mqadmin's format), JSON from exportMetadata, or YAML from
    `nsadmin export`. In JSON, settings that the file does not have stay as on each broker. A new topic then
    has 16 queues. The + or - of attributes is optional. nsadmin reads each master before and after.

    An existing equal topic is `unchanged`. nsadmin does not send it, because it would make brokers ignore the
    whole list. A topic that cannot be changed is `skipped`. Off a terminal, a change that makes messages
    unreadable needs --yes: fewer read queues, more write queues than read queues, or no read permission.

    Examples:
        # Preview the changes on each master
        nsadmin updateTopicList topics.json -c cluster-a --dry-run
        # Change one master
        nsadmin updateTopicList -f topics.json -b 127.0.0.1:10911 --yes
    """
    return _update_from_file(session, "updateTopicList", "topic", file_name, broker_text, cluster_name)


@command(columns=LIST_COLUMNS, agent_refusal="it reads local files")
def update_sub_group_list(
    session: Session,
    file_name: ListFileArgument,
    broker_text: MasterAddrOption = None,
    cluster_name: OneClusterOption = None,
) -> ResultRows:
    """Create or change the consumer groups in a file, on one master or on every master of a cluster.

    The file is a JSON array of group configs (mqadmin's format), JSON from exportMetadata, or YAML from
    `nsadmin export`. In JSON, settings that the file does not have stay as on each broker. A new group then
    may broadcast and begins at the oldest message. The + or - of attributes is optional. nsadmin reads each
    master before and after. An existing equal group is `unchanged`, and nsadmin does not send it.

    Examples:
        # Preview the changes on each master
        nsadmin updateSubGroupList groups.json -c cluster-a --dry-run
        # Change one master
        nsadmin updateSubGroupList -f groups.json -b 127.0.0.1:10911 --yes
    """
    return _update_from_file(session, "updateSubGroupList", "group", file_name, broker_text, cluster_name)


def _update_from_file(
    session: Session,
    command_name: str,
    item_kind: SpreadKind,
    file_name: str,
    broker_text: str | None,
    cluster_name: str | None,
) -> ResultRows:
    master_targets = select_masters(session, broker_text, cluster_name)
    listed_items = _read_list_file(item_kind, file_name)
    if cluster_name is not None:
        live_state = observe_cluster(session.admin, cluster_name)
    else:
        live_state = _observe_master(session, master_targets[0].broker_addr or "")
    all_outcomes = plan_list_steps(listed_items, live_state)
    due_steps = [o.step for o in all_outcomes if o.result == "planned"]
    other_outcomes = [o for o in all_outcomes if o.result != "planned"]
    brokers = live_state.broker_states
    troubles = [PlanTrouble(b.broker_name, b.error) for b in brokers if b.error is not None]
    warn_of_drains(session, (step.server_name for step in due_steps if step.kind == "topic"))
    warn_of_unknown_attributes(session, ((step.kind, step.attribute_changes) for step in due_steps))
    stranded_messages = count_stranded_messages(session.admin, live_state, due_steps)
    unread = unread_warnings(due_steps)
    warnings = [*stranded_warnings(stranded_messages), *unread]
    if unread or any(message_count != 0 for message_count in stranded_messages.values()):
        session.require_yes(command_name, "; ".join(warnings))
    if listed_items.is_sum:
        warnings.append(
            "exportMetadata of mqadmin adds up the queues of a topic on all brokers, and each broker gets "
            "this sum"
        )
    summary = _summarize_outcomes(item_kind, f"{len(due_steps)} to send", other_outcomes)
    if session.is_dry_run or not due_steps:
        outcomes = [StepOutcome(step, "dry-run", None) for step in due_steps]
        notes = [*warnings, summary]
    else:
        for warning in warnings:
            session.write_remark(warning)
        session.confirm_change(
            f"{', '.join(b.master_addr or b.broker_name for b in brokers)}: {summary}. Continue?"
        )
        with session.show_progress(command_name, len(due_steps)) as advance_progress:
            outcomes = execute_steps(session.admin, live_state, due_steps, advance_progress)
        failure_count = count_failures(o.error for o in outcomes)
        notes = [_summarize_outcomes(item_kind, f"{len(due_steps)} sent", other_outcomes)]
        if failure_count:
            notes.append(f"{failure_count} of {len(outcomes)} changes failed")
    rows = step_rows([*outcomes, *other_outcomes], troubles, stranded_messages, notes, LIST_COLUMNS)
    if not all_outcomes:
        rows = rows._replace(errors=[b.error for b in brokers])
    return report_awaited_servers(session.admin, rows, list_late_addrs(live_state, outcomes))


def _read_list_file(item_kind: SpreadKind, file_name: str) -> ItemList:
    try:
        return read_list(item_kind, operator_files.read_text(file_name), file_name)
    except OSError as error:
        raise UsageError(operator_files.explain_unreadable(file_name, error)) from None
    except UnicodeDecodeError:
        raise UsageError(f"{file_name} is not UTF-8 text") from None
    except InvalidPlanFileError as error:
        usage_error = UsageError(f"{error.problem_lines[0]}")
        for problem_line in error.problem_lines[1:_MAX_PROBLEMS]:
            usage_error.add_note(problem_line)
        raise usage_error from None


def _observe_master(session: Session, broker_addr: str) -> ClusterState:
    """Observe one master by its address, without a name server; NotApplied if it is a slave."""
    [config_result] = session.admin.broker_configs.get_each([broker_addr])
    if config_result.error is not None:
        raise config_result.error
    config_items = config_result.result or {}
    if config_items.get("brokerRole") == "SLAVE":
        raise NotApplied(f"{broker_addr} is a slave: change its master instead")
    cluster_name, broker_name = (
        config_items.get("brokerClusterName", ""),
        config_items.get("brokerName", broker_addr),
    )
    return ClusterState(
        cluster_name, observe_brokers(session.admin, {broker_name: broker_addr}, cluster_name), ()
    )


def _summarize_outcomes(item_kind: SpreadKind, due_text: str, other_outcomes: Sequence[StepOutcome]) -> str:
    counts = {word: sum(o.result == word for o in other_outcomes) for word in ("unchanged", "skipped")}
    parts = [due_text, *(f"{count} {word}" for word, count in counts.items() if count)]
    return f"{', '.join(parts)} (a {item_kind} counts once for each broker)"
