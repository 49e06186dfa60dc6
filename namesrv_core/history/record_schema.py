"""Describes event fields; computes a JSON Schema and docs/reference/journal.md from the event classes."""

import inspect
import json
import re
import types
import typing
from collections.abc import Mapping
from typing import Any

from namesrv_core import events
from namesrv_core.events import EVENT_TYPES_BY_NAME, SCHEMA_VERSION, TopicChange, to_camel_case
from namesrv_core.history.records import ENVELOPE_FIELDS

FIELD_MEANINGS = {
    "address": "listening address of the name server, HOST:PORT",
    "before": "earlier value; absent if no value existed",
    "bootTime": "start time of the broker, in ms since 1970",
    "brokerActive": "whether the broker accepts messages; absent before 5.0",
    "brokerAddr": "address of the broker, HOST:PORT",
    "brokerId": "broker id: 0 for a master, higher for a slave",
    "brokerName": "name of the broker group",
    "brokerVersion": "version of the broker, such as V5_5_0",
    "brokers": "number of brokers",
    "changes": "topics with added (no `before`), changed or removed (no `after`) queues, by equal change",
    "channel": "number of the connection of the broker's last heartbeat",
    "clusterName": "name of the cluster",
    "clusters": "broker names of each cluster",
    "commitLogDiskRatio": "used part of the disk with the commit log, 0 to 1",
    "commitLogMaxOffset": "end of the commit log, in bytes since its first message",
    "commitLogMinOffset": "start of the oldest kept commit log file, in bytes since the first message",
    "consumerGroup": "name of the consumer group; absent if the event is about no group",
    "consumerGroups": "number of consumer groups; a group counts once on each broker",
    "cutBytes": "number of bytes that were cut off",
    "dispatchBehindBytes": "bytes of the commit log that are not in consume queues yet",
    "earliestMessageTime": "store time of the oldest message, in ms since 1970; absent without messages",
    "enableActingMaster": "whether a slave may act for the group's master",
    "error": "error message",
    "failedPolls": "number of consecutive polls without all answers",
    "failingMillis": "duration of the failure, in ms",
    "file": "file name of the segment",
    "getTotal": "messages delivered since the broker's start",
    "getTps": "messages delivered per second, averaged over ten seconds",
    "groups": "broker groups with their members",
    "haBrokerAddr": "replication address of the new master",
    "holderAddr": "address that was registered before",
    "holderName": "broker name of that address",
    "info": "other data of the broker's registration; absent if unknown",
    "intervalMillis": "interval between polls, in ms",
    "key": "key within the namespace",
    "kv": "KV config: values by namespace and key; a value may be null",
    "lags": "lag of the group on each topic",
    "live": "live broker addresses",
    "longestPollMillis": "duration of the longest poll, in ms",
    "longestSilenceMillis": "longest time since a broker's last heartbeat, in ms",
    "lost": "number of missing events",
    "mappingChanges": "changed queue mappings of static topics",
    "mappings": "queue mappings of static topics",
    "minBrokerAddr": "address of the broker with the smallest id",
    "minBrokerId": "smallest broker id of the group",
    "namespace": "namespace of the KV config",
    "offlineBrokerAddr": "address of the broker that was removed",
    "pageCacheLockMillis": "time since the broker began to store the current message, in ms",
    "pauseMillis": "duration of the pause, in ms",
    "pid": "process id",
    "pollMillis": "duration of the round, in ms",
    "polls": "number of polls",
    "pullQueueSize": "pull requests waiting in the broker's queue",
    "putTotal": "messages stored since the broker's start",
    "putTps": "messages stored per second, averaged over ten seconds",
    "question": "subject of the request: runtime, groups or lag",
    "queues": "all different queue settings of topics, each listed once",
    "reason": "reason of the event",
    "recipients": "addresses that the name server notifies",
    "replaced": "address that the broker had before",
    "resumed": "true if the broker is back, false if it is still silent",
    "routes": "topics, grouped by equal queues on the same brokers",
    "sendQueueSize": "send requests waiting in the broker's queue",
    "sendQueueWaitMillis": "time that the first of these requests has waited, in ms",
    "settingChanges": "changed settings",
    "settings": "all settings, as in the configuration file",
    "silentBrokers": "brokers that did not answer, or refused a request",
    "silentMillis": "time since the last heartbeat, in ms",
    "topic": "name of the topic",
    "topics": "number of topics",
    "value": "new value; absent if null",
    "version": "release of nsadmin",
    "zoneName": "zone of the group",
}
"""The meanings by field name, in alphabetical order."""


JsonSchema = dict[str, Any]

_JSON_TYPES: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_ENVELOPE_SCHEMAS: dict[str, JsonSchema] = {
    "v": {"const": SCHEMA_VERSION, "description": "version of this schema"},
    "seq": {"type": "integer", "minimum": 1, "description": "number of the record, without gaps"},
    "time": {"type": "integer", "description": "time of the event, in ms since 1970, UTC"},
    "server": {"type": "string", "description": "name server that the event is about"},
    "type": {"type": "string", "description": "type of the event; skip unknown types"},
    "cause": {"type": "string", "description": "name of the request, or another cause"},
    "client": {"type": "string", "description": "address of the requesting client, or absent"},
    "source": {"type": "string", "description": "collector, or absent if the name server wrote the record"},
}


def build_record_schema() -> JsonSchema:
    """Build the JSON Schema (draft 2020-12). It allows the unknown types and fields of later versions."""
    assert tuple(_ENVELOPE_SCHEMAS) == ENVELOPE_FIELDS
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A record of a name server's journal",
        "description": "One line of a journal. docs/reference/journal.md explains it.",
        "type": "object",
        "properties": _ENVELOPE_SCHEMAS,
        "required": [name for name in ENVELOPE_FIELDS if name not in ("client", "source")],
        "allOf": [
            {"if": {"properties": {"type": {"const": name}}}, "then": {"$ref": f"#/$defs/{name}"}}
            for name in EVENT_TYPES_BY_NAME
        ],
        "$defs": {
            r.__name__: _object_schema(r) for r in (*EVENT_TYPES_BY_NAME.values(), *_nested_record_types())
        },
    }


def record_schema_text() -> str:
    return json.dumps(build_record_schema(), indent=2) + "\n"


def _nested_record_types() -> list[Any]:
    """The records inside events. TopicChange is not one of them: events have TopicChanges."""
    record_types = [r for r in vars(events).values() if isinstance(r, type) and hasattr(r, "_fields")]
    return sorted((r for r in record_types if r is not TopicChange), key=lambda r: r.__name__)


def _field_types(record_type: Any) -> dict[str, Any]:
    """The types of the fields of an event or of a nested record, by their names in a journal."""
    return {to_camel_case(name): hint for name, hint in typing.get_type_hints(record_type).items()}


def _object_schema(record_type: Any) -> JsonSchema:
    field_types = _field_types(record_type)
    is_event = record_type.__name__ in EVENT_TYPES_BY_NAME
    schemas = {name: schema_of_type(hint) for name, hint in field_types.items()}
    for name, schema in schemas.items():
        if is_event and "$ref" not in schema:
            schema["description"] = FIELD_MEANINGS[name]
    required = [name for name, hint in field_types.items() if not is_optional_type(hint)]
    return {
        **({"description": description} if (description := _describe_record(record_type)) else {}),
        "type": "object",
        "properties": schemas,
        **({"required": required} if required else {}),
    }


def _describe_record(record_type: Any) -> str:
    """The docstring of a class as one line. A NamedTuple without a docstring has its signature instead."""
    doc = record_type.__doc__ or ""
    if doc.startswith(f"{record_type.__name__}("):
        return ""
    return re.sub(
        r"`(\w+)`", lambda match: f"`{to_camel_case(match[1])}`", " ".join(inspect.cleandoc(doc).split())
    )


def is_optional_type(hint: Any) -> bool:
    return type(None) in typing.get_args(hint)


def schema_of_type(hint: Any, is_nullable: bool = False) -> JsonSchema:
    """The schema of a field's type. An optional field is absent if null. In an array it is null."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        (inner,) = (schema_of_type(item) for item in args if item is not type(None))
        return {**inner, "type": [inner["type"], "null"]} if is_nullable else inner
    if origin is tuple and args[-1] is Ellipsis:
        return {"type": "array", "items": schema_of_type(args[0], is_nullable=True)}
    if origin is tuple:
        items = [schema_of_type(item, is_nullable=True) for item in args]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": schema_of_type(args[1], is_nullable=True)}
    if hint in _JSON_TYPES:
        return {"type": _JSON_TYPES[hint]}
    return {"$ref": f"#/$defs/{hint.__name__}"}


def build_document_tables() -> dict[str, list[str]]:
    """The rows of the tables in docs/reference/journal.md, by the keys "events", "fields" and "parts"."""
    hints: dict[str, Any] = {}
    for field_name, type_hint in (i for r in EVENT_TYPES_BY_NAME.values() for i in _field_types(r).items()):
        # A field is optional if it is optional in any event.
        if field_name not in hints or is_optional_type(type_hint):
            hints[field_name] = type_hint
    return {
        "events": [
            f"| `{record_type.__name__}` | {_list_fields(record_type)} | {_describe_record(record_type)} |"
            for record_type in EVENT_TYPES_BY_NAME.values()
        ],
        "fields": [f"| `{n}` | {_describe_type(hints[n])} | {FIELD_MEANINGS[n]} |" for n in sorted(hints)],
        "parts": [
            f"| `{r.__name__}` | {_list_fields(r, with_types=True)} | {_describe_record(r)} |"
            for r in _nested_record_types()
        ],
    }


def _list_fields(record_type: Any, with_types: bool = False) -> str:
    return ", ".join(
        f"`{name}`" + (f": {_describe_type(hint)}" if with_types else "")
        for name, hint in _field_types(record_type).items()
    )


def _describe_type(hint: Any) -> str:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return next(_describe_type(item) for item in args if item is not type(None)) + " or null"
    if origin is tuple and args[-1] is Ellipsis:
        return f"array of {_describe_type(args[0])}"
    if origin is tuple:
        return f"[{', '.join(map(_describe_type, args))}]"
    if origin is Mapping:
        return f"object of {_describe_type(args[1])}"
    return _JSON_TYPES.get(hint) or f"`{hint.__name__}`"
