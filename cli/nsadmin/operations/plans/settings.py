"""Normal form of settings for comparison: complete and in one order, from files or brokers. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from namesrv_core.file_shapes import Record
from nsadmin.operations.plans.fields import (
    EXPONENTIAL_POLICY,
    GROUP_SETTINGS,
    SUBSCRIPTION_FIELDS,
    TOPIC_SETTINGS,
)

ItemSettings = Mapping[str, Any]
"""Settings of a topic or a group by the protocol's names; absent settings have their default."""

SpreadKind = Literal["topic", "group"]
"""The kinds of items that have settings on each broker."""


def complete_settings(spread_kind: SpreadKind, settings: ItemSettings) -> dict[str, Any]:
    """All settings: absent or null ones get their default, unknown ones are dropped."""
    return _COMPLETERS[spread_kind](settings)


def without_defaults(spread_kind: SpreadKind, settings: ItemSettings) -> dict[str, Any]:
    defaults = RECORD_SHAPES[spread_kind].default_values
    return {n: settings[n] for n in defaults if n in settings and settings[n] != defaults[n]}


def _complete_topic(settings: ItemSettings) -> dict[str, Any]:
    topic_settings = _fill_defaults(TOPIC_SETTINGS, settings)
    return topic_settings | {"attributes": _sorted_texts(topic_settings["attributes"])}


def _complete_group(settings: ItemSettings) -> dict[str, Any]:
    group_settings = _fill_defaults(GROUP_SETTINGS, settings)
    subscriptions = [
        _fill_defaults(SUBSCRIPTION_FIELDS, s) for s in group_settings["subscriptionDataSet"] or ()
    ]
    return group_settings | {
        "attributes": _sorted_texts(group_settings["attributes"]),
        "groupRetryPolicy": _complete_policy(group_settings["groupRetryPolicy"]),
        "subscriptionDataSet": tuple(sorted(subscriptions, key=lambda s: str(s["topic"]))) or None,
    }


def _complete_policy(given_policy: Mapping[str, Any]) -> dict[str, Any]:
    retry_policy = {"type": "CUSTOMIZED", **_drop_nulls(given_policy)}
    if "exponentialRetryPolicy" in retry_policy:
        retry_policy["exponentialRetryPolicy"] = _fill_defaults(
            EXPONENTIAL_POLICY, retry_policy["exponentialRetryPolicy"]
        )
    return retry_policy


def _fill_defaults(record_shape: Record, settings: ItemSettings) -> dict[str, Any]:
    return {
        field.key: field.default if settings.get(field.key) is None else settings[field.key]
        for field in record_shape.fields
    }


def _sorted_texts(value_table: Mapping[str, Any]) -> dict[str, str]:
    return {entry_name: str(value) for entry_name, value in sorted(value_table.items())}


def _drop_nulls(value: Any) -> Any:
    """The value without nulls, with lists as tuples, as `yaml_reader` returns them."""
    if isinstance(value, Mapping):
        return {n: _drop_nulls(v) for n, v in value.items() if v is not None}
    return (
        tuple(map(_drop_nulls, value))
        if isinstance(value, Sequence) and not isinstance(value, str)
        else value
    )


RECORD_SHAPES: dict[SpreadKind, Record] = {"topic": TOPIC_SETTINGS, "group": GROUP_SETTINGS}
_COMPLETERS: dict[SpreadKind, Callable[[ItemSettings], dict[str, Any]]] = {
    "topic": _complete_topic,
    "group": _complete_group,
}
