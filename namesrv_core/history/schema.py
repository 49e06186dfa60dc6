"""The schema of records, computed from event classes: a JSON Schema and the tables of docs/journal.md."""

import inspect
import json
import re
import types
import typing
from collections.abc import Mapping
from typing import Any

from namesrv_core import events
from namesrv_core.events import SCHEMA_VERSION, TopicChange
from namesrv_core.history.meanings import FIELDS
from namesrv_core.history.records import ENVELOPE, KINDS, camel

Schema = dict[str, Any]

_PLAIN: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_ENVELOPE: dict[str, Schema] = {
    "v": {"const": SCHEMA_VERSION, "description": "version of this schema"},
    "seq": {"type": "integer", "minimum": 1, "description": "number of the record, without holes"},
    "time": {"type": "integer", "description": "when it was written, in ms since 1970, UTC"},
    "server": {"type": "string", "description": "the name server that it is about"},
    "type": {"type": "string", "description": "kind of event; one that is not known may be passed over"},
    "cause": {"type": "string", "description": "the request, or what else caused it"},
    "client": {"type": "string", "description": "address of the one who asked; absent: nobody did"},
    "source": {"type": "string", "description": "who saw it: collector; absent: the name server itself"},
}


def schema() -> Schema:
    """Build the JSON Schema (draft 2020-12). It allows the unknown types and fields of later versions."""
    assert tuple(_ENVELOPE) == ENVELOPE
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A record of a name server's journal",
        "description": "One line of a journal; docs/journal.md explains it.",
        "type": "object",
        "properties": _ENVELOPE,
        "required": [name for name in ENVELOPE if name not in ("client", "source")],
        "allOf": [
            {"if": {"properties": {"type": {"const": name}}}, "then": {"$ref": f"#/$defs/{name}"}}
            for name in KINDS
        ],
        "$defs": {kind.__name__: _object(kind) for kind in (*KINDS.values(), *_parts())},
    }


def text() -> str:
    """The text of the schema file."""
    return json.dumps(schema(), indent=2) + "\n"


def _parts() -> list[Any]:
    """The records inside events. TopicChange is not one of them: events have TopicChanges."""
    found = [kind for kind in vars(events).values() if hasattr(kind, "_fields") and isinstance(kind, type)]
    return [kind for kind in found if kind is not TopicChange]


def _members(kind: Any) -> dict[str, Any]:
    """The types of the fields of an event or of a nested record, by their names in a journal."""
    return {camel(name): hint for name, hint in typing.get_type_hints(kind).items()}


def _object(kind: Any) -> Schema:
    members = _members(kind)
    is_event = kind.__name__ in KINDS
    properties = {name: of(hint) for name, hint in members.items()}
    for name, shown in properties.items():
        if is_event and "$ref" not in shown:
            shown["description"] = FIELDS[name]
    required = [name for name, hint in members.items() if not is_optional(hint)]
    return {
        **({"description": said} if (said := _said(kind)) else {}),
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
    }


def _said(kind: Any) -> str:
    """The docstring of a class as one line. A NamedTuple without a docstring has its signature instead."""
    said = kind.__doc__ or ""
    if said.startswith(f"{kind.__name__}("):
        return ""
    return re.sub(r"`(\w+)`", lambda name: f"`{camel(name[1])}`", " ".join(inspect.cleandoc(said).split()))


def is_optional(hint: Any) -> bool:
    """Whether a field of this type may be left out."""
    return type(None) in typing.get_args(hint)


def of(hint: Any, nullable: bool = False) -> Schema:
    """The schema of a field's type. An optional field is absent if null. In an array it is null."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        (inner,) = (of(item) for item in args if item is not type(None))
        return {**inner, "type": [inner["type"], "null"]} if nullable else inner
    if origin is tuple and args[-1] is Ellipsis:
        return {"type": "array", "items": of(args[0], nullable=True)}
    if origin is tuple:
        each = [of(item, nullable=True) for item in args]
        return {"type": "array", "prefixItems": each, "minItems": len(each), "maxItems": len(each)}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": of(args[1], nullable=True)}
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    return {"$ref": f"#/$defs/{hint.__name__}"}


def tables() -> dict[str, list[str]]:
    """The rows of the tables in docs/journal.md, by the keys "events", "fields" and "parts"."""
    hints: dict[str, Any] = {}
    for name, hint in (item for kind in KINDS.values() for item in _members(kind).items()):
        # A field is optional if it is optional in any event.
        if name not in hints or is_optional(hint):
            hints[name] = hint
    return {
        "events": [f"| `{kind.__name__}` | {_listed(kind)} | {_said(kind)} |" for kind in KINDS.values()],
        "fields": [f"| `{name}` | {_in_words(hints[name])} | {FIELDS[name]} |" for name in sorted(hints)],
        "parts": [
            f"| `{kind.__name__}` | {_listed(kind, with_types=True)} | {_said(kind)} |" for kind in _parts()
        ],
    }


def _listed(kind: Any, with_types: bool = False) -> str:
    return ", ".join(
        f"`{name}`" + (f": {_in_words(hint)}" if with_types else "") for name, hint in _members(kind).items()
    )


def _in_words(hint: Any) -> str:
    """The name of a type in JSON terms."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return next(_in_words(item) for item in args if item is not type(None)) + " or null"
    if origin is tuple and args[-1] is Ellipsis:
        return f"array of {_in_words(args[0])}"
    if origin is tuple:
        return f"[{', '.join(map(_in_words, args))}]"
    if origin is Mapping:
        return f"object of {_in_words(args[1])}"
    return _PLAIN.get(hint) or f"`{hint.__name__}`"
