"""Normal form of settings for comparison: complete and in one order, from files or brokers. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from nsadmin.operations.plans.fields import EXPONENTIAL, GROUP_SETTINGS, SUBSCRIPTION, TOPIC_SETTINGS
from nsadmin.operations.plans.shapes import Record

Settings = Mapping[str, Any]
"""Settings of a topic or a group by the protocol's names; absent settings have their default."""

SpreadKind = Literal["topic", "group"]
"""The kinds of items that have settings on each broker."""


def complete(kind: SpreadKind, settings: Settings) -> dict[str, Any]:
    """All settings: absent or null ones get their default, unknown ones are dropped."""
    return _COMPLETE[kind](settings)


def without_defaults(kind: SpreadKind, settings: Settings) -> dict[str, Any]:
    """The settings that differ from their default."""
    defaults = RECORDS[kind].defaults
    return {key: settings[key] for key in defaults if key in settings and settings[key] != defaults[key]}


def _topic(settings: Settings) -> dict[str, Any]:
    found = _filled(TOPIC_SETTINGS, settings)
    return found | {"attributes": _texts(found["attributes"])}


def _group(settings: Settings) -> dict[str, Any]:
    found = _filled(GROUP_SETTINGS, settings)
    subscriptions = [_filled(SUBSCRIPTION, item) for item in found["subscriptionDataSet"] or ()]
    return found | {
        "attributes": _texts(found["attributes"]),
        "groupRetryPolicy": _policy(found["groupRetryPolicy"]),
        "subscriptionDataSet": tuple(sorted(subscriptions, key=lambda item: str(item["topic"]))) or None,
    }


def _policy(found: Mapping[str, Any]) -> dict[str, Any]:
    policy = {"type": "CUSTOMIZED", **_present(found)}
    if "exponentialRetryPolicy" in policy:
        policy["exponentialRetryPolicy"] = _filled(EXPONENTIAL, policy["exponentialRetryPolicy"])
    return policy


def _filled(record: Record, settings: Settings) -> dict[str, Any]:
    return {
        field.key: field.default if settings.get(field.key) is None else settings[field.key]
        for field in record.fields
    }


def _texts(table: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in sorted(table.items())}


def _present(value: Any) -> Any:
    """The value without nulls, with lists as tuples, as `yaml_reader` returns them."""
    if isinstance(value, Mapping):
        return {key: _present(item) for key, item in value.items() if item is not None}
    return (
        tuple(map(_present, value)) if isinstance(value, Sequence) and not isinstance(value, str) else value
    )


RECORDS: dict[SpreadKind, Record] = {"topic": TOPIC_SETTINGS, "group": GROUP_SETTINGS}
_COMPLETE: dict[SpreadKind, Callable[[Settings], dict[str, Any]]] = {"topic": _topic, "group": _group}
