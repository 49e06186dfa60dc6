"""Builds rows of plan steps: one for each item and change, with the servers that it applies to."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import perm_text
from nsadmin.client.results import error_text
from nsadmin.commands.changes import change, words
from nsadmin.operations.plans.carrying import Outcome
from nsadmin.operations.plans.difference import Difference, Step, Trouble
from nsadmin.operations.plans.records import Live
from nsadmin.operations.plans.settings import without_defaults
from nsadmin.output import Row, Rows

COLUMNS = ("kind", "name", "action", "servers", "changes", "before", "after", "messages", "result", "error")
IN_TABLE = ("kind", "name", "action", "servers", "changes", "result", "error")

Stranded = Mapping[Step, int | None]
_SHOWN = 20


class _Alike(NamedTuple):
    """The common part of steps that make the same change to one item with the same result."""

    kind: str
    name: str
    action: str
    changes: str | None
    result: str
    error: str | None


def rows(
    outcomes: Sequence[Outcome], troubles: Sequence[Trouble], stranded: Stranded, notes: Sequence[str] = ()
) -> Rows:
    """The rows of all steps with their results, and of servers and items that could not be compared."""
    groups: dict[_Alike, list[Step]] = {}
    for outcome in outcomes:
        groups.setdefault(_alike(outcome), []).append(outcome.step)
    found = [_row(alike, steps, stranded) for alike, steps in groups.items()]
    found += [_trouble(trouble) for trouble in troubles]
    errors = [None, *(trouble.error for trouble in troubles)] if not outcomes else []
    errors += [outcome.error for outcome in outcomes]
    errors += [trouble.error for trouble in troubles] if outcomes else []
    return Rows(COLUMNS, found, errors, notes, IN_TABLE)


def planned(found: Difference, word: str) -> list[Outcome]:
    """Outcomes of steps that have not run, with `result_word` as their result."""
    return [Outcome(step, word, None) for step in found.steps]


def _alike(outcome: Outcome) -> _Alike:
    step, error = outcome.step, outcome.error
    said = None if error is None else error_text(error)
    return _Alike(step.kind, item_name(step), step.action, _changes(step), outcome.result, said)


def item_name(step: Step) -> str:
    """The name of a step's item; a KV value is named by namespace and key."""
    return f"{step.namespace} {step.name}" if step.kind == "kv" else step.name


def _changes(step: Step) -> str | None:
    """Describe a step's change; a new item is described by its settings that are not the default."""
    if step.kind == "route":
        return _route(step)
    if step.kind in ("topic", "group"):
        before, after = _brief(step, step.before), _brief(step, step.after)
        if step.action == "update":
            before, after = step.before, step.after
        return words(before, after)
    return words(step.before, step.after)


def _route(step: Step) -> str:
    if step.after is None:
        return "gone: its route"
    perms = (f"{name} {perm_text(perm)} -> {perm_text(0)}" for name, perm in step.before.items())
    return f"to brokers that do not have it: {', '.join(perms)}"


def _brief(step: Step, settings: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if settings is None:
        return None
    always = ("readQueueNums", "writeQueueNums", "perm") if step.kind == "topic" else ("retryMaxTimes",)
    shown = {name: settings[name] for name in always}
    return shown | without_defaults("topic" if step.kind == "topic" else "group", settings)


def _row(alike: _Alike, steps: Sequence[Step], stranded: Stranded) -> Row:
    counted = [stranded[step] for step in steps if step in stranded]
    messages = None if not counted or None in counted else sum(number or 0 for number in counted)
    return {
        **alike._asdict(),
        "servers": [step.server for step in steps],
        **{**change(steps[0].before, steps[0].after), "changes": alike.changes},
        "messages": messages,
    }


def _trouble(trouble: Trouble) -> Row:
    return {
        "kind": trouble.kind,
        "name": trouble.name or None,
        "servers": [trouble.server],
        "result": "failed" if trouble.name else "unknown",
        "error": error_text(trouble.error),
    }


def summary(found: Difference) -> str:
    """Count the items to create, update and delete, and those that only --prune would delete."""
    counts = {action: len(_items(found, action)) for action in ("create", "update", "delete")}
    if any(counts.values()):
        text = ", ".join(f"{number} to {action}" for action, number in counts.items())
    else:
        text = "nothing to do" if not found.troubles else "nothing to do where it is known"
    if not found.extra:
        return text
    return f"{text}; {len(found.extra)} more are in the cluster and not in the file (--prune deletes them)"


def _items(found: Difference, action: str) -> set[tuple[str, str]]:
    """The items with such a step; the route of a topic in the plan does not count as another item."""
    topics = {step.name for step in found.steps if step.kind == "topic"}
    steps = (step for step in found.steps if step.action == action)
    return {(step.kind, item_name(step)) for step in steps if step.kind != "route" or step.name not in topics}


def warnings(stranded: Stranded) -> list[str]:
    """A line for each topic and broker whose messages become unreadable."""
    lines = []
    for step, number in stranded.items():
        if step.after is None:
            where = "its queues"
        else:
            first, last = step.after["readQueueNums"], step.before["readQueueNums"] - 1
            where = f"queue {first}" if first == last else f"queues {first} to {last}"
        said = f"{step.name} on {step.server}: "
        if number is None:
            lines.append(
                f"{said}{where} cannot be read any more; how many messages are in there, nobody tells"
            )
        elif number:
            messages = "1 message" if number == 1 else f"{number} messages"
            lines.append(f"{said}{messages} in {where} cannot be read any more")
    return lines


def preview(found: Difference, live: Live) -> list[str]:
    """Describe the first steps in words, for the confirmation question."""
    table = rows(planned(found, "planned"), (), {}).rows
    lines = [
        f"{row['action']} {row['kind']} {row['name']}: {row['changes']}{_where(row, live)}" for row in table
    ]
    if len(lines) <= _SHOWN:
        return lines
    return [*lines[:_SHOWN], f"... and {len(lines) - _SHOWN} more; nsadmin plan shows them all"]


def _where(row: Row, live: Live) -> str:
    """The servers of a row in brackets, or "" if the row applies to all."""
    servers: Any = row["servers"]
    brokers, addrs = {item.name for item in live.brokers}, {item.addr for item in live.name_servers}
    return "" if set(servers) in (brokers, addrs) else f" (on {', '.join(servers)})"


def failed(errors: Iterable[RocketMQError | None]) -> int:
    """Count the errors that are not None."""
    return sum(error is not None for error in errors)
