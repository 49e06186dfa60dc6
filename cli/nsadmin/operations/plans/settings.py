"""Settings as they are compared: complete and in one order, be they from a file or from any broker. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from nsadmin.operations.plans.fields import EXPONENTIAL, GROUP_SETTINGS, SUBSCRIPTION, TOPIC_SETTINGS
from nsadmin.operations.plans.shapes import Record

Settings = Mapping[str, Any]
"""Settings of a topic or a group by the wire's own names; what is left out has its default."""

SpreadKind = Literal["topic", "group"]
"""What has settings on each broker."""


def complete(kind: SpreadKind, settings: Settings) -> dict[str, Any]:
    """All settings: what is left out or null has its default, what is not known here is dropped."""
    return _COMPLETE[kind](settings)


def without_defaults(kind: SpreadKind, settings: Settings) -> dict[str, Any]:
    """The settings that are not what they are when left out."""
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
    """Without nulls; lists as tuples, as the reader of files has them."""
    if isinstance(value, Mapping):
        return {key: _present(item) for key, item in value.items() if item is not None}
    return (
        tuple(map(_present, value)) if isinstance(value, Sequence) and not isinstance(value, str) else value
    )


RECORDS: dict[SpreadKind, Record] = {"topic": TOPIC_SETTINGS, "group": GROUP_SETTINGS}
_COMPLETE: dict[SpreadKind, Callable[[Settings], dict[str, Any]]] = {"topic": _topic, "group": _group}
