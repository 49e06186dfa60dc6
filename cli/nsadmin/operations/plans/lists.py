"""Lists of topics or groups from mqadmin's files or ours, and the steps that they need. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from nsadmin.client.order_conf import NAMESPACE
from nsadmin.client.results import NotApplied
from nsadmin.operations.plans.carrying import Outcome
from nsadmin.operations.plans.difference import Step, same
from nsadmin.operations.plans.fields import GROUP, GROUP_SETTINGS, TOPIC, TOPIC_SETTINGS
from nsadmin.operations.plans.reading import BadFile, compose, read, value_of
from nsadmin.operations.plans.records import BrokerState, Live, Spec
from nsadmin.operations.plans.settings import Settings, SpreadKind, complete
from nsadmin.operations.plans.shapes import Field, ListOf, MapOf, Name, Record, Text

_NULL = "tag:yaml.org,2002:null"
_ATTRIBUTES = MapOf(Name("attribute", r"[+-]?[^+,=\s-][^,=\s]*", "NAME, +NAME or -NAME"), Text())
_KEYS: Mapping[SpreadKind, str] = {"topic": "topicName", "group": "groupName"}
_TABLES: Mapping[SpreadKind, str] = {"topic": "topicConfigTable", "group": "subscriptionGroupTable"}
# Defaults of Java's config classes for list files; mqadmin's commands for one item have other defaults.
_NEW: Mapping[SpreadKind, Settings] = {
    "topic": {"readQueueNums": 16, "writeQueueNums": 16},
    "group": {"consumeFromMinEnable": True, "consumeBroadcastEnable": True},
}


class Item(NamedTuple):
    """A topic or group of mqadmin's file: the settings in the file, attributes with or without signs.

    By default a new topic has 16 queues, and a new group may broadcast and starts at the minimum offset.
    """

    name: str
    settings: Settings
    attributes: Mapping[str, str]

    def on(self, kind: SpreadKind, before: Settings | None) -> Settings:
        """The desired settings on a broker with `settings_before`, which is None if the item is absent."""
        found = dict((before or {}).get("attributes", {}))
        for key, value in self.attributes.items():
            if key.startswith("-"):
                found.pop(key[1:], None)
            else:
                found[key.removeprefix("+")] = value
        base = _NEW[kind] if before is None else before
        return complete(kind, {**base, **self.settings, "attributes": found})


class Listed(NamedTuple):
    """The content of a list file: `items` of mqadmin's file, or complete `specs` of ours.

    `is_sum` is true for mqadmin's exportMetadata file of a whole cluster, which adds up queues of brokers.
    """

    kind: SpreadKind
    items: tuple[Item, ...] = ()
    specs: Mapping[str, Spec] | None = None
    is_sum: bool = False

    @property
    def names(self) -> list[str]:
        """The names of the topics or groups, in the order of the file."""
        return [item.name for item in self.items] if self.specs is None else list(self.specs)

    def wanted(self, broker: str, have: Mapping[str, Settings]) -> dict[str, Settings | None]:
        """The desired settings of each item on this broker; None if the item is not for this broker."""
        if self.specs is None:
            return {item.name: item.on(self.kind, have.get(item.name)) for item in self.items}
        return {name: spec.on(self.kind, [broker]).get(broker) for name, spec in self.specs.items()}


def read_list(kind: SpreadKind, text: str, name: str) -> Listed:
    """Read the list in a file's text; `file_name` is for messages.

    Raises:
        InvalidPlanFileError: with all problems of the file.
    """
    root = compose(text, name)
    keys = {key.value: value for key, value in root.value} if _is_map(root) else {}
    if "cluster" in keys:
        desired = read(text, name)
        specs = desired.topics if kind == "topic" else desired.groups
        if not specs:
            raise BadFile([f"{name}:1: there are no {kind}s in it"])
        return Listed(kind, specs=specs)
    table = keys.get(_TABLES[kind])
    node = root if table is None else table
    if table is None and getattr(root, "id", None) != "sequence":
        raise BadFile(
            [f"{name}:1: this has to be a list of {kind}s, as mqadmin takes it, or a file of nsadmin export"]
        )
    _drop_nulls(node)
    shape = _SHAPES[kind]
    found = value_of(node, ListOf(shape) if table is None else MapOf(Text(), shape), name)
    items = tuple(_item(kind, value) for value in (found if table is None else found.values()))
    if not items:
        raise BadFile([f"{name}:1: there are no {kind}s in it"])
    if table is None:
        _require_different([item.name for item in items], node.value, name)
    return Listed(kind, items, is_sum="exportTime" in keys)


def _is_map(node: Any) -> bool:
    return getattr(node, "id", None) == "mapping"


def _item(kind: SpreadKind, found: Mapping[str, Any]) -> Item:
    settings = {key: value for key, value in found.items() if key not in (_KEYS[kind], "attributes")}
    return Item(found[_KEYS[kind]], settings, found.get("attributes", {}))


def _drop_nulls(node: Any) -> None:
    """Remove null values: Java writes null for absent fields."""
    if _is_map(node):
        node.value = [(key, value) for key, value in node.value if value.tag != _NULL]
        parts = [value for _, value in node.value]
    else:
        parts = node.value if node.id == "sequence" else []
    for part in parts:
        _drop_nulls(part)


def _require_different(names: Sequence[str], nodes: Sequence[Any], file: str) -> None:
    twice = [
        f"{file}:{node.start_mark.line + 1}: {name} is there twice"
        for at, (name, node) in enumerate(zip(names, nodes, strict=True))
        if name in names[:at]
    ]
    if twice:
        raise BadFile(twice)


def _shape(kind: SpreadKind, settings: Record, name: Name) -> Record:
    others = (field for field in settings.fields if field.key != "attributes")
    own = Field(_KEYS[kind], name, f"name of the {kind}", required=True)
    return Record((own, *others, Field("attributes", _ATTRIBUTES, "attributes by name, signed or not")))


_SHAPES: Mapping[SpreadKind, Record] = {
    "topic": _shape("topic", TOPIC_SETTINGS, TOPIC),
    "group": _shape("group", GROUP_SETTINGS, GROUP),
}


def steps(listed: Listed, live: Live) -> list[Outcome]:
    """The outcome of each item on each broker: "planned", "unchanged", or "skipped" with the reason as error.

    An item that the file excludes from a broker is skipped without a reason. Brokers that did not answer
    have no steps.
    """
    ordered = {topic for server in live.name_servers for topic in server.kv.get(NAMESPACE, {})}
    return [
        _outcome(listed.kind, broker, name, after, name in ordered)
        for broker in live.brokers
        if broker.error is None
        for name, after in listed.wanted(broker.name, _have(listed.kind, broker)).items()
    ]


def _have(kind: SpreadKind, broker: BrokerState) -> Mapping[str, Settings]:
    return broker.topics if kind == "topic" else broker.groups


def _outcome(
    kind: SpreadKind, broker: BrokerState, name: str, after: Settings | None, is_ordered: bool
) -> Outcome:
    before = _have(kind, broker).get(name)
    if is_ordered and after is not None and kind == "topic":
        after = {**after, "order": True}
    step = Step(kind, name, broker.name, before, after)
    if after is None:
        return Outcome(step._replace(after=before), "skipped", None)
    reason = _reason(kind, broker, name)
    if reason is not None:
        return Outcome(step._replace(after=before), "skipped", NotApplied(reason))
    is_same = same(before, after, is_ordered)
    return Outcome(step, "unchanged" if is_same else "planned", None)


def _reason(kind: SpreadKind, broker: BrokerState, name: str) -> str | None:
    """Why an item must stay as it is on a broker; None if it may change."""
    if kind == "topic" and name in broker.static:
        return "this is a static topic, which updateStaticTopic alone may change"
    if kind == "topic" and name in broker.own and not name.startswith("%"):
        return "this is a topic of RocketMQ's own, which brokers refuse to change"
    return None
