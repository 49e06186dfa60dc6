"""Describes a journal event on one line, with the state before and after it."""

from collections.abc import Callable, Mapping
from typing import Any

from nsadmin.commands.changes import words
from nsadmin.wording import first_of

Fields = Mapping[str, Any]

_MOST = 3
_OF_A_BROKER = ("clusterName", "brokerName", "brokerId", "brokerAddr")
_OF_A_MAPPING = ("totalQueues", "epoch")
_QUEUES = ("readQueueNums", "writeQueueNums", "perm")


def in_words(kind: str, fields: Fields) -> str | None:
    """Describe the change of an event; for a kind without a describer, list its fields. None for no text."""
    said = _WORDS.get(kind, _plain)(fields)
    return said or None


def _plain(fields: Fields) -> str:
    return " ".join(
        f"{name}={f'({len(value)})' if isinstance(value, list) else value}"
        for name, value in fields.items()
        if not isinstance(value, dict)
    )


def _topics(fields: Fields) -> str:
    topics: dict[str, list[str]] = {}
    for group in fields["changes"]:
        topics.setdefault(f"on {_broker(group)} {_queues(group)}", []).extend(group["topics"])
    parts = [f"{first_of(names, _MOST)} {change}" for change, names in list(topics.items())[:_MOST]]
    more = sum(len(names) for names in list(topics.values())[_MOST:])
    return "; ".join([*parts, f"and {more} more in other ways"] if more else parts)


def _deleted(fields: Fields) -> str:
    parts = [f"{_broker(group)} {_queues(group)}" for group in fields["changes"]]
    return "; ".join([f"{fields['topic']} deleted from {fields.get('clusterName', 'all clusters')}", *parts])


def _perms(fields: Fields) -> str:
    counted = f"{sum(len(group['topics']) for group in fields['changes'])} topics changed"
    return "; ".join([_topics(fields) or f"{fields['brokerName']}: {counted}"])


def _broker(group: Fields) -> str:
    return str((group.get("after") or group["before"])["brokerName"])


def _queues(group: Fields) -> str:
    before, after = group.get("before"), group.get("after")
    return (words(before, after) or "") if before and after else _sides(group, _QUEUES)


def _sides(change: Fields, names: tuple[str, ...]) -> str:
    """The difference between before and after, limited to the named settings."""
    sides = (change.get("before"), change.get("after"))
    return words(*({name: side.get(name) for name in names} if side else None for side in sides)) or ""


def _mappings(fields: Fields) -> str:
    parts = [
        f"{change['topic']} on {change.get('bname')} {_sides(change, _OF_A_MAPPING)}"
        for change in fields["mappingChanges"]
    ]
    return "; ".join(parts)


def _place(fields: Fields) -> str:
    return f"{fields['brokerName']} {fields['brokerId']}={fields['brokerAddr']}"


def _registered(fields: Fields) -> str:
    place = f"{fields['brokerName']} {fields['brokerId']}"
    if fields.get("replaced"):
        return f"{place}: {fields['replaced']} -> {fields['brokerAddr']}, {fields['topics']} topics"
    return f"new: {_place(fields)}, {fields['topics']} topics"


def _changed(fields: Fields) -> str:
    version = fields.get("info", {}).get("dataVersion")
    said = f", data version {version['counter']} of {version['timestamp']}" if version else ""
    return f"{_place(fields)}, {fields['topics']} topics{said}"


def _gap(fields: Fields) -> str:
    again = "heard again" if fields["resumed"] else "silent"
    return f"{_place(fields)} {again} after {fields['silentMillis']} ms"


def _conflict(fields: Fields) -> str:
    silent, holder = fields.get("silentMillis"), f"{fields['holderName']} at {fields['holderAddr']}"
    heard = "" if silent is None else f", last heard {silent} ms before"
    return f"{_place(fields)} wants the place of {holder}{heard}"


def _told(fields: Fields) -> str:
    """The values that a broker reported about itself; values that it did not report are left out."""
    told = " ".join(f"{name}={value}" for name, value in fields.items() if name not in _OF_A_BROKER)
    return f"{_place(fields)} {told}".rstrip()


def _lag(fields: Fields) -> str:
    lags = sorted(fields["lags"], key=lambda item: -(item.get("lag") or 0))
    parts = [f"{item['topic']} {item.get('lag', 'nothing committed')}" for item in lags[:_MOST]]
    more = [f"and {len(lags) - _MOST} more topics"] if len(lags) > _MOST else []
    return f"{fields['consumerGroup']} on {fields['brokerName']} behind: {', '.join([*parts, *more]) or '-'}"


def _silent(fields: Fields) -> str:
    what = " of ".join(filter(None, (fields["question"], fields.get("consumerGroup"))))
    return f"{_place(fields)} did not tell its {what}: {fields['error']}"


def _kv(fields: Fields) -> str:
    return f"{fields['namespace']} {fields['key']}: {words(fields.get('before'), fields.get('value')) or '-'}"


def _settings(fields: Fields) -> str:
    return "; ".join(
        f"{change['key']} {words(change.get('before'), change.get('after'))}"
        for change in fields["settingChanges"]
    )


_WORDS: dict[str, Callable[[Fields], str]] = {
    "AddressConflict": _conflict,
    "AddressForgotten": lambda fields: f"gone: {fields['brokerAddr']}: {fields['reason']}",
    "BrokerChanged": _changed,
    "BrokerPollFailed": _silent,
    "BrokerRegistered": _registered,
    "BrokerRuntime": _told,
    "BrokerUnregistered": lambda fields: f"gone: {_place(fields)}: {fields['reason']}",
    "ConsumerLag": _lag,
    "HeartbeatGap": _gap,
    "KvDeleted": _kv,
    "KvPut": _kv,
    "MappingsChanged": _mappings,
    "RegistrationRefused": lambda fields: f"{_place(fields)} refused: {fields['reason']}",
    "SettingsChanged": _settings,
    "TopicDeleted": _deleted,
    "TopicsChanged": _topics,
    "WritePermAdded": _perms,
    "WritePermWiped": _perms,
}
