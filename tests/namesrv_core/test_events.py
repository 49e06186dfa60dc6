"""Events are values: frozen, comparable, with fields of plain types."""

import dataclasses
import typing

import pytest

from namesrv_core import events
from namesrv_core.events import Event, KvPut

KINDS = [kind for kind in vars(events).values() if isinstance(kind, type) and Event in kind.__bases__]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_event_cannot_be_changed(kind: type[Event]) -> None:
    event = kind(*[None] * len(dataclasses.fields(kind)))
    for item in dataclasses.fields(kind):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(event, item.name, 1)


def test_events_with_the_same_fields_are_equal() -> None:
    assert KvPut("n", "k", None, "v") == KvPut("n", "k", None, "v") != KvPut("n", "k", None, "w")


def test_every_event_has_fields() -> None:
    assert KvPut in KINDS
    assert all(dataclasses.fields(kind) for kind in KINDS)


def test_a_field_has_the_same_type_in_every_event() -> None:
    found: dict[str, set[object]] = {}
    for kind in KINDS:
        for name, hint in typing.get_type_hints(kind).items():
            parts = frozenset(typing.get_args(hint) or (hint,)) if is_optional(hint) else frozenset({hint})
            found.setdefault(name, set()).add(parts - {type(None)})
    assert {name: types for name, types in found.items() if len(types) > 1} == {}


def is_optional(hint: object) -> bool:
    return type(None) in typing.get_args(hint)


def test_the_schema_has_a_version() -> None:
    assert events.SCHEMA_VERSION == 1
