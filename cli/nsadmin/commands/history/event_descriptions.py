"""Describes a journal event on one line, with the state before and after it."""

from collections.abc import Callable, Mapping
from typing import Any

from nsadmin.commands.columns.changes import describe_change
from nsadmin.console.phrases import abbreviate_names

EventFields = Mapping[str, Any]

_MAX_NAMED = 3
_BROKER_FIELDS = ("clusterName", "brokerName", "brokerId", "brokerAddr")
_MAPPING_SETTINGS = ("totalQueues", "epoch")
_QUEUE_SETTINGS = ("readQueueNums", "writeQueueNums", "perm")


def describe_event(event_kind: str, fields: EventFields) -> str | None:
    """Describe the change of an event; for a type without a describer, list its fields. None for no text."""
    event_text = _DESCRIBERS_BY_KIND.get(event_kind, _join_fields)(fields)
    return event_text or None


def _join_fields(fields: EventFields) -> str:
    return " ".join(
        f"{field_name}={f'({len(field_value)})' if isinstance(field_value, list) else field_value}"
        for field_name, field_value in fields.items()
        if not isinstance(field_value, dict)
    )


def _describe_topics(fields: EventFields) -> str:
    topics_by_change: dict[str, list[str]] = {}
    for change_group in fields["changes"]:
        topics_by_change.setdefault(
            f"on {_changed_broker(change_group)} {_describe_queues(change_group)}", []
        ).extend(change_group["topics"])
    change_texts = [
        f"{abbreviate_names(topic_names, _MAX_NAMED)} {change_text}"
        for change_text, topic_names in list(topics_by_change.items())[:_MAX_NAMED]
    ]
    hidden_count = sum(len(topic_names) for topic_names in list(topics_by_change.values())[_MAX_NAMED:])
    return "; ".join(
        [*change_texts, f"and {hidden_count} with other changes"] if hidden_count else change_texts
    )


def _describe_deletion(fields: EventFields) -> str:
    change_texts = [
        f"{_changed_broker(change_group)} {_describe_queues(change_group)}"
        for change_group in fields["changes"]
    ]
    return "; ".join(
        [f"{fields['topic']} deleted from {fields.get('clusterName', 'all clusters')}", *change_texts]
    )


def _describe_perms(fields: EventFields) -> str:
    count_text = f"{sum(len(change_group['topics']) for change_group in fields['changes'])} topics changed"
    return "; ".join([_describe_topics(fields) or f"{fields['brokerName']}: {count_text}"])


def _changed_broker(change_group: EventFields) -> str:
    return str((change_group.get("after") or change_group["before"])["brokerName"])


def _describe_queues(change_group: EventFields) -> str:
    queues_before, queues_after = change_group.get("before"), change_group.get("after")
    return (
        (describe_change(queues_before, queues_after) or "")
        if queues_before and queues_after
        else _describe_sides(change_group, _QUEUE_SETTINGS)
    )


def _describe_sides(change_record: EventFields, setting_names: tuple[str, ...]) -> str:
    """The difference between before and after, limited to the named settings."""
    change_sides = (change_record.get("before"), change_record.get("after"))
    return (
        describe_change(
            *(
                {setting_name: change_side.get(setting_name) for setting_name in setting_names}
                if change_side
                else None
                for change_side in change_sides
            )
        )
        or ""
    )


def _describe_mappings(fields: EventFields) -> str:
    change_texts = [
        f"{change['topic']} on {change.get('bname')} {_describe_sides(change, _MAPPING_SETTINGS)}"
        for change in fields["mappingChanges"]
    ]
    return "; ".join(change_texts)


def _format_place(fields: EventFields) -> str:
    return f"{fields['brokerName']} {fields['brokerId']}={fields['brokerAddr']}"


def _describe_registration(fields: EventFields) -> str:
    broker_place = f"{fields['brokerName']} {fields['brokerId']}"
    if fields.get("replaced"):
        return f"{broker_place}: {fields['replaced']} -> {fields['brokerAddr']}, {fields['topics']} topics"
    return f"new: {_format_place(fields)}, {fields['topics']} topics"


def _describe_broker_change(fields: EventFields) -> str:
    data_version = fields.get("info", {}).get("dataVersion")
    version_text = (
        f", data version {data_version.get('counter')} of {data_version.get('timestamp')}"
        if data_version
        else ""
    )
    return f"{_format_place(fields)}, {fields['topics']} topics{version_text}"


def _describe_gap(fields: EventFields) -> str:
    state_text = "available again" if fields["resumed"] else "silent"
    return f"{_format_place(fields)} {state_text} after {fields['silentMillis']} ms"


def _describe_conflict(fields: EventFields) -> str:
    silent_ms, holder_text = fields.get("silentMillis"), f"{fields['holderName']} at {fields['holderAddr']}"
    heard_text = "" if silent_ms is None else f", last heard {silent_ms} ms before"
    return f"{_format_place(fields)} claims the place of {holder_text}{heard_text}"


def _describe_runtime(fields: EventFields) -> str:
    """The values that a broker reported about itself; values that it did not report are left out."""
    runtime_text = " ".join(
        f"{field_name}={field_value}"
        for field_name, field_value in fields.items()
        if field_name not in _BROKER_FIELDS
    )
    return f"{_format_place(fields)} {runtime_text}".rstrip()


def _describe_lag(fields: EventFields) -> str:
    topic_lags = sorted(fields["lags"], key=lambda topic_lag: -(topic_lag.get("lag") or 0))
    parts = [
        f"{topic_lag['topic']} {topic_lag.get('lag', 'nothing committed')}"
        for topic_lag in topic_lags[:_MAX_NAMED]
    ]
    omission_notes = (
        [f"and {len(topic_lags) - _MAX_NAMED} more topics"] if len(topic_lags) > _MAX_NAMED else []
    )
    lag_text = ", ".join([*parts, *omission_notes]) or "-"
    return f"{fields['consumerGroup']} on {fields['brokerName']} behind: {lag_text}"


def _describe_poll_failure(fields: EventFields) -> str:
    asked_text = " of ".join(filter(None, (fields["question"], fields.get("consumerGroup"))))
    return f"{_format_place(fields)} did not report its {asked_text}: {fields['error']}"


def _describe_kv(fields: EventFields) -> str:
    return (
        f"{fields['namespace']} {fields['key']}: "
        f"{describe_change(fields.get('before'), fields.get('value')) or '-'}"
    )


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
