"""Plan files: a plan is applied as it was reviewed, or refused if the cluster has changed since."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from namesrv_core import operator_files
from nsadmin.client import private_file
from nsadmin.client.results import error_text
from nsadmin.operations.plans.diff import ClusterDiff, PlanStep, PlanTrouble
from nsadmin.operations.plans.records import ClusterState, DesiredCluster
from nsadmin.operations.plans.settings import complete_settings
from nsadmin.operations.plans.yaml_reader import InvalidPlanFileError, read_desired_cluster
from nsadmin.operations.plans.yaml_writer import format_cluster

_FORMAT_KEY = "nsadminPlan"
_PLAN_FORMAT = 1


class SavedPlan(NamedTuple):
    """A desired cluster and its steps; `server_names` are names of brokers and addresses of name servers."""

    desired_cluster: DesiredCluster
    prune: bool
    server_names: tuple[str, ...]
    plan_steps: tuple[PlanStep, ...]


def make_saved_plan(
    desired_cluster: DesiredCluster, prune: bool, cluster_state: ClusterState, cluster_diff: ClusterDiff
) -> SavedPlan:
    return SavedPlan(desired_cluster, prune, _server_names(cluster_state), cluster_diff.steps)


def format_plan(saved_plan: SavedPlan) -> str:
    head_fields = {
        _FORMAT_KEY: _PLAN_FORMAT,
        "prune": saved_plan.prune,
        "servers": saved_plan.server_names,
        "desired": format_cluster(saved_plan.desired_cluster),
    }
    step_lines = ",\n".join(json.dumps(plan_step, ensure_ascii=False) for plan_step in saved_plan.plan_steps)
    return f'{json.dumps(head_fields, ensure_ascii=False)[:-1]}, "steps": [\n{step_lines}\n]}}\n'


def parse_plan(file_text: str, file_name: str) -> SavedPlan | None:
    """The plan in a file's text; None if the text is not a plan. `file_name` is for messages.

    Raises InvalidPlanFileError if the plan cannot be read.
    """
    if not file_text.startswith(f'{{"{_FORMAT_KEY}"'):
        return None
    try:
        json_value = operator_files.parse_json(file_text)
        if json_value[_FORMAT_KEY] != _PLAN_FORMAT:
            raise InvalidPlanFileError(
                [
                    f"{file_name}:1: plan format {json_value[_FORMAT_KEY]} is not supported: this release "
                    f"reads format {_PLAN_FORMAT}"
                ]
            )
        plan_steps = tuple(_parse_step(*step_fields) for step_fields in json_value["steps"])
        desired_cluster = read_desired_cluster(json_value["desired"], f"{file_name} (desired)")
        return SavedPlan(desired_cluster, bool(json_value["prune"]), tuple(json_value["servers"]), plan_steps)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidPlanFileError(
            [f"{file_name}:1: malformed plan ({error}): make the plan again"]
        ) from None


def _parse_step(
    step_kind: Any, item_name: str, server_name: str, value_before: Any, value_after: Any, namespace: str
) -> PlanStep:
    if step_kind in ("topic", "group"):
        value_before, value_after = (
            value and complete_settings(step_kind, value) for value in (value_before, value_after)
        )
    return PlanStep(step_kind, item_name, server_name, value_before, value_after, namespace)


def explain_changes(
    saved_plan: SavedPlan, cluster_state: ClusterState, cluster_diff: ClusterDiff
) -> list[str]:
    """The reasons why the plan is out of date, one line each. Steps that are already done do not count."""
    server_names = _server_names(cluster_state)
    reasons = [f"{name} is new" for name in server_names if name not in saved_plan.server_names]
    reasons += [f"{n} is no longer there" for n in saved_plan.server_names if n not in server_names]
    reasons += [_explain_trouble(trouble) for trouble in cluster_diff.troubles]
    planned_steps = {_step_key(plan_step): plan_step for plan_step in saved_plan.plan_steps}
    for plan_step in cluster_diff.steps:
        planned_step = planned_steps.get(_step_key(plan_step))
        if planned_step is None:
            reasons.append(
                f"{_describe_step(plan_step)} was as requested when the plan was made, but has changed"
            )
        elif planned_step != plan_step:
            reasons.append(f"{_describe_step(plan_step)} has changed since the plan was made")
    return reasons


def _explain_trouble(trouble: PlanTrouble) -> str:
    if trouble.is_silent:
        return f"{trouble.server_name} does not answer: {error_text(trouble.error)}"
    item = f"{trouble.kind} {trouble.item_name} on " if trouble.item_name else ""
    return f"{item}{trouble.server_name}: {error_text(trouble.error)}"


def _step_key(plan_step: PlanStep) -> tuple[str, str, str, str]:
    return plan_step.kind, plan_step.namespace, plan_step.item_name, plan_step.server_name


def _describe_step(step: PlanStep) -> str:
    return f"{step.kind} {' '.join(filter(None, (step.namespace, step.item_name)))} on {step.server_name}"


def _server_names(cluster_state: ClusterState) -> tuple[str, ...]:
    broker_names = (broker_state.broker_name for broker_state in cluster_state.broker_states)
    return (*broker_names, *(server_state.namesrv_addr for server_state in cluster_state.server_states))


def save_plan(plan_path: Path, saved_plan: SavedPlan) -> None:
    """Replace the file. Only its owner can read it, because values may be secret.

    Raises OSError if the file cannot be written.
    """
    private_file.replace_private_file(str(plan_path), format_plan(saved_plan))
