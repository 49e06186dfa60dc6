"""Owns the rows of plan steps: one for each item and change, with the servers that it applies to."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import perm_text
from nsadmin.client.results import error_text
from nsadmin.commands.columns.changes import (
    AFTER,
    BEFORE,
    CHANGES,
    RESULT,
    describe_change,
    describe_item_change,
)
from nsadmin.commands.columns.servers import ERROR
from nsadmin.console.output import Column, Columns, ResultRows, replace_columns
from nsadmin.console.phrases import abbreviate_names, count_noun
from nsadmin.operations.plans.diff import ClusterDiff, PlanStep, PlanTrouble
from nsadmin.operations.plans.executor import StepOutcome
from nsadmin.operations.plans.records import ClusterState
from nsadmin.operations.plans.stranded_messages import count_readable_queues, writes_unread_queues


class PlanRow(NamedTuple):
    """Steps that make the same change to one item with the same result, or a server or item that failed."""

    kind: str | None
    name: str | None
    action: str | None
    servers: list[str]
    changes: str | None
    before: Any
    after: Any
    messages: int | None
    result: str
    error: str | None


APPLY_COLUMNS: Columns[PlanRow] = (
    Column(
        "kind",
        "topic, group, orderConf, kv, or route (the routes of a deleted topic on name servers)",
        lambda r: r.kind,
    ),
    Column("name", "name of the topic or group; for a KV value, its namespace and key", lambda r: r.name),
    Column("action", "create, update or delete", lambda r: r.action),
    Column("servers", "the brokers (by name) or name servers (by address) of this row", lambda r: r.servers),
    CHANGES,
    BEFORE.means("the current settings, with the wire's names, or the current value; null for none"),
    AFTER.means("the wanted settings, with the wire's names, or the wanted value; null for none"),
    Column(
        "messages",
        "messages that a group has not consumed in removed queues, or all of a deleted topic; null if no "
        "queue is removed, or if the number is unknown",
        lambda r: r.messages,
        wide=True,
    ),
    RESULT.means("done, dry-run, failed, skipped after a failure, or unknown (the server does not answer)"),
    ERROR.of(lambda r: r.error),
)
PLAN_COLUMNS = replace_columns(
    APPLY_COLUMNS, RESULT.means("planned, failed (not possible), or unknown (the server does not answer)")
)

StrandedMessages = Mapping[PlanStep, int | None]
_MAX_PREVIEW_LINES = 20


def step_rows(
    outcomes: Sequence[StepOutcome],
    plan_troubles: Sequence[PlanTrouble],
    stranded: StrandedMessages,
    notes: Sequence[str] = (),
    columns: Columns[PlanRow] = APPLY_COLUMNS,
) -> ResultRows:
    """The rows of all steps with their results, and of servers and items that could not be compared."""
    rows = [*_group_steps(outcomes, stranded), *map(_trouble_row, plan_troubles)]
    errors = [None, *(trouble.error for trouble in plan_troubles)] if not outcomes else []
    errors += [outcome.error for outcome in outcomes]
    errors += [trouble.error for trouble in plan_troubles] if outcomes else []
    return ResultRows.from_records(columns, rows, errors, notes)


def _group_steps(outcomes: Iterable[StepOutcome], stranded: StrandedMessages) -> list[PlanRow]:
    """A row for each item, change and result."""
    steps_by_group: dict[tuple[str, str, str, str | None, str, str | None], list[PlanStep]] = {}
    for step, result, failure, *_ in outcomes:
        error = None if failure is None else error_text(failure)
        key = (step.kind, item_name(step), step.action, _describe_step(step), result, error)
        steps_by_group.setdefault(key, []).append(step)
    rows = []
    for (kind, name, action, changes, result, error), steps in steps_by_group.items():
        counts = [stranded[step] for step in steps if step in stranded]
        messages = None if not counts or None in counts else sum(count or 0 for count in counts)
        servers = [step.server_name for step in steps]
        before, after = steps[0].before, steps[0].after
        rows.append(PlanRow(kind, name, action, servers, changes, before, after, messages, result, error))
    return rows


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
    queues = ", ".join(f"{broker_name} ({perm_text(perm)})" for broker_name, perm in step.before.items())
    lacking = "this broker does" if len(step.before) == 1 else "these brokers do"
    return f"closes the queues of {queues} in its route: {lacking} not have the topic"


def _trouble_row(trouble: PlanTrouble) -> PlanRow:
    result = "failed" if trouble.item_name else "unknown"
    name, servers = trouble.item_name or None, [trouble.server_name]
    return PlanRow(
        trouble.kind, name, None, servers, None, None, None, None, result, error_text(trouble.error)
    )


def summarize_plan(plan_difference: ClusterDiff) -> str:
    """Count the items to create, update and delete, and those that only the cluster has."""
    counts = {
        action: len(_changed_items(plan_difference, action)) for action in ("create", "update", "delete")
    }
    if any(counts.values()):
        summary = ", ".join(f"{count} to {action}" for action, count in counts.items())
    else:
        summary = "no changes"
        if any(trouble.is_silent for trouble in plan_difference.troubles):
            summary = "no changes on the servers that answered"
        elif plan_difference.troubles:
            summary = "no changes that are possible"
    if not plan_difference.extra_items:
        return summary
    verb = "stays" if len(plan_difference.extra_items) == 1 else "stay"
    extra_text = count_noun(len(plan_difference.extra_items), "item")
    return f"{summary}; {extra_text} of the cluster that the file does not have {verb} (without --prune)"


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
        first_queue = count_readable_queues(step.after)
        last_queue = step.before["readQueueNums"] - 1
        if not first_queue:
            queue_range = "its queues"
        elif first_queue == last_queue:
            queue_range = f"queue {first_queue}"
        else:
            queue_range = f"queues {first_queue} to {last_queue}"
        line_start = f"{step.item_name} on {step.server_name}: "
        noun = "message" if step.action == "delete" else "unconsumed message"
        if message_count is None:
            verb = "becomes" if first_queue and first_queue == last_queue else "become"
            warning_lines.append(
                f"{line_start}{queue_range} {verb} unreadable, with an unknown number of {noun}s"
            )
        elif message_count:
            verb = "becomes" if message_count == 1 else "become"
            warning_lines.append(
                f"{line_start}{count_noun(message_count, noun)} in {queue_range} {verb} unreadable"
            )
    return warning_lines


def unread_warnings(steps: Iterable[PlanStep]) -> list[str]:
    """A line for the steps of a topic that make producers write to queues that no consumer reads."""
    brokers_by_text: dict[str, list[str]] = {}
    for step in steps:
        if step.kind == "topic" and writes_unread_queues(step.before, step.after):
            first_queue = count_readable_queues(step.after)
            queues = f"queues {first_queue} and up" if first_queue else "any queue"
            text = f"consumers will not be able to read the messages of {step.item_name} in {queues}"
            brokers_by_text.setdefault(text, []).append(step.server_name)
    return [f"{text} on {abbreviate_names(names, 3)}" for text, names in brokers_by_text.items()]


def preview_steps(plan_difference: ClusterDiff, live_state: ClusterState) -> list[str]:
    """Describe the first steps in words, for the confirmation question."""
    lines = [
        f"{row.action} {row.kind} {row.name}: {row.changes}{_servers_suffix(row, live_state)}"
        for row in _group_steps(pending_outcomes(plan_difference, "planned"), {})
    ]
    if len(lines) <= _MAX_PREVIEW_LINES:
        return lines
    hidden_count = len(lines) - _MAX_PREVIEW_LINES
    return [*lines[:_MAX_PREVIEW_LINES], f"... and {hidden_count} more: --dry-run shows all"]


def _servers_suffix(row: PlanRow, live_state: ClusterState) -> str:
    """The servers of a row in brackets, or "" if the row applies to all."""
    broker_names = {broker.broker_name for broker in live_state.broker_states}
    namesrv_addrs = {server.namesrv_addr for server in live_state.server_states}
    return "" if set(row.servers) in (broker_names, namesrv_addrs) else f" (on {', '.join(row.servers)})"


def count_failures(errors: Iterable[RocketMQError | None]) -> int:
    """Count the errors that are not None."""
    return sum(error is not None for error in errors)
