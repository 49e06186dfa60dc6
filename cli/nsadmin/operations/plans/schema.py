"""The JSON Schema (draft 2020-12) of a cluster file for editors, computed from the shapes."""

import json
from typing import Any

from nsadmin.operations.plans.fields import CLUSTER
from nsadmin.operations.plans.shapes import (
    Field,
    Flag,
    ListOf,
    MapOf,
    Name,
    OneOf,
    Record,
    Shape,
    Text,
    Whole,
)

Schema = dict[str, Any]


def schema() -> Schema:
    """The whole schema."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What a RocketMQ cluster is to have",
        "description": "Topics, consumer groups, order configurations and KV config: "
        "nsadmin export writes such a file, nsadmin plan and apply read it.",
        **of(CLUSTER),
    }


def text() -> str:
    """The text of the schema file."""
    return json.dumps(schema(), indent=2) + "\n"


def of(shape: Shape) -> Schema:
    """The schema of one shape."""
    match shape:
        case Whole(least, most):
            return (
                {"const": least} if least == most else {"type": "integer", "minimum": least, "maximum": most}
            )
        case Flag():
            return {"type": "boolean"}
        case OneOf(words):
            return {"enum": list(words)}
        case Name(_, pattern, _):
            return {"type": "string", "pattern": f"^{pattern}$"}
        case Text():
            return {"type": ["string", "number", "boolean"]}
        case ListOf(item):
            return {"type": "array", "items": of(item)}
        case MapOf(key, item):
            names = {"propertyNames": {"pattern": f"^{key.pattern}$"}} if isinstance(key, Name) else {}
            return {"type": ["object", "null"], **names, "additionalProperties": of(item)}
        case Record(fields):
            return _record(fields)
    raise AssertionError(shape)


def _record(fields: tuple[Field, ...]) -> Schema:
    required = [field.key for field in fields if field.required]
    return {
        "type": "object" if required else ["object", "null"],
        "properties": {field.key: _field(field) for field in fields},
        "additionalProperties": False,
        **({"required": required} if required else {}),
    }


def _field(field: Field) -> Schema:
    default = {} if field.default is None else {"default": field.default}
    return {"description": field.meaning, **of(field.shape), **default}
