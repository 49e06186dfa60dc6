"""Executes plan steps phase by phase. After each phase it reads the servers again to verify the changes.

A step is skipped if a step of an earlier phase for the same topic failed. So clients are never sent to queues
that do not exist, and routes go last.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.results import NotApplied, is_unreachable
from nsadmin.client.topics.bulk_changes import DesiredConfig, KvValue, QueueClosure
from nsadmin.operations.plans.batch_sender import AdvanceProgress, ErrorsByStep, ListSender, send_singly
from nsadmin.operations.plans.diff import PlanStep, has_same_settings, phase_of_step
from nsadmin.operations.plans.observer import observe_brokers, observe_name_servers
from nsadmin.operations.plans.records import ClusterState


class StepOutcome(NamedTuple):
    """The result of a step: "done", "failed" or "skipped"; `error` is None if it is done.

    `late_error` says why there was no answer to a step that the server carried out all the same.
    """

    step: PlanStep
    result: str
    error: RocketMQError | None
    late_error: RocketMQError | None = None


def execute_steps(
    admin: AdminClient,
    state: ClusterState,
    steps: Sequence[PlanStep],
    advance: AdvanceProgress = lambda _: None,
) -> list[StepOutcome]:
    """Execute all steps as far as possible; `advance` gets the number of steps just sent."""
    executor = _StepExecutor(admin, state, _list_ordered_topics(state, steps), advance)
    outcomes: list[StepOutcome] = []
    failed_topics: set[str] = set()
    for _, phase_steps in groupby(sorted(steps, key=phase_of_step), key=phase_of_step):
        due = list(phase_steps)
        ready = [step for step in due if not (_is_topic_step(step) and step.item_name in failed_topics)]
        errors = executor.run_phase(ready)
        outcomes += [_outcome_of_step(step, errors, executor.late_errors) for step in due]
        advance(len(due) - len(ready))
        failed_topics.update(o.step.item_name for o in outcomes if o.error and _is_topic_step(o.step))
    return outcomes


def _is_topic_step(step: PlanStep) -> bool:
    return step.kind in ("topic", "orderConf", "route")


def _outcome_of_step(
    step: PlanStep, errors: ErrorsByStep, late_errors: Mapping[PlanStep, RocketMQError]
) -> StepOutcome:
    if step not in errors:
        return StepOutcome(step, "skipped", NotApplied("skipped: an earlier step for this topic failed"))
    error = errors[step]
    if error is not None:
        return StepOutcome(step, "failed", error)
    return StepOutcome(step, "done", None, late_errors.get(step))


class _StepExecutor:
    """Executes one phase after the other."""

    def __init__(
        self, admin: AdminClient, state: ClusterState, ordered_names: set[str], advance: AdvanceProgress
    ) -> None:
        self._admin, self._cluster_state, self._ordered_names, self._advance_progress = (
            admin,
            state,
            ordered_names,
            advance,
        )
        self._master_addrs = {broker.broker_name: broker.master_addr or "" for broker in state.broker_states}
        self._raw_configs: Mapping[tuple[str, str], Mapping[str, Any]] = {}
        self.late_errors: dict[PlanStep, RocketMQError] = {}

    def run_phase(self, steps: Sequence[PlanStep]) -> ErrorsByStep:
        """Send and verify one phase; the errors by step."""
        # These come late, when another operator had time for a change.
        changed = self._find_changed(
            [s for s in steps if s.takes_away or (s.action == "delete" and s.kind in ("topic", "group"))]
        )
        self._advance_progress(len(changed))
        due = [step for step in steps if step not in changed]
        errors = self._verify_results(self._send_phase(due, self._advance_progress))
        ignored = [step for step, error in errors.items() if isinstance(error, _IgnoredChange)]
        if ignored and ignored[0].action != "delete" and ignored[0].kind in ("topic", "group"):
            # A broker ignores a whole list if it already has one of its items exactly so.
            errors |= self._verify_results(self._put_lists(ignored, lambda _: None, one_by_one=True))
        return errors | changed

    def _find_changed(self, steps: Sequence[PlanStep]) -> ErrorsByStep:
        """The steps that are not sent, because the server does not answer or has a change by others."""
        read_present, changed = self._read_state(steps), ErrorsByStep()
        for step in steps:
            try:
                present = read_present(step)
            except RocketMQError as error:
                changed[step] = error
                continue
            # Earlier phases change the order of topics.
            is_topic = step.kind == "topic"
            if not any(has_same_settings(present, known, is_topic) for known in (step.before, step.after)):
                changed[step] = NotApplied("not sent: another change came meanwhile, so make a new plan")
        return changed

    def _send_phase(self, steps: Sequence[PlanStep], advance: AdvanceProgress) -> ErrorsByStep:
        errors: ErrorsByStep = {}
        put_steps = [step for step in steps if step.action != "delete" and step.kind in ("topic", "group")]
        errors |= self._put_lists(put_steps, advance)
        for is_wanted, send_calls, content_of in self._single_requests():
            calls = [(step, self._addr_of_step(step), content_of(step)) for step in steps if is_wanted(step)]
            errors |= send_singly(send_calls, calls, advance)
        return errors

    def _single_requests(
        self,
    ) -> "Iterable[tuple[Callable[[PlanStep], bool], Any, Callable[[PlanStep], Any]]]":
        """Requests for single steps: which steps, how they are sent, and the content of each."""
        bulk_admin, cluster_name = self._admin.bulk, self._cluster_state.cluster_name
        return (
            (
                lambda step: bool(step.namespace),
                bulk_admin.put_values,
                lambda step: KvValue(step.namespace, step.item_name, step.after),
            ),
            (lambda step: _is_deletion_of(step, "topic"), bulk_admin.delete_topics, _item_name),
            (lambda step: _is_deletion_of(step, "group"), bulk_admin.delete_groups, _item_name),
            (
                lambda step: step.kind == "route" and bool(step.after),
                bulk_admin.close_queues,
                lambda step: QueueClosure(step.item_name, tuple(step.after)),
            ),
            (
                lambda step: _is_deletion_of(step, "route"),
                lambda calls: bulk_admin.forget_topics(calls, cluster_name),
                _item_name,
            ),
        )

    def _put_lists(
        self, steps: Sequence[PlanStep], advance: AdvanceProgress, *, one_by_one: bool = False
    ) -> ErrorsByStep:
        errors: ErrorsByStep = {}
        for kind, put_batches in (
            ("topic", self._admin.bulk.put_topics),
            ("group", self._admin.bulk.put_groups),
        ):
            placed = [(self._addr_of_step(step), step) for step in steps if step.kind == kind]
            if placed and kind == "group":
                self._read_raw_configs(step for _, step in placed)
            errors |= ListSender(put_batches, self._desired_config, advance).send_steps(
                placed, singly=one_by_one
            )
        return errors

    def _read_raw_configs(self, steps: Iterable[PlanStep]) -> None:
        """Read the groups' full configs, so that unknown settings of newer releases are not overwritten."""
        addrs = list(dict.fromkeys(self._addr_of_step(step) for step in steps if step.action == "update"))
        tables = self._admin.bulk.list_groups(addrs)
        self._raw_configs = {
            (table.addr, group): config for table in tables for group, config in (table.result or {}).items()
        }

    def _desired_config(self, step: PlanStep) -> DesiredConfig:
        name_key = "topicName" if step.kind == "topic" else "groupName"
        raw = (
            self._raw_configs.get((self._addr_of_step(step), step.item_name), {})
            if step.kind == "group"
            else {}
        )
        wire_config = {**raw, **step.after, name_key: step.item_name}
        fields = {name: value for name, value in wire_config.items() if value is not None}
        return DesiredConfig(fields, step.attribute_changes)

    def _addr_of_step(self, step: PlanStep) -> str:
        return self._master_addrs.get(step.server_name, step.server_name)

    def _verify_results(self, errors: ErrorsByStep) -> ErrorsByStep:
        """The errors after reading the servers again: a request without an answer may have taken effect."""
        present = self._read_state(errors)
        self.late_errors.update(
            {step: error for step, error in errors.items() if error and is_unreachable(error)}
        )
        return {
            step: _verify_step(
                step, error, present, step.kind == "topic" and step.item_name in self._ordered_names
            )
            for step, error in errors.items()
        }

    def _read_state(self, steps: Iterable[PlanStep]) -> "Callable[[PlanStep], Any]":
        """A function that returns the current value for each of these steps.

        The function raises RocketMQError if the server could not be read.
        """
        steps = list(steps)
        asked_brokers = {step.server_name for step in steps if step.server_name in self._master_addrs}
        master_addrs = {broker: self._master_addrs[broker] for broker in sorted(asked_brokers)}
        brokers = (
            observe_brokers(self._admin, master_addrs, self._cluster_state.cluster_name)
            if master_addrs
            else ()
        )
        is_about_servers = any(step.server_name not in self._master_addrs for step in steps)
        closed_topics = sorted({step.item_name for step in steps if step.kind == "route" and step.after})
        namespaces = {step.namespace for step in steps if step.namespace} - {ORDER_CONF_NAMESPACE}
        servers = (
            observe_name_servers(
                self._admin, self._cluster_state.cluster_name, sorted(namespaces), closed_topics
            )
            if is_about_servers
            else ()
        )
        states = {broker.broker_name: broker for broker in brokers} | {
            server.namesrv_addr: server for server in servers
        }

        def read_present(step: PlanStep) -> Any:
            server: Any = states[step.server_name]
            if server.error is not None:
                raise server.error
            if step.kind == "route" and step.after:
                return {broker: server.perms.get(step.item_name, {}).get(broker, 0) for broker in step.after}
            if step.kind == "route":
                return "routed" if step.item_name in server.routed else None
            if step.namespace:
                return server.kv.get(step.namespace, {}).get(step.item_name)
            return (server.topics if step.kind == "topic" else server.groups).get(step.item_name)

        return read_present


class _IgnoredChange(NotApplied):
    """The server answered success, but has a different value."""


def _list_ordered_topics(state: ClusterState, steps: Iterable[PlanStep]) -> set[str]:
    """The topics that have an order configuration, or will have one."""
    configured = {t for s in state.server_states for t in s.kv.get(ORDER_CONF_NAMESPACE, {})}
    changed = {step.item_name: step.after for step in steps if step.kind == "orderConf"}
    return {topic for topic in configured | changed.keys() if changed.get(topic, "") is not None}


def _verify_step(
    step: PlanStep,
    error: RocketMQError | None,
    read_present_value: Callable[[PlanStep], Any],
    is_ordered: bool,
) -> RocketMQError | None:
    """The final error of a step. The value on the server counts more than the server's answer."""
    try:
        value_now = read_present_value(step)
    except RocketMQError as read_error:
        return error or read_error
    if has_same_settings(value_now, step.after, is_ordered):
        return None
    return error or _IgnoredChange(_describe_mismatch(step, value_now))


def _describe_mismatch(step: PlanStep, value_now: Any) -> str:
    if step.action == "delete":
        return "the server reported success, but still has the item"
    if isinstance(value_now, Mapping) and step.kind != "route":
        keys = [name for name, value in step.after.items() if value_now.get(name) != value]
        remark = "; before 5.0 a topic without an orderConf is not ordered" if keys == ["order"] else ""
        return f"ignored: the broker kept the old {' and '.join(keys)}{remark}"
    return "ignored: the server reported success, but has another value"


def _is_deletion_of(step: PlanStep, step_kind: str) -> bool:
    return step.kind == step_kind and step.action == "delete"


def _item_name(step: PlanStep) -> str:
    return step.item_name
