"""The shapes of records: whether the JSON values of a record have the types that its event declares. Pure.

Readers of a journal skip records with another shape, so that all other code can rely on the fields.
"""

import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from namesrv_core.events import MappingChange, TopicChanges
from namesrv_core.history.records import EVENT_TYPES_BY_NAME, InvalidRecordError, JournalRecord, Json
from namesrv_core.history.records import to_camel_case as _to_camel_case

_LAST_TIME_MS = 253_402_300_799_999
"""The end of the year 9999, the last that Python's calendar has."""
_MAX_SEQ = 1 << 63
_TEXT_OR_NONE = (str, type(None))
# A newer program may write events of other types. Filters read these fields of every event.
_COMMON_FIELDS: Mapping[str, Any] = {
    "topic": str,
    "brokerName": str,
    "clusterName": str,
    "namespace": str,
    "key": str,
    "changes": tuple[TopicChanges, ...],
    "mappingChanges": tuple[MappingChange, ...],
}

ShapeCheck = Callable[[Json], bool]


def require_record_shape(record: JournalRecord) -> JournalRecord:
    """Return the record. Raises InvalidRecordError if it has another shape than its type."""
    seq, server_name, record_origin, event_type, event_fields = record
    if not (
        type(seq) is int
        and 0 <= seq < _MAX_SEQ
        and type(record_origin.time_ms) is int
        and 0 <= record_origin.time_ms <= _LAST_TIME_MS
        and isinstance(server_name, str)
        and isinstance(event_type, str)
        and isinstance(record_origin.cause, str)
        and isinstance(record_origin.client_addr, _TEXT_OR_NONE)
        and isinstance(record_origin.source, _TEXT_OR_NONE)
    ):
        raise InvalidRecordError(
            "not a journal record: seq, time, server, type, cause, client or source is invalid"
        )
    for field_name, is_required, has_shape in _field_checks(event_type):
        if field_name in event_fields:
            if not has_shape(event_fields[field_name]):
                raise InvalidRecordError(f"{event_type} {seq}: {field_name} has the wrong type")
        elif is_required:
            raise InvalidRecordError(f"{event_type} {seq}: {field_name} is missing")
    return record


def _field_checks(event_type: str) -> list[tuple[str, bool, ShapeCheck]]:
    event_class: Any = EVENT_TYPES_BY_NAME.get(event_type)
    return _UNKNOWN_TYPE_CHECKS if event_class is None else _known_field_checks(event_class)


@cache
def _known_field_checks(event_class: Any) -> list[tuple[str, bool, ShapeCheck]]:
    """For each field of an event or a record in it: its name in JSON, whether it is required, its check."""
    default_values = getattr(event_class, "_field_defaults", None)
    if default_values is None:
        default_values = vars(event_class)
    type_hints = typing.get_type_hints(event_class)
    return [
        (
            _to_camel_case(field_name),
            field_name not in default_values and type(None) not in typing.get_args(type_hint),
            _shape_check(type_hint),
        )
        for field_name, type_hint in type_hints.items()
    ]


@cache
def _shape_check(type_hint: Any) -> ShapeCheck:
    type_origin, type_args = typing.get_origin(type_hint), typing.get_args(type_hint)
    if type_origin in (types.UnionType, typing.Union):
        (inner_check,) = (_shape_check(item) for item in type_args if item is not type(None))
        return lambda json_value: json_value is None or inner_check(json_value)
    if type_origin is tuple and type_args[-1] is Ellipsis:
        item_check, item_type = _shape_check(type_args[0]), type_args[0]
        if item_type in (str, int):
            # Lists of names are long: compare all types at once.
            return lambda json_value: (
                isinstance(json_value, list) and set(map(type, json_value)) <= {item_type}
            )
        return lambda json_value: isinstance(json_value, list) and all(map(item_check, json_value))
    if type_origin is tuple:
        part_checks = tuple(map(_shape_check, type_args))
        return lambda json_value: (
            isinstance(json_value, list)
            and len(json_value) == len(part_checks)
            and all(part_check(item) for part_check, item in zip(part_checks, json_value, strict=True))
        )
    if type_origin is Mapping:
        value_check = _shape_check(type_args[1])
        return lambda json_value: isinstance(json_value, dict) and all(map(value_check, json_value.values()))
    if hasattr(type_hint, "_fields"):
        return _record_check(type_hint)
    if type_hint is float:
        return lambda json_value: type(json_value) in (int, float)
    return lambda json_value: type(json_value) is type_hint


def _record_check(record_type: Any) -> ShapeCheck:
    field_checks = _known_field_checks(record_type)

    def has_shape(json_value: Json) -> bool:
        if not isinstance(json_value, dict):
            return False
        for field_name, is_required, has_field_shape in field_checks:
            if field_name in json_value:
                if not has_field_shape(json_value[field_name]):
                    return False
            elif is_required:
                return False
        return True

    if record_type is not TopicChanges:
        return has_shape
    # A change needs a value before or after.
    return lambda json_value: (
        has_shape(json_value) and bool(json_value.get("before") or json_value.get("after"))
    )


_UNKNOWN_TYPE_CHECKS = [
    (field_name, False, _shape_check(type_hint | None)) for field_name, type_hint in _COMMON_FIELDS.items()
]
