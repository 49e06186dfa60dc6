"""The present settings and attributes of topics and groups that a file does not name. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from nsadmin.operations.plans.records import ClusterState, DesiredCluster, ItemSpec, LiveBrokerState
from nsadmin.operations.plans.settings import ItemSettings, SpreadKind


def keep_unnamed(desired: DesiredCluster, state: ClusterState) -> DesiredCluster:
    """The desired cluster with the present value of each setting and attribute that the file does not name.

    An item that a broker does not have yet gets the defaults there.
    """
    return desired._replace(
        topic_specs=_keep_in_specs("topic", desired.topic_specs, state),
        group_specs=_keep_in_specs("group", desired.group_specs, state),
    )


def list_unnamed_attributes(
    desired: DesiredCluster, state: ClusterState
) -> dict[tuple[SpreadKind, str], list[str]]:
    """The present attributes that the file does not name, by kind and name of the item."""
    unnamed: dict[tuple[SpreadKind, str], set[str]] = {}
    for kind, specs in _spread_specs(desired):
        for name, spec in (specs or {}).items():
            for broker in state.broker_states:
                present = _present_settings(kind, broker).get(name)
                if present is not None and _is_on(spec, broker.broker_name):
                    named = _named_settings(spec, broker.broker_name).get("attributes") or {}
                    unnamed.setdefault((kind, name), set()).update(
                        present["attributes"].keys() - named.keys()
                    )
    return {item: sorted(attributes) for item, attributes in sorted(unnamed.items()) if attributes}


def _spread_specs(
    desired: DesiredCluster,
) -> Iterator[tuple[SpreadKind, Mapping[str, ItemSpec] | None]]:
    yield "topic", desired.topic_specs
    yield "group", desired.group_specs


def _keep_in_specs(
    kind: SpreadKind, specs: Mapping[str, ItemSpec] | None, state: ClusterState
) -> Mapping[str, ItemSpec] | None:
    if specs is None:
        return None
    return {
        name: spec._replace(
            per_broker={
                **spec.per_broker,
                **{
                    broker.broker_name: _merge(present, _named_settings(spec, broker.broker_name))
                    for broker in state.broker_states
                    if (present := _present_settings(kind, broker).get(name)) is not None
                    and _is_on(spec, broker.broker_name)
                },
            }
        )
        for name, spec in specs.items()
    }


def _present_settings(kind: SpreadKind, broker: LiveBrokerState) -> Mapping[str, ItemSettings]:
    return broker.topics if kind == "topic" else broker.groups


def _is_on(spec: ItemSpec, broker_name: str) -> bool:
    return (spec.only_on is None or broker_name in spec.only_on) and broker_name not in spec.not_on


def _named_settings(spec: ItemSpec, broker_name: str) -> ItemSettings:
    return {**spec.common_settings, **spec.per_broker.get(broker_name, {})}


def _merge(present: ItemSettings, named: ItemSettings) -> dict[str, Any]:
    """The named settings, else the present ones; null stands for a default, so it is not named."""
    given = {key: value for key, value in named.items() if value is not None}
    merged = {key: value for key, value in {**present, **given}.items() if value is not None}
    return {**merged, "attributes": {**present["attributes"], **given.get("attributes", {})}}
