"""Plan files: a plan is applied as it was reviewed, or refused if the cluster has changed since."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from nsadmin.client import private_file
from nsadmin.operations.plans.difference import Difference, Step
from nsadmin.operations.plans.reading import BadFile, read
from nsadmin.operations.plans.records import Desired, Live
from nsadmin.operations.plans.settings import complete
from nsadmin.operations.plans.writing import text_of

_MARK = "nsadminPlan"
_FORMAT = 1


class SavedPlan(NamedTuple):
    """A desired cluster and its steps; `server_names` are names of brokers and addresses of name servers."""

    desired: Desired
    prune: bool
    servers: tuple[str, ...]
    steps: tuple[Step, ...]


def plan_of(desired: Desired, prune: bool, live: Live, found: Difference) -> SavedPlan:
    """The plan for this diff."""
    return SavedPlan(desired, prune, _servers(live), found.steps)


def to_text(plan: SavedPlan) -> str:
    """The text of the plan file: JSON with one step on each line."""
    head = {
        _MARK: _FORMAT,
        "prune": plan.prune,
        "servers": plan.servers,
        "desired": text_of(plan.desired),
    }
    lines = ",\n".join(json.dumps(step, ensure_ascii=False) for step in plan.steps)
    return f'{json.dumps(head, ensure_ascii=False)[:-1]}, "steps": [\n{lines}\n]}}\n'


def from_text(text: str, name: str) -> SavedPlan | None:
    """The plan in a file's text; None if the text is no plan. `file_name` is for messages.

    Raises:
        InvalidPlanFileError: the plan cannot be read.
    """
    if not text.startswith(f'{{"{_MARK}"'):
        return None
    try:
        value = json.loads(text)
        if value[_MARK] != _FORMAT:
            raise BadFile([f"{name}:1: a plan of format {value[_MARK]}: this release knows {_FORMAT} alone"])
        steps = tuple(_step(*item) for item in value["steps"])
        desired = read(value["desired"], f"{name} (desired)")
        return SavedPlan(desired, bool(value["prune"]), tuple(value["servers"]), steps)
    except (ValueError, KeyError, TypeError) as error:
        raise BadFile([f"{name}:1: a plan that cannot be read ({error}): make it again"]) from None


def _step(kind: Any, name: str, server: str, before: Any, after: Any, namespace: str) -> Step:
    if kind in ("topic", "group"):
        before, after = (item and complete(kind, item) for item in (before, after))
    return Step(kind, name, server, before, after, namespace)


def moved(plan: SavedPlan, live: Live, found: Difference) -> list[str]:
    """The reasons why the plan is out of date, one line each. Steps that are already done are no reason."""
    servers = _servers(live)
    reasons = [f"{name} was not there" for name in servers if name not in plan.servers]
    reasons += [f"{name} is not there any more" for name in plan.servers if name not in servers]
    reasons += [f"{trouble.server} cannot be asked: {trouble.error}" for trouble in found.troubles]
    planned = {_place(step): step for step in plan.steps}
    for step in found.steps:
        before = planned.get(_place(step))
        if before is None:
            reasons.append(f"{_named(step)} was as it is wanted when the plan was made, and is not now")
        elif before != step:
            reasons.append(f"{_named(step)} is not as it was when the plan was made")
    return reasons


def _place(step: Step) -> tuple[str, str, str, str]:
    return step.kind, step.namespace, step.name, step.server


def _named(step: Step) -> str:
    return f"{step.kind} {' '.join(filter(None, (step.namespace, step.name)))} on {step.server}"


def _servers(live: Live) -> tuple[str, ...]:
    brokers = (broker.name for broker in live.brokers)
    return (*brokers, *(server.addr for server in live.name_servers))


def save(path: Path, plan: SavedPlan) -> None:
    """Replace the file. Only its owner can read it, because values may be secret.

    Raises:
        OSError: the file cannot be written.
    """
    private_file.replace(str(path), to_text(plan))
