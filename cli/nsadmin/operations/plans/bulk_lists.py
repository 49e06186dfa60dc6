"""Lists of topics or groups from mqadmin's files or ours, and the steps that they need. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.results import NotApplied
from nsadmin.operations.plans.diff import PlanStep, find_name_problem, has_same_settings
from nsadmin.operations.plans.executor import StepOutcome
from nsadmin.operations.plans.fields import GROUP_NAME, GROUP_SETTINGS, TOPIC_NAME, TOPIC_SETTINGS
from nsadmin.operations.plans.records import ClusterState, ItemSpec, LiveBrokerState
from nsadmin.operations.plans.settings import ItemSettings, SpreadKind, complete_settings
from nsadmin.operations.plans.shapes import (
    ListShape,
    MapShape,
    NameShape,
    RecordField,
    RecordShape,
    TextShape,
)
from nsadmin.operations.plans.yaml_reader import (
    InvalidPlanFileError,
    compose_yaml,
    read_desired_cluster,
    read_value,
)

_NULL_TAG = "tag:yaml.org,2002:null"
_ATTRIBUTES_SHAPE = MapShape(
    NameShape("attribute", r"[+-]?[^+,=\s-][^,=\s]*", "NAME, +NAME or -NAME"), TextShape()
)
_NAME_KEYS: Mapping[SpreadKind, str] = {"topic": "topicName", "group": "groupName"}
_TABLE_NAMES: Mapping[SpreadKind, str] = {"topic": "topicConfigTable", "group": "subscriptionGroupTable"}
# Defaults of Java's config classes for list files; mqadmin's commands for one item have other defaults.
_NEW_ITEM_SETTINGS: Mapping[SpreadKind, ItemSettings] = {
    "topic": {"readQueueNums": 16, "writeQueueNums": 16},
    "group": {"consumeFromMinEnable": True, "consumeBroadcastEnable": True},
}


class ListedItem(NamedTuple):
    """A topic or group of mqadmin's file: the settings in the file, attributes with or without signs.

    By default a new topic has 16 queues, and a new group may broadcast and starts at the minimum offset.
    """

    item_name: str
    settings: ItemSettings
    signed_attributes: Mapping[str, str]

    def apply_to(self, spread_kind: SpreadKind, settings_before: ItemSettings | None) -> ItemSettings:
        """The desired settings on a broker with `settings_before`, which is None if the item is absent."""
        attributes_after = dict((settings_before or {}).get("attributes", {}))
        for attribute_name, attribute_value in self.signed_attributes.items():
            if attribute_name.startswith("-"):
                attributes_after.pop(attribute_name[1:], None)
            else:
                attributes_after[attribute_name.removeprefix("+")] = attribute_value
        base_settings = _NEW_ITEM_SETTINGS[spread_kind] if settings_before is None else settings_before
        return complete_settings(
            spread_kind, {**base_settings, **self.settings, "attributes": attributes_after}
        )


class ItemList(NamedTuple):
    """The content of a list file: `items` of mqadmin's file, or complete `specs` of ours.

    `is_sum` is true for mqadmin's exportMetadata file of a whole cluster, which adds up queues of brokers.
    """

    kind: SpreadKind
    items: tuple[ListedItem, ...] = ()
    specs: Mapping[str, ItemSpec] | None = None
    is_sum: bool = False

    @property
    def item_names(self) -> list[str]:
        """The names of the topics or groups, in the order of the file."""
        return [item.item_name for item in self.items] if self.specs is None else list(self.specs)

    def desired_settings(
        self, broker_name: str, present_items: Mapping[str, ItemSettings]
    ) -> dict[str, ItemSettings | None]:
        """The desired settings of each item on this broker; None if the item is not for this broker."""
        if self.specs is None:
            return {
                item.item_name: item.apply_to(self.kind, present_items.get(item.item_name))
                for item in self.items
            }
        return {
            item_name: spec.settings_on_brokers(self.kind, [broker_name]).get(broker_name)
            for item_name, spec in self.specs.items()
        }


def read_list(spread_kind: SpreadKind, file_text: str, file_name: str) -> ItemList:
    """Read the list in a file's text; `file_name` is for messages.

    Raises:
        InvalidPlanFileError: with all problems of the file.
    """
    root_node = compose_yaml(file_text, file_name)
    nodes_by_key = (
        {str(key_node.value): value_node for key_node, value_node in root_node.value}
        if _is_map_node(root_node)
        else {}
    )
    if "cluster" in nodes_by_key:
        desired_cluster = read_desired_cluster(file_text, file_name)
        item_specs = desired_cluster.topic_specs if spread_kind == "topic" else desired_cluster.group_specs
        if not item_specs:
            raise InvalidPlanFileError([f"{file_name}:1: no {spread_kind}s in the file"])
        return ItemList(spread_kind, specs=item_specs)
    table_node = nodes_by_key.get(_TABLE_NAMES[spread_kind])
    list_node = root_node if table_node is None else table_node
    if table_node is None and getattr(root_node, "id", None) != "sequence":
        raise InvalidPlanFileError(
            [
                f"{file_name}:1: not a list of {spread_kind}s in mqadmin's format, and not a file of "
                "`nsadmin export`"
            ]
        )
    _drop_nulls(list_node)
    item_shape = _ITEM_SHAPES[spread_kind]
    parsed_list = read_value(
        list_node,
        ListShape(item_shape) if table_node is None else MapShape(TextShape(), item_shape),
        file_name,
    )
    listed_items = tuple(
        _parse_item(spread_kind, value_node)
        for value_node in (parsed_list if table_node is None else parsed_list.values())
    )
    if not listed_items:
        raise InvalidPlanFileError([f"{file_name}:1: no {spread_kind}s in the file"])
    if table_node is None:
        _require_different(
            [listed_item.item_name for listed_item in listed_items], list_node.value, file_name
        )
    return ItemList(spread_kind, listed_items, is_sum="exportTime" in nodes_by_key)


def _is_map_node(node: Any) -> bool:
    return getattr(node, "id", None) == "mapping"


def _parse_item(spread_kind: SpreadKind, parsed_fields: Mapping[str, Any]) -> ListedItem:
    settings = {
        setting_name: setting_value
        for setting_name, setting_value in parsed_fields.items()
        if setting_name not in (_NAME_KEYS[spread_kind], "attributes")
    }
    return ListedItem(parsed_fields[_NAME_KEYS[spread_kind]], settings, parsed_fields.get("attributes", {}))


def _drop_nulls(yaml_node: Any) -> None:
    """Remove null values: Java writes null for absent fields."""
    if _is_map_node(yaml_node):
        yaml_node.value = [
            (key_node, value_node) for key_node, value_node in yaml_node.value if value_node.tag != _NULL_TAG
        ]
        child_nodes = [value_node for _, value_node in yaml_node.value]
    else:
        child_nodes = yaml_node.value if yaml_node.id == "sequence" else []
    for child_node in child_nodes:
        _drop_nulls(child_node)


def _require_different(item_names: Sequence[str], item_nodes: Sequence[Any], file_name: str) -> None:
    seen_names: set[str] = set()
    duplicate_problems = []
    for item_name, item_node in zip(item_names, item_nodes, strict=True):
        if item_name in seen_names:
            duplicate_problems.append(f"{file_name}:{item_node.start_mark.line + 1}: duplicate {item_name}")
        seen_names.add(item_name)
    if duplicate_problems:
        raise InvalidPlanFileError(duplicate_problems)


def _item_shape(spread_kind: SpreadKind, settings_shape: RecordShape, name_shape: NameShape) -> RecordShape:
    other_fields = (
        record_field for record_field in settings_shape.record_fields if record_field.key != "attributes"
    )
    name_field = RecordField(
        _NAME_KEYS[spread_kind], name_shape, f"name of the {spread_kind}", is_required=True
    )
    return RecordShape(
        (
            name_field,
            *other_fields,
            RecordField("attributes", _ATTRIBUTES_SHAPE, "attributes by name, with or without a sign"),
        )
    )


_ITEM_SHAPES: Mapping[SpreadKind, RecordShape] = {
    "topic": _item_shape("topic", TOPIC_SETTINGS, TOPIC_NAME),
    "group": _item_shape("group", GROUP_SETTINGS, GROUP_NAME),
}


def plan_list_steps(item_list: ItemList, cluster_state: ClusterState) -> list[StepOutcome]:
    """The outcome of each item on each broker: "planned", "unchanged", or "skipped" with the reason as error.

    An item that the file excludes from a broker is skipped without a reason. Brokers that did not answer
    have no steps.
    """
    ordered_topics = {
        topic
        for server_state in cluster_state.server_states
        for topic in server_state.kv.get(ORDER_CONF_NAMESPACE, {})
    }
    return [
        _outcome_on_broker(
            item_list.kind, broker_state, item_name, settings_after, item_name in ordered_topics
        )
        for broker_state in cluster_state.broker_states
        if broker_state.error is None
        for item_name, settings_after in item_list.desired_settings(
            broker_state.broker_name, _present_items(item_list.kind, broker_state)
        ).items()
    ]


def _present_items(spread_kind: SpreadKind, broker_state: LiveBrokerState) -> Mapping[str, ItemSettings]:
    return broker_state.topics if spread_kind == "topic" else broker_state.groups


def _outcome_on_broker(
    spread_kind: SpreadKind,
    broker_state: LiveBrokerState,
    item_name: str,
    settings_after: ItemSettings | None,
    is_ordered: bool,
) -> StepOutcome:
    settings_before = _present_items(spread_kind, broker_state).get(item_name)
    if is_ordered and settings_after is not None and spread_kind == "topic":
        settings_after = {**settings_after, "order": True}
    step = PlanStep(spread_kind, item_name, broker_state.broker_name, settings_before, settings_after)
    if settings_after is None:
        return StepOutcome(step._replace(after=settings_before), "skipped", None)
    skip_reason = _skip_reason(spread_kind, broker_state, item_name)
    if skip_reason is not None:
        return StepOutcome(step._replace(after=settings_before), "skipped", NotApplied(skip_reason))
    name_problem = find_name_problem(step)
    if name_problem is not None:
        return StepOutcome(step, "skipped", NotApplied(name_problem))
    is_same = has_same_settings(settings_before, settings_after, is_ordered)
    return StepOutcome(step, "unchanged" if is_same else "planned", None)


def _skip_reason(spread_kind: SpreadKind, broker_state: LiveBrokerState, item_name: str) -> str | None:
    """Why an item must stay as it is on a broker; None if it may change."""
    if spread_kind == "topic" and item_name in broker_state.static:
        return "static topic: change it with `nsadmin updateStaticTopic`"
    if spread_kind == "topic" and item_name in broker_state.own_topics and not item_name.startswith("%"):
        return "system topic: brokers refuse to change it"
    return None
