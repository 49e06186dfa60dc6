"""Builds rows of plan steps: one for each item and change, with the servers that it applies to."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import perm_text
from nsadmin.client.results import error_text
from nsadmin.commands.columns.changes import change_cells, describe_change, describe_item_change
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.operations.plans.diff import ClusterDiff, PlanStep, PlanTrouble
from nsadmin.operations.plans.executor import StepOutcome
from nsadmin.operations.plans.records import ClusterState

PLAN_COLUMNS = (
    "kind",
    "name",
    "action",
    "servers",
    "changes",
    "before",
    "after",
    "messages",
    "result",
    "error",
)
PLAN_TABLE_COLUMNS = ("kind", "name", "action", "servers", "changes", "result", "error")

StrandedMessages = Mapping[PlanStep, int | None]
_MAX_PREVIEW_LINES = 20


class _StepGroup(NamedTuple):
    """The common part of steps that make the same change to one item with the same result."""

    kind: str
    name: str
    action: str
    changes: str | None
    result: str
    error: str | None


def step_rows(
    outcomes: Sequence[StepOutcome],
    plan_troubles: Sequence[PlanTrouble],
    stranded: StrandedMessages,
    notes: Sequence[str] = (),
) -> ResultRows:
    """The rows of all steps with their results, and of servers and items that could not be compared."""
    steps_by_group: dict[_StepGroup, list[PlanStep]] = {}
    for outcome in outcomes:
        steps_by_group.setdefault(_group_of_outcome(outcome), []).append(outcome.step)
    plan_rows = [_group_row(step_group, steps, stranded) for step_group, steps in steps_by_group.items()]
    plan_rows += [_trouble_row(plan_trouble) for plan_trouble in plan_troubles]
    errors = [None, *(plan_trouble.error for plan_trouble in plan_troubles)] if not outcomes else []
    errors += [outcome.error for outcome in outcomes]
    errors += [plan_trouble.error for plan_trouble in plan_troubles] if outcomes else []
    return ResultRows(PLAN_COLUMNS, plan_rows, errors, notes, PLAN_TABLE_COLUMNS)


def pending_outcomes(plan_difference: ClusterDiff, result_word: str) -> list[StepOutcome]:
    """Outcomes of steps that have not run, with `result_word` as their result."""
    return [StepOutcome(step, result_word, None) for step in plan_difference.steps]


def list_late_addrs(live_state: ClusterState, outcomes: Iterable[StepOutcome]) -> list[str]:
    """The brokers that carried out a step and did not answer in time, by address."""
    late_names = {outcome.step.server_name for outcome in outcomes if outcome.late_error is not None}
    return [
        broker_state.master_addr
        for broker_state in live_state.broker_states
        if broker_state.broker_name in late_names and broker_state.master_addr is not None
    ]


def _group_of_outcome(outcome: StepOutcome) -> _StepGroup:
    step, error = outcome.step, outcome.error
    error_message = None if error is None else error_text(error)
    return _StepGroup(
        step.kind, item_name(step), step.action, _describe_step(step), outcome.result, error_message
    )


def item_name(step: PlanStep) -> str:
    """The name of a step's item; a KV value is named by namespace and key."""
    return f"{step.namespace} {step.item_name}" if step.kind == "kv" else step.item_name


def _describe_step(step: PlanStep) -> str | None:
    """Describe a step's change; for a new item, its settings that are not the default."""
    if step.kind == "route":
        return _describe_route_step(step)
    if step.kind in ("topic", "group"):
        return describe_item_change(step.kind, step.before, step.after)
    return describe_change(step.before, step.after)


def _describe_route_step(step: PlanStep) -> str:
    if step.after is None:
        return "removed: its route"
    perm_changes = (
        f"{broker_name} {perm_text(perm)} -> {perm_text(0)}" for broker_name, perm in step.before.items()
    )
    return f"to brokers that do not have it: {', '.join(perm_changes)}"


def _group_row(step_group: _StepGroup, steps: Sequence[PlanStep], stranded: StrandedMessages) -> ResultRow:
    message_counts = [stranded[step] for step in steps if step in stranded]
    message_total = (
        None
        if not message_counts or None in message_counts
        else sum(message_count or 0 for message_count in message_counts)
    )
    return {
        **step_group._asdict(),
        "servers": [step.server_name for step in steps],
        **{**change_cells(steps[0].before, steps[0].after), "changes": step_group.changes},
        "messages": message_total,
    }


def _trouble_row(plan_trouble: PlanTrouble) -> ResultRow:
    return {
        "kind": plan_trouble.kind,
        "name": plan_trouble.item_name or None,
        "servers": [plan_trouble.server_name],
        "result": "failed" if plan_trouble.item_name else "unknown",
        "error": error_text(plan_trouble.error),
    }


def summarize_plan(plan_difference: ClusterDiff) -> str:
    """Count the items to create, update and delete, and those that only --prune would delete."""
    counts_by_action = {
        action: len(_changed_items(plan_difference, action)) for action in ("create", "update", "delete")
    }
    if any(counts_by_action.values()):
        summary_text = ", ".join(
            f"{action_count} to {action}" for action, action_count in counts_by_action.items()
        )
    else:
        summary_text = (
            "no changes" if not plan_difference.troubles else "no changes on the servers that answered"
        )
    if not plan_difference.extra_items:
        return summary_text
    return (
        f"{summary_text}; {len(plan_difference.extra_items)} more items are only in the "
        "cluster, not in the file (--prune deletes them)"
    )


def _changed_items(plan_difference: ClusterDiff, action: str) -> set[tuple[str, str]]:
    """The items with such a step; the route of a topic in the plan does not count as another item."""
    topics = {step.item_name for step in plan_difference.steps if step.kind == "topic"}
    steps = (step for step in plan_difference.steps if step.action == action)
    return {
        (step.kind, item_name(step)) for step in steps if step.kind != "route" or step.item_name not in topics
    }


def stranded_warnings(stranded: StrandedMessages) -> list[str]:
    """A line for each topic and broker whose messages become unreadable."""
    warning_lines = []
    for step, message_count in stranded.items():
        if step.after is None:
            queue_range = "its queues"
        else:
            first_queue, last_queue = step.after["readQueueNums"], step.before["readQueueNums"] - 1
            queue_range = (
                f"queue {first_queue}"
                if first_queue == last_queue
                else f"queues {first_queue} to {last_queue}"
            )
        line_start = f"{step.item_name} on {step.server_name}: "
        if message_count is None:
            warning_lines.append(
                f"{line_start}{queue_range} become unreadable, with an unknown number of messages"
            )
        elif message_count:
            messages_text = "1 message" if message_count == 1 else f"{message_count} messages"
            warning_lines.append(f"{line_start}{messages_text} in {queue_range} become unreadable")
    return warning_lines


def preview_steps(plan_difference: ClusterDiff, live_state: ClusterState) -> list[str]:
    """Describe the first steps in words, for the confirmation question."""
    preview_rows = step_rows(pending_outcomes(plan_difference, "planned"), (), {}).rows
    preview_lines = [
        f"{row['action']} {row['kind']} {row['name']}: {row['changes']}{_servers_suffix(row, live_state)}"
        for row in preview_rows
    ]
    if len(preview_lines) <= _MAX_PREVIEW_LINES:
        return preview_lines
    return [
        *preview_lines[:_MAX_PREVIEW_LINES],
        f"... and {len(preview_lines) - _MAX_PREVIEW_LINES} more: nsadmin plan shows all",
    ]


def _servers_suffix(row: ResultRow, live_state: ClusterState) -> str:
    """The servers of a row in brackets, or "" if the row applies to all."""
    step_servers: Any = row["servers"]
    broker_names, namesrv_addrs = (
        {live_server.broker_name for live_server in live_state.broker_states},
        {live_server.namesrv_addr for live_server in live_state.server_states},
    )
    return "" if set(step_servers) in (broker_names, namesrv_addrs) else f" (on {', '.join(step_servers)})"


def count_failures(errors: Iterable[RocketMQError | None]) -> int:
    """Count the errors that are not None."""
    return sum(error is not None for error in errors)
