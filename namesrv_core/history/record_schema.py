"""Computes a JSON Schema and the tables of docs/reference/journal.md from the event classes."""

import inspect
import json
import re
import types
import typing
from collections.abc import Mapping
from typing import Any

from namesrv_core import events
from namesrv_core.events import SCHEMA_VERSION, TopicChange
from namesrv_core.history.field_meanings import FIELD_MEANINGS
from namesrv_core.history.records import ENVELOPE_FIELDS, EVENT_TYPES_BY_NAME, to_camel_case

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
        "required": [event_name for event_name in ENVELOPE_FIELDS if event_name not in ("client", "source")],
        "allOf": [
            {"if": {"properties": {"type": {"const": event_name}}}, "then": {"$ref": f"#/$defs/{event_name}"}}
            for event_name in EVENT_TYPES_BY_NAME
        ],
        "$defs": {
            record_type.__name__: _object_schema(record_type)
            for record_type in (*EVENT_TYPES_BY_NAME.values(), *_nested_record_types())
        },
    }


def record_schema_text() -> str:
    """The text of the schema file."""
    return json.dumps(build_record_schema(), indent=2) + "\n"


def _nested_record_types() -> list[Any]:
    """The records inside events. TopicChange is not one of them: events have TopicChanges."""
    record_types = [
        record_type
        for record_type in vars(events).values()
        if hasattr(record_type, "_fields") and isinstance(record_type, type)
    ]
    return [record_type for record_type in record_types if record_type is not TopicChange]


def _field_types(record_type: Any) -> dict[str, Any]:
    """The types of the fields of an event or of a nested record, by their names in a journal."""
    return {
        to_camel_case(field_name): type_hint
        for field_name, type_hint in typing.get_type_hints(record_type).items()
    }


def _object_schema(record_type: Any) -> JsonSchema:
    field_types = _field_types(record_type)
    is_event = record_type.__name__ in EVENT_TYPES_BY_NAME
    property_schemas = {
        field_name: schema_of_type(type_hint) for field_name, type_hint in field_types.items()
    }
    for field_name, property_schema in property_schemas.items():
        if is_event and "$ref" not in property_schema:
            property_schema["description"] = FIELD_MEANINGS[field_name]
    required_fields = [
        field_name for field_name, type_hint in field_types.items() if not is_optional_type(type_hint)
    ]
    return {
        **(
            {"description": record_description}
            if (record_description := _describe_record(record_type))
            else {}
        ),
        "type": "object",
        "properties": property_schemas,
        **({"required": required_fields} if required_fields else {}),
    }


def _describe_record(record_type: Any) -> str:
    """The docstring of a class as one line. A NamedTuple without a docstring has its signature instead."""
    doc_text = record_type.__doc__ or ""
    if doc_text.startswith(f"{record_type.__name__}("):
        return ""
    return re.sub(
        r"`(\w+)`",
        lambda name_match: f"`{to_camel_case(name_match[1])}`",
        " ".join(inspect.cleandoc(doc_text).split()),
    )


def is_optional_type(type_hint: Any) -> bool:
    """Whether a field of this type may be left out."""
    return type(None) in typing.get_args(type_hint)


def schema_of_type(type_hint: Any, is_nullable: bool = False) -> JsonSchema:
    """The schema of a field's type. An optional field is absent if null. In an array it is null."""
    type_origin, type_args = typing.get_origin(type_hint), typing.get_args(type_hint)
    if type_origin in (types.UnionType, typing.Union):
        (inner_schema,) = (schema_of_type(item) for item in type_args if item is not type(None))
        return {**inner_schema, "type": [inner_schema["type"], "null"]} if is_nullable else inner_schema
    if type_origin is tuple and type_args[-1] is Ellipsis:
        return {"type": "array", "items": schema_of_type(type_args[0], is_nullable=True)}
    if type_origin is tuple:
        item_schemas = [schema_of_type(item, is_nullable=True) for item in type_args]
        return {
            "type": "array",
            "prefixItems": item_schemas,
            "minItems": len(item_schemas),
            "maxItems": len(item_schemas),
        }
    if type_origin is Mapping:
        return {"type": "object", "additionalProperties": schema_of_type(type_args[1], is_nullable=True)}
    if type_hint in _JSON_TYPES:
        return {"type": _JSON_TYPES[type_hint]}
    return {"$ref": f"#/$defs/{type_hint.__name__}"}


def build_document_tables() -> dict[str, list[str]]:
    """The rows of the tables in docs/reference/journal.md, by the keys "events", "fields" and "parts"."""
    type_hints: dict[str, Any] = {}
    for field_name, type_hint in (
        field_item
        for record_type in EVENT_TYPES_BY_NAME.values()
        for field_item in _field_types(record_type).items()
    ):
        # A field is optional if it is optional in any event.
        if field_name not in type_hints or is_optional_type(type_hint):
            type_hints[field_name] = type_hint
    return {
        "events": [
            f"| `{record_type.__name__}` | {_list_fields(record_type)} | {_describe_record(record_type)} |"
            for record_type in EVENT_TYPES_BY_NAME.values()
        ],
        "fields": [
            f"| `{field_name}` | {_describe_type(type_hints[field_name])} | {FIELD_MEANINGS[field_name]} |"
            for field_name in sorted(type_hints)
        ],
        "parts": [
            f"| `{record_type.__name__}` | {_list_fields(record_type, with_types=True)} "
            f"| {_describe_record(record_type)} |"
            for record_type in _nested_record_types()
        ],
    }


def _list_fields(record_type: Any, with_types: bool = False) -> str:
    return ", ".join(
        f"`{field_name}`" + (f": {_describe_type(type_hint)}" if with_types else "")
        for field_name, type_hint in _field_types(record_type).items()
    )


def _describe_type(type_hint: Any) -> str:
    """The name of a type in JSON terms."""
    type_origin, type_args = typing.get_origin(type_hint), typing.get_args(type_hint)
    if type_origin in (types.UnionType, typing.Union):
        return next(_describe_type(item) for item in type_args if item is not type(None)) + " or null"
    if type_origin is tuple and type_args[-1] is Ellipsis:
        return f"array of {_describe_type(type_args[0])}"
    if type_origin is tuple:
        return f"[{', '.join(map(_describe_type, type_args))}]"
    if type_origin is Mapping:
        return f"object of {_describe_type(type_args[1])}"
    return _JSON_TYPES.get(type_hint) or f"`{type_hint.__name__}`"
