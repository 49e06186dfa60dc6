"""Describes a journal event on one line, with the state before and after it."""

from collections.abc import Callable, Mapping
from typing import Any

from nsadmin.commands.columns.changes import describe_change
from nsadmin.console.phrases import abbreviate_names, count_noun

EventFields = Mapping[str, Any]

_MAX_NAMED = 3
_BROKER_FIELDS = ("clusterName", "brokerName", "brokerId", "brokerAddr")
_MAPPING_SETTINGS = ("totalQueues", "epoch")
_QUEUE_SETTINGS = ("readQueueNums", "writeQueueNums", "perm")


def describe_event(event_kind: str, fields: EventFields) -> str | None:
    """Describe the change of an event; for a type without a describer, list its fields. None for no text."""
    return _DESCRIBERS_BY_KIND.get(event_kind, _join_fields)(fields) or None


def _join_fields(fields: EventFields) -> str:
    return " ".join(
        f"{name}={f'({len(value)})' if isinstance(value, list) else value}"
        for name, value in fields.items()
        if not isinstance(value, dict)
    )


def _describe_topics(fields: EventFields) -> str:
    topics_by_change: dict[str, list[str]] = {}
    for change in fields["changes"]:
        text = f"on {_changed_broker(change)} {_describe_queues(change)}"
        topics_by_change.setdefault(text, []).extend(change["topics"])
    changes = list(topics_by_change.items())
    texts = [f"{abbreviate_names(topics, _MAX_NAMED)} {text}" for text, topics in changes[:_MAX_NAMED]]
    hidden_count = sum(len(topics) for _, topics in changes[_MAX_NAMED:])
    return "; ".join([*texts, f"and {hidden_count} with other changes"] if hidden_count else texts)


def _describe_deletion(fields: EventFields) -> str:
    texts = [f"{_changed_broker(change)} {_describe_queues(change)}" for change in fields["changes"]]
    return "; ".join([f"{fields['topic']} deleted from {fields.get('clusterName', 'all clusters')}", *texts])


def _describe_perms(fields: EventFields) -> str:
    count = sum(len(change["topics"]) for change in fields["changes"])
    return _describe_topics(fields) or f"{fields['brokerName']}: {count_noun(count, 'topic')} changed"


def _changed_broker(change: EventFields) -> str:
    return str((change.get("after") or change["before"])["brokerName"])


def _describe_queues(change: EventFields) -> str:
    before, after = change.get("before"), change.get("after")
    if before and after:
        return describe_change(before, after) or ""
    return _describe_sides(change, _QUEUE_SETTINGS)


def _describe_sides(change: EventFields, setting_names: tuple[str, ...]) -> str:
    """The difference between before and after, limited to the named settings."""
    before, after = (
        {name: side.get(name) for name in setting_names} if side else None
        for side in (change.get("before"), change.get("after"))
    )
    return describe_change(before, after) or ""


def _describe_mappings(fields: EventFields) -> str:
    return "; ".join(
        f"{change['topic']} on {change.get('bname')} {_describe_sides(change, _MAPPING_SETTINGS)}"
        for change in fields["mappingChanges"]
    )


def _format_place(fields: EventFields) -> str:
    return f"{fields['brokerName']} {fields['brokerId']}={fields['brokerAddr']}"


def _describe_registration(fields: EventFields) -> str:
    broker_place = f"{fields['brokerName']} {fields['brokerId']}"
    topics = count_noun(fields["topics"], "topic")
    if fields.get("replaced"):
        return f"{broker_place}: {fields['replaced']} -> {fields['brokerAddr']}, {topics}"
    return f"new: {_format_place(fields)}, {topics}"


def _describe_broker_change(fields: EventFields) -> str:
    version = fields.get("info", {}).get("dataVersion")
    text = f", data version {version.get('counter')} of {version.get('timestamp')}" if version else ""
    return f"{_format_place(fields)}, {count_noun(fields['topics'], 'topic')}{text}"


def _describe_gap(fields: EventFields) -> str:
    state_text = "available again after" if fields["resumed"] else "silent for"
    return f"{_format_place(fields)} {state_text} {fields['silentMillis']} ms"


def _describe_conflict(fields: EventFields) -> str:
    silent_ms, holder_text = fields.get("silentMillis"), f"{fields['holderName']} at {fields['holderAddr']}"
    heard_text = "" if silent_ms is None else f", last heard {silent_ms} ms before"
    return f"{_format_place(fields)} claims the place of {holder_text}{heard_text}"


def _describe_runtime(fields: EventFields) -> str:
    """The values that a broker reported about itself; values that it did not report are left out."""
    values = " ".join(f"{name}={value}" for name, value in fields.items() if name not in _BROKER_FIELDS)
    return f"{_format_place(fields)} {values}".rstrip()


def _describe_lag(fields: EventFields) -> str:
    lags = sorted(fields["lags"], key=lambda lag: -(lag.get("lag") or 0))
    parts = [f"{lag['topic']} {lag.get('lag', 'nothing committed')}" for lag in lags[:_MAX_NAMED]]
    if len(lags) > _MAX_NAMED:
        parts.append(f"and {len(lags) - _MAX_NAMED} more topics")
    return f"{fields['consumerGroup']} on {fields['brokerName']} behind: {', '.join(parts) or '-'}"


def _describe_poll_failure(fields: EventFields) -> str:
    asked = " of ".join(filter(None, (fields["question"], fields.get("consumerGroup"))))
    return f"{_format_place(fields)} did not report its {asked}: {fields['error']}"


def _describe_kv(fields: EventFields) -> str:
    change = describe_change(fields.get("before"), fields.get("value")) or "-"
    return f"{fields['namespace']} {fields['key']}: {change}"


def _describe_settings(fields: EventFields) -> str:
    return "; ".join(
        f"{change['key']} {describe_change(change.get('before'), change.get('after'))}"
        for change in fields["settingChanges"]
    )


_DESCRIBERS_BY_KIND: dict[str, Callable[[EventFields], str]] = {
    "AddressConflict": _describe_conflict,
    "AddressForgotten": lambda fields: f"removed: {fields['brokerAddr']}: {fields['reason']}",
    "BrokerChanged": _describe_broker_change,
    "BrokerPollFailed": _describe_poll_failure,
    "BrokerRegistered": _describe_registration,
    "BrokerRuntime": _describe_runtime,
    "BrokerUnregistered": lambda fields: f"removed: {_format_place(fields)}: {fields['reason']}",
    "ConsumerLag": _describe_lag,
    "HeartbeatGap": _describe_gap,
    "KvDeleted": _describe_kv,
    "KvPut": _describe_kv,
    "MappingsChanged": _describe_mappings,
    "RegistrationRefused": lambda fields: f"{_format_place(fields)} refused: {fields['reason']}",
    "SettingsChanged": _describe_settings,
    "TopicDeleted": _describe_deletion,
    "TopicsChanged": _describe_topics,
    "WritePermAdded": _describe_perms,
    "WritePermWiped": _describe_perms,
}
