"""Events: their fields, and the types of these."""

import typing

from namesrv_core import events
from namesrv_core.events import Event, KvPut

KINDS = [kind for kind in vars(events).values() if isinstance(kind, type) and Event in kind.__bases__]


def test_every_event_has_fields() -> None:
    assert KvPut in KINDS
    assert all(kind.__annotations__ for kind in KINDS)


def test_a_field_has_the_same_type_in_every_event() -> None:
    types_by_field: dict[str, set[object]] = {}
    for kind in KINDS:
        for name, hint in typing.get_type_hints(kind).items():
            parts = frozenset(typing.get_args(hint) or (hint,)) if is_optional(hint) else frozenset({hint})
            types_by_field.setdefault(name, set()).add(parts - {type(None)})
    assert {name: types for name, types in types_by_field.items() if len(types) > 1} == {}


def is_optional(hint: object) -> bool:
    return type(None) in typing.get_args(hint)


def test_the_schema_has_a_version() -> None:
    assert events.SCHEMA_VERSION == 1
