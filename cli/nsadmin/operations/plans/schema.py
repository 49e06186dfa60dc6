"""The JSON Schema (draft 2020-12) of a cluster file for editors, computed from the shapes."""

import json
from typing import Any

from nsadmin.operations.plans.fields import CLUSTER_FIELDS
from nsadmin.operations.plans.shapes import (
    ChoiceShape,
    DecimalShape,
    FlagShape,
    ListShape,
    MapShape,
    NameShape,
    RecordField,
    RecordShape,
    TextShape,
    ValueShape,
    WholeNumberShape,
)

JsonSchema = dict[str, Any]


def build_schema() -> JsonSchema:
    """The whole schema."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Desired state of a RocketMQ cluster",
        "description": "Topics, consumer groups, order configurations and KV config. `nsadmin export` "
        "writes this format, `nsadmin plan` and `nsadmin apply` read it.",
        **schema_of_shape(CLUSTER_FIELDS),
    }


def format_schema() -> str:
    """The text of the schema file."""
    return json.dumps(build_schema(), indent=2) + "\n"


def schema_of_shape(value_shape: ValueShape) -> JsonSchema:
    """The schema of one shape."""
    match value_shape:
        case WholeNumberShape(min_value, max_value):
            return (
                {"const": min_value}
                if min_value == max_value
                else {"type": "integer", "minimum": min_value, "maximum": max_value}
            )
        case DecimalShape(min_value, max_value):
            return {"type": "number", "minimum": min_value, "maximum": max_value}
        case FlagShape():
            return {"type": "boolean"}
        case ChoiceShape(allowed_words):
            return {"enum": list(allowed_words)}
        case NameShape(_, name_pattern, _):
            return {"type": "string", "pattern": f"^{name_pattern}$"}
        case TextShape():
            return {"type": ["string", "number", "boolean"]}
        case ListShape(item_shape):
            return {"type": "array", "items": schema_of_shape(item_shape)}
        case MapShape(key_shape, item_shape):
            key_schema = (
                {"propertyNames": {"pattern": f"^{key_shape.pattern}$"}}
                if isinstance(key_shape, NameShape)
                else {}
            )
            return {
                "type": ["object", "null"],
                **key_schema,
                "additionalProperties": schema_of_shape(item_shape),
            }
        case RecordShape(record_fields):
            return _schema_of_record(record_fields)
    raise AssertionError(value_shape)


def _schema_of_record(record_fields: tuple[RecordField, ...]) -> JsonSchema:
    required_keys = [record_field.key for record_field in record_fields if record_field.is_required]
    return {
        "type": "object" if required_keys else ["object", "null"],
        "properties": {record_field.key: _schema_of_field(record_field) for record_field in record_fields},
        "additionalProperties": False,
        **({"required": required_keys} if required_keys else {}),
    }


def _schema_of_field(record_field: RecordField) -> JsonSchema:
    default_schema = {} if record_field.default is None else {"default": record_field.default}
    return {
        "description": record_field.meaning,
        **schema_of_shape(record_field.value_shape),
        **default_schema,
    }
