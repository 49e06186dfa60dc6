"""Events with any fields, for tests that hold for all of them."""

import typing
from typing import TypeVar

from hypothesis import strategies as st

from namesrv_core.events import Event

E = TypeVar("E", bound=Event)


def any_event(kind: type[E]) -> st.SearchStrategy[E]:
    """Events of that kind."""
    hints = typing.get_type_hints(kind)
    return st.builds(kind, **{name: st.from_type(hint) for name, hint in hints.items()})
