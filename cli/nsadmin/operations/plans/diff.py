"""The diff between a desired cluster and its state, as ordered steps. Pure and deterministic."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import resource_attributes, resource_names
from nsadmin.client.consumers.groups import select_user_groups
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.results import NotApplied, NotFound
from nsadmin.console.phrases import count_noun
from nsadmin.operations.plans.cluster_export import (
    select_cluster_confs,
    select_user_topics,
)
from nsadmin.operations.plans.records import (
    ClusterState,
    DesiredCluster,
    ItemSpec,
    LiveBrokerState,
    LiveNameServerState,
)
from nsadmin.operations.plans.settings import ItemSettings, SpreadKind

StepKind = Literal["topic", "group", "route", "orderConf", "kv"]
StepAction = Literal["create", "update", "delete"]


class PlanStep(NamedTuple):
    """One change on one server: a broker by name, or a name server by address.

    `before` and `after` are the complete settings of a topic or group, or the value of an orderConf or of a
    key in `namespace`; None means absent. A "route" step changes a topic's route on a name server: it deletes
    the route of a topic without brokers, or closes the queues of brokers without the topic.
    """

    kind: StepKind
    item_name: str
    server_name: str
    before: Any
    after: Any
    namespace: str = ""

    def __hash__(self) -> int:
        # Settings are maps, which have no hash. A server has at most one step for each item.
        return hash((self.kind, self.namespace, self.item_name, self.server_name))

    @property
    def action(self) -> StepAction:
        return "create" if self.before is None else "delete" if self.after is None else "update"

    @property
    def attribute_changes(self) -> dict[str, str]:
        """New attributes of a topic or group by +NAME, and removed ones by -NAME."""
        if self.kind not in ("topic", "group") or self.after is None:
            return {}
        return resource_attributes.sign_changes(
            (self.before or {}).get("attributes", {}), self.after["attributes"]
        )

    @property
    def takes_away(self) -> bool:
        """Whether a topic loses queues or its order. Brokers restore the order while it has an orderConf."""
        if self.kind != "topic" or self.action != "update":
            return False
        return any(self.after[n] < self.before[n] for n in ("readQueueNums", "writeQueueNums", "order"))


class PlanTrouble(NamedTuple):
    """An error that hides or prevents changes on one server; `item_name` is "" for the whole server."""

    server_name: str
    error: RocketMQError
    kind: StepKind | None = None
    item_name: str = ""

    @property
    def is_silent(self) -> bool:
        """Whether the server did not answer, so that its items are unknown."""
        return self.kind is None


class ClusterDiff(NamedTuple):
    """The steps and troubles; `extra_items` are (kind, name) pairs that are not in the file and stay."""

    steps: tuple[PlanStep, ...]
    troubles: tuple[PlanTrouble, ...]
    extra_items: tuple[tuple[StepKind, str], ...]

    @property
    def deleted_items(self) -> set[tuple[StepKind, str, str]]:
        """The items that are deleted on some server, each once, as (kind, namespace, name)."""
        deletion_steps = (step for step in self.steps if step.action == "delete" and step.kind != "route")
        return {(step.kind, step.namespace, step.item_name) for step in deletion_steps}


def compute_diff(desired: DesiredCluster, state: ClusterState, *, prune: bool = False) -> ClusterDiff:
    """The steps in execution order. `prune` also deletes items that are not in the file."""
    builder = _DiffBuilder(state)
    builder.add_item_steps("topic", desired.topic_specs, desired, prune)
    builder.add_item_steps("group", desired.group_specs, desired, prune)
    builder.add_route_steps(desired, prune)
    if desired.order_confs is not None:
        _add_value_steps(builder, "orderConf", ORDER_CONF_NAMESPACE, desired.order_confs, prune)
    for namespace, kv_values in (desired.kv_tables or {}).items():
        _add_value_steps(builder, "kv", namespace, kv_values, prune)
    steps = tuple(sorted(builder.steps, key=lambda step: (phase_of_step(step), *_step_sort_key(step))))
    return ClusterDiff(steps, tuple(builder.troubles), tuple(sorted(builder.extra_items)))


def phase_of_step(step: PlanStep) -> int:
    """The phase of a step: queues are created before clients are sent to them, and deleted afterwards."""
    if step.kind == "route" or (step.action == "delete" and step.kind in _LATE_PHASES):
        return _LATE_PHASES[step.kind]
    if step.kind == "topic":
        return 4 if step.takes_away else 0
    return {"group": 1, "orderConf": 2}.get(step.kind, 3)


_LATE_PHASES = {"group": 5, "topic": 6, "route": 7}


def _step_sort_key(step: PlanStep) -> tuple[str, str, str, str]:
    return step.kind, step.namespace, step.item_name, step.server_name


class _DiffBuilder:
    """Collects steps, troubles and extra items."""

    def __init__(self, state: ClusterState) -> None:
        self.cluster_state = state
        self.known_brokers = [b for b in state.broker_states if b.error is None]
        self.steps: list[PlanStep] = []
        self.troubles = [PlanTrouble(b.broker_name, b.error) for b in state.broker_states if b.error]
        self.troubles += [PlanTrouble(s.namesrv_addr, s.error) for s in state.server_states if s.error]
        self.extra_items: set[tuple[StepKind, str]] = set()

    @property
    def known_servers(self) -> Iterator[LiveNameServerState]:
        return (s for s in self.cluster_state.server_states if s.error is None)

    def add_item_steps(
        self,
        spread_kind: SpreadKind,
        specs: Mapping[str, ItemSpec] | None,
        desired: DesiredCluster,
        prune: bool,
    ) -> None:
        if specs is None:
            return
        ordered_topics = self._list_ordered_topics(desired, prune) if spread_kind == "topic" else frozenset()
        broker_names = [broker.broker_name for broker in self.cluster_state.broker_states]
        self._report_unknown_brokers(spread_kind, specs, broker_names)
        wanted_settings = {
            name: _with_order(spec.settings_on_brokers(spread_kind, broker_names), name in ordered_topics)
            for name, spec in specs.items()
        }
        for broker in self.known_brokers:
            present_settings = broker.topics if spread_kind == "topic" else broker.groups
            for item_name, settings_by_broker in wanted_settings.items():
                before, after = (present_settings.get(item_name), settings_by_broker.get(broker.broker_name))
                if not has_same_settings(before, after, item_name in ordered_topics):
                    self._add_item_step(
                        PlanStep(spread_kind, item_name, broker.broker_name, before, after), broker, prune
                    )
            user_items = (
                select_user_topics(broker) if spread_kind == "topic" else select_user_groups(broker.groups)
            )
            for item_name in user_items.keys() - specs.keys():
                self._delete_or_count(
                    PlanStep(spread_kind, item_name, broker.broker_name, user_items[item_name], None), prune
                )

    def _add_item_step(self, step: PlanStep, broker: LiveBrokerState, prune: bool) -> None:
        if step.kind == "topic" and step.item_name in broker.static:
            error = NotApplied("static topic: `nsadmin updateStaticTopic --help` shows how to change it")
            self.troubles.append(PlanTrouble(broker.broker_name, error, step.kind, step.item_name))
        elif step.after is None:
            self._delete_or_count(step, prune)
        elif (problem := find_problem(step)) is not None:
            error = NotApplied(problem)
            self.troubles.append(PlanTrouble(broker.broker_name, error, step.kind, step.item_name))
        else:
            self.steps.append(step)

    def _delete_or_count(self, step: PlanStep, prune: bool) -> None:
        """Delete an item that is not desired, or count it as extra."""
        if prune:
            self.steps.append(step)
        else:
            self.extra_items.add((step.kind, step.item_name))

    def _report_unknown_brokers(
        self, spread_kind: SpreadKind, specs: Mapping[str, ItemSpec], names: Iterable[str]
    ) -> None:
        """Report the brokers that the file names and that are not registered."""
        for broker_name in sorted({n for s in specs.values() for n in s.named_brokers}.difference(names)):
            item_count = sum(broker_name in item_spec.named_brokers for item_spec in specs.values())
            item_count_text = count_noun(item_count, spread_kind)
            error = NotFound(f"the broker is not registered, but the file names it for {item_count_text}")
            self.troubles.append(PlanTrouble(broker_name, error, spread_kind))

    def _list_ordered_topics(self, desired: DesiredCluster, prune: bool) -> frozenset[str]:
        """The topics that will have an order configuration. Brokers make these topics ordered."""
        topics = {topic for s in self.known_servers for topic in s.kv.get(ORDER_CONF_NAMESPACE, {})}
        if desired.order_confs is None:
            return frozenset(topics)
        return frozenset(desired.order_confs) if prune else frozenset(topics | desired.order_confs.keys())

    def add_route_steps(self, desired: DesiredCluster, prune: bool) -> None:
        """Add steps for routes of topics that no broker will have; none unless all brokers answered."""
        if (
            desired.topic_specs is None
            or not prune
            or len(self.known_brokers) < len(self.cluster_state.broker_states)
        ):
            return
        remaining = self._brokers_by_topic()
        for server in self.known_servers:
            for topic in server.routed - remaining.keys():
                self.steps.append(PlanStep("route", topic, server.namesrv_addr, "routed", None))
            for topic, perms_by_broker in server.perms.items():
                stale_perms = {
                    broker_name: perm
                    for broker_name, perm in perms_by_broker.items()
                    if perm and broker_name in self._brokers_without_topic(topic, remaining)
                }
                if stale_perms and topic in remaining:
                    closed_perms = dict.fromkeys(stale_perms, 0)
                    self.steps.append(
                        PlanStep("route", topic, server.namesrv_addr, stale_perms, closed_perms)
                    )

    def _brokers_without_topic(self, topic: str, remaining: Mapping[str, set[str]]) -> set[str]:
        return {b.broker_name for b in self.known_brokers} - remaining.get(topic, set())

    def _brokers_by_topic(self) -> dict[str, set[str]]:
        """Each remaining topic with the brokers that will have it."""
        remaining: dict[str, set[str]] = {}
        for broker in self.known_brokers:
            for topic in broker.topics.keys() | broker.own_topics:
                remaining.setdefault(topic, set()).add(broker.broker_name)
        for step in self.steps:
            if step.kind == "topic" and step.after is None:
                remaining[step.item_name].discard(step.server_name)
            elif step.kind == "topic":
                remaining.setdefault(step.item_name, set()).add(step.server_name)
        return {topic: broker_names for topic, broker_names in remaining.items() if broker_names}


def find_problem(step: PlanStep) -> str | None:
    """Why brokers refuse a step of a topic or group: the name of a new one, or its attributes; or None."""
    find_name_problem = (
        resource_names.find_topic_name_problem
        if step.kind == "topic"
        else resource_names.find_group_name_problem
    )
    return (find_name_problem(step.item_name) if step.action == "create" else None) or (
        resource_attributes.find_refusal(
            step.kind, step.before and step.before.get("attributes", {}), step.after["attributes"]
        )
    )


def has_same_settings(first_settings: Any, second_settings: Any, is_ordered: bool) -> bool:
    """Whether settings are the same. For a topic with an orderConf, `order` does not count.

    Brokers make such a topic ordered; until it has an orderConf, 4.9 brokers reset its order.
    """
    if first_settings == second_settings or not is_ordered or not first_settings or not second_settings:
        return bool(first_settings == second_settings)
    return bool({**first_settings, "order": True} == {**second_settings, "order": True})


def _with_order(settings_by_broker: dict[str, ItemSettings], is_ordered: bool) -> dict[str, ItemSettings]:
    if not is_ordered:
        return settings_by_broker
    return {broker_name: {**settings, "order": True} for broker_name, settings in settings_by_broker.items()}


def _add_value_steps(
    builder: _DiffBuilder,
    step_kind: Literal["orderConf", "kv"],
    namespace: str,
    wanted_values: Mapping[str, str],
    prune: bool,
) -> None:
    """Add the steps for the values of a namespace on each name server."""
    for server in builder.known_servers:
        present_values = server.kv.get(namespace, {})
        for key, kv_value in wanted_values.items():
            if present_values.get(key) != kv_value:
                builder.steps.append(
                    PlanStep(
                        step_kind, key, server.namesrv_addr, present_values.get(key), kv_value, namespace
                    )
                )
        extra_values = (
            select_cluster_confs(present_values, builder.cluster_state.broker_states)
            if step_kind == "orderConf"
            else present_values
        )
        for key in extra_values.keys() - wanted_values.keys():
            builder._delete_or_count(
                PlanStep(step_kind, key, server.namesrv_addr, present_values[key], None, namespace), prune
            )
