"""Events with any fields, for tests that hold for all of them."""

import typing
from math import isfinite
from typing import TypeVar

from hypothesis import strategies as st

from namesrv_core.events import Event

E = TypeVar("E", bound=Event)


def any_event(kind: type[E]) -> st.SearchStrategy[E]:
    """Events of that kind. Their floats are finite: the client makes None of the others (`get_number`)."""
    hints = typing.get_type_hints(kind)
    return st.builds(kind, **{name: st.from_type(hint).filter(is_finite) for name, hint in hints.items()})


def is_finite(value: object) -> bool:
    return not isinstance(value, float) or isfinite(value)
