"""Events are records: frozen, comparable, made of their fields only."""

import typing
from typing import Any

import pytest

from namesrv_core.events import (
    EVENT_TYPES_BY_NAME,
    SCHEMA_VERSION,
    BrokerPollFailed,
    CollectorStopping,
    KvPut,
    ServerStopping,
)


def test_every_event_has_fields() -> None:
    assert KvPut in EVENT_TYPES_BY_NAME.values()
    assert all(kind.__annotations__ for kind in EVENT_TYPES_BY_NAME.values())


def test_a_field_has_the_same_type_in_every_event() -> None:
    types_by_field: dict[str, set[object]] = {}
    for kind in EVENT_TYPES_BY_NAME.values():
        for name, hint in typing.get_type_hints(kind).items():
            parts = frozenset(typing.get_args(hint) or (hint,)) if is_optional(hint) else frozenset({hint})
            types_by_field.setdefault(name, set()).add(parts - {type(None)})
    assert {name: types for name, types in types_by_field.items() if len(types) > 1} == {}


def is_optional(hint: object) -> bool:
    return type(None) in typing.get_args(hint)


def test_the_schema_has_a_version() -> None:
    assert SCHEMA_VERSION == 1


def test_an_event_cannot_be_changed() -> None:
    for kind in EVENT_TYPES_BY_NAME.values():
        event = kind(*[None] * len(kind.__annotations__))
        for name in kind.__annotations__:
            with pytest.raises(AttributeError, match=f"{kind.__name__}.{name} cannot be changed"):
                setattr(event, name, 1)
            with pytest.raises(AttributeError, match=f"{kind.__name__}.{name} cannot be changed"):
                delattr(event, name)


def test_events_with_the_same_fields_are_equal() -> None:
    same = KvPut("n", "k", None, "v"), KvPut(value="v", before=None, key="k", namespace="n")
    assert same[0] == same[1] != KvPut("n", "k", None, "w")
    assert len({*same, KvPut("n", "k", None, "w")}) == 2
    assert str(same[0]) == str(same[1]) == "KvPut(namespace='n', key='k', before=None, value='v')"


def test_events_of_two_kinds_are_not_equal() -> None:
    assert ServerStopping("SIGTERM") != CollectorStopping("SIGTERM")


def test_what_is_not_given_has_its_default() -> None:
    event = BrokerPollFailed("c", "a", 0, "10.0.0.1:10911", "runtime", "no answer")
    assert event.consumer_group is None
    assert event == BrokerPollFailed("c", "a", 0, "10.0.0.1:10911", "runtime", "no answer", None)


@pytest.mark.parametrize(
    ("values", "named", "amiss"),
    [
        ((), {}, "before, key, namespace, value"),
        (("n",), {}, "before, key, value"),
        (("n", "k", None), {"before": None}, "value"),
        (("n", "k", None), {"valeu": "v"}, "value, valeu"),
        (("n", "k", None, "v", "w"), {}, "too many values"),
        (("n", "k", None, "v"), {"value": "w"}, "too many values"),
        (("n", "k", None, "v"), {"more": "w"}, "more"),
    ],
)
def test_an_event_is_made_of_its_fields_only(
    values: tuple[Any, ...], named: dict[str, Any], amiss: str
) -> None:
    with pytest.raises(TypeError, match="KvPut: missing or unknown fields: ") as error:
        KvPut(*values, **named)
    assert sorted(amiss.split(", ")) == str(error.value).partition("unknown fields: ")[2].split(", ")
