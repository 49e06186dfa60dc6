"""Lists of topics or groups from mqadmin's files or ours, and the steps that they need. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from namesrv_core.file_shapes import Field, ListOf, MapOf, Name, Path, Record, Text
from namesrv_core.protocol.resource_attributes import apply_changes
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.results import NotApplied
from nsadmin.operations.plans.diff import PlanStep, find_problem, has_same_settings
from nsadmin.operations.plans.executor import StepOutcome
from nsadmin.operations.plans.fields import GROUP_NAME, GROUP_SETTINGS, TOPIC_NAME, TOPIC_SETTINGS
from nsadmin.operations.plans.records import ClusterState, ItemSpec, LiveBrokerState
from nsadmin.operations.plans.settings import ItemSettings, SpreadKind, complete_settings
from nsadmin.operations.plans.yaml_reader import InvalidPlanFileError, PlanDocument, read_desired_cluster

_ATTRIBUTES_SHAPE = MapOf(Name("attribute", r"[+-]?[^+,=\s-][^,=\s]*", "NAME, +NAME or -NAME"), Text())
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
        changes = {key if key[0] in "+-" else f"+{key}": v for key, v in self.signed_attributes.items()}
        after = apply_changes((settings_before or {}).get("attributes", {}), changes)
        base_settings = _NEW_ITEM_SETTINGS[spread_kind] if settings_before is None else settings_before
        return complete_settings(spread_kind, {**base_settings, **self.settings, "attributes": after})


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

    Raises InvalidPlanFileError with all problems of the file.
    """
    document = PlanDocument(file_text, file_name)
    content = document.value if isinstance(document.value, dict) else {}
    if "cluster" in content:
        desired_cluster = read_desired_cluster(file_text, file_name)
        item_specs = desired_cluster.topic_specs if spread_kind == "topic" else desired_cluster.group_specs
        if not item_specs:
            raise InvalidPlanFileError([f"{file_name}:1: no {spread_kind}s in the file"])
        return ItemList(spread_kind, specs=item_specs)
    table_name, item_shape = _TABLE_NAMES[spread_kind], _ITEM_SHAPES[spread_kind]
    # Java writes null for absent fields.
    if table_name in content:
        table = document.read(MapOf(Text(), item_shape), (table_name,), skips_nulls=True)
        items = [_parse_item(spread_kind, fields) for fields in table.values()]
    elif isinstance(document.value, list):
        items = [
            _parse_item(spread_kind, fields) for fields in document.read(ListOf(item_shape), skips_nulls=True)
        ]
        document.require_none(_find_duplicates(items))
    else:
        raise InvalidPlanFileError(
            [
                f"{file_name}:1: not a list of {spread_kind}s in mqadmin's format, and not a file of "
                "`nsadmin export`"
            ]
        )
    if not items:
        raise InvalidPlanFileError([f"{file_name}:1: no {spread_kind}s in the file"])
    return ItemList(spread_kind, tuple(items), is_sum="exportTime" in content)


def _find_duplicates(items: Iterable[ListedItem]) -> Iterator[tuple[Path, str]]:
    seen_names: set[str] = set()
    for index, item in enumerate(items):
        if item.item_name in seen_names:
            yield (index,), f"duplicate {item.item_name}"
        seen_names.add(item.item_name)


def _parse_item(spread_kind: SpreadKind, parsed_fields: Mapping[str, Any]) -> ListedItem:
    settings = {n: v for n, v in parsed_fields.items() if n not in (_NAME_KEYS[spread_kind], "attributes")}
    return ListedItem(parsed_fields[_NAME_KEYS[spread_kind]], settings, parsed_fields.get("attributes", {}))


def _item_shape(spread_kind: SpreadKind, settings_shape: Record, name_shape: Name) -> Record:
    other_fields = (field for field in settings_shape.fields if field.key != "attributes")
    name_field = Field(_NAME_KEYS[spread_kind], name_shape, f"name of the {spread_kind}", is_required=True)
    return Record(
        (
            name_field,
            *other_fields,
            Field("attributes", _ATTRIBUTES_SHAPE, "attributes by name, with or without a sign"),
        )
    )


_ITEM_SHAPES: Mapping[SpreadKind, Record] = {
    "topic": _item_shape("topic", TOPIC_SETTINGS, TOPIC_NAME),
    "group": _item_shape("group", GROUP_SETTINGS, GROUP_NAME),
}


def plan_list_steps(item_list: ItemList, cluster_state: ClusterState) -> list[StepOutcome]:
    """The outcome of each item on each broker: "planned", "unchanged", or "skipped" with the reason as error.

    An item that the file excludes from a broker is skipped without a reason. Brokers that did not answer
    have no steps.
    """
    kind = item_list.kind
    ordered_topics = {
        topic for state in cluster_state.server_states for topic in state.kv.get(ORDER_CONF_NAMESPACE, {})
    }
    return [
        _outcome_on_broker(kind, broker, name, after, name in ordered_topics)
        for broker in cluster_state.broker_states
        if broker.error is None
        for name, after in item_list.desired_settings(
            broker.broker_name, _present_items(kind, broker)
        ).items()
    ]


def _present_items(spread_kind: SpreadKind, broker: LiveBrokerState) -> Mapping[str, ItemSettings]:
    return broker.topics if spread_kind == "topic" else broker.groups


def _outcome_on_broker(
    spread_kind: SpreadKind,
    broker: LiveBrokerState,
    item_name: str,
    settings_after: ItemSettings | None,
    is_ordered: bool,
) -> StepOutcome:
    settings_before = _present_items(spread_kind, broker).get(item_name)
    if is_ordered and settings_after is not None and spread_kind == "topic":
        settings_after = {**settings_after, "order": True}
    step = PlanStep(spread_kind, item_name, broker.broker_name, settings_before, settings_after)
    if settings_after is None:
        return StepOutcome(step._replace(after=settings_before), "skipped", None)
    skip_reason = _skip_reason(spread_kind, broker, item_name)
    if skip_reason is not None:
        return StepOutcome(step._replace(after=settings_before), "skipped", NotApplied(skip_reason))
    problem = find_problem(step)
    if problem is not None:
        return StepOutcome(step, "skipped", NotApplied(problem))
    is_same = has_same_settings(settings_before, settings_after, is_ordered)
    return StepOutcome(step, "unchanged" if is_same else "planned", None)


def _skip_reason(spread_kind: SpreadKind, broker: LiveBrokerState, item_name: str) -> str | None:
    """Why an item must stay as it is on a broker; None if it may change."""
    if spread_kind == "topic" and item_name in broker.static:
        return "static topic: `nsadmin updateStaticTopic --help` shows how to change it"
    if spread_kind == "topic" and item_name in broker.own_topics and not item_name.startswith("%"):
        return "system topic: brokers refuse to change it"
    return None
