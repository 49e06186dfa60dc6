"""The shapes of records: whether the JSON values of a record have the types that its event declares. Pure.

Readers of a journal skip records with another shape, so that all other code can rely on the fields.
"""

import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from namesrv_core.events import EVENT_TYPES_BY_NAME, MappingChange, TopicChanges, to_camel_case
from namesrv_core.history.records import InvalidRecordError, JournalRecord, Json

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
    seq, name, origin, kind, fields = record
    if not (
        type(seq) is int
        and 0 <= seq < _MAX_SEQ
        and type(origin.time_ms) is int
        and 0 <= origin.time_ms <= _LAST_TIME_MS
        and isinstance(name, str)
        and isinstance(kind, str)
        and isinstance(origin.cause, str)
        and isinstance(origin.client_addr, _TEXT_OR_NONE)
        and isinstance(origin.source, _TEXT_OR_NONE)
    ):
        raise InvalidRecordError(
            "not a journal record: seq, time, server, type, cause, client or source is invalid"
        )
    event_class: Any = EVENT_TYPES_BY_NAME.get(kind)
    checks = _UNKNOWN_TYPE_CHECKS if event_class is None else _known_field_checks(event_class)
    mistake = _find_mistake(fields, checks)
    if mistake is not None:
        raise InvalidRecordError(f"{kind} {seq}: {mistake}")
    return record


def _find_mistake(fields: Mapping[str, Json], checks: list[tuple[str, bool, ShapeCheck]]) -> str | None:
    for field, is_required, has_shape in checks:
        if field in fields:
            if not has_shape(fields[field]):
                return f"{field} has the wrong type"
        elif is_required:
            return f"{field} is missing"
    return None


@cache
def _known_field_checks(event_class: Any) -> list[tuple[str, bool, ShapeCheck]]:
    """For each field of an event or a record in it: its name in JSON, whether it is required, its check."""
    defaults = getattr(event_class, "_field_defaults", None)
    if defaults is None:
        defaults = vars(event_class)
    hints = typing.get_type_hints(event_class)
    return [
        (to_camel_case(n), n not in defaults and type(None) not in typing.get_args(h), _shape_check(h))
        for n, h in hints.items()
    ]


@cache
def _shape_check(hint: Any) -> ShapeCheck:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        (inner_check,) = (_shape_check(item) for item in args if item is not type(None))
        return lambda value: value is None or inner_check(value)
    if origin is tuple and args[-1] is Ellipsis:
        item_check, item_type = _shape_check(args[0]), args[0]
        if item_type in (str, int):
            # Lists of names are long: compare all types at once.
            return lambda value: isinstance(value, list) and set(map(type, value)) <= {item_type}
        return lambda value: isinstance(value, list) and all(map(item_check, value))
    if origin is tuple:
        part_checks = tuple(map(_shape_check, args))
        return lambda value: (
            isinstance(value, list)
            and len(value) == len(part_checks)
            and all(check(item) for check, item in zip(part_checks, value, strict=True))
        )
    if origin is Mapping:
        value_check = _shape_check(args[1])
        return lambda value: isinstance(value, dict) and all(map(value_check, value.values()))
    if hasattr(hint, "_fields"):
        return _record_check(hint)
    if hint is float:
        return lambda value: type(value) in (int, float)
    return lambda value: type(value) is hint


def _record_check(record_type: Any) -> ShapeCheck:
    field_checks = _known_field_checks(record_type)

    def has_shape(value: Json) -> bool:
        return isinstance(value, dict) and _find_mistake(value, field_checks) is None

    if record_type is not TopicChanges:
        return has_shape
    # A change needs a value before or after.
    return lambda value: has_shape(value) and bool(value.get("before") or value.get("after"))


_UNKNOWN_TYPE_CHECKS = [(name, False, _shape_check(hint | None)) for name, hint in _COMMON_FIELDS.items()]
