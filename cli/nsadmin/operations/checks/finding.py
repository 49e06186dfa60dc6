"""The result of a check: its state, its measured values and their alert limits."""

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from nsadmin.operations.checks.ranges import Range


class State(IntEnum):
    """The states of a monitoring plugin. The values are its exit codes."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


_BY_WEIGHT = (State.OK, State.UNKNOWN, State.WARNING, State.CRITICAL)


def worst(states: Iterable[State]) -> State:
    """Return the worst state in the order of plugins: OK, UNKNOWN, WARNING, CRITICAL. OK if there is none."""
    return max(states, key=weight, default=State.OK)


def weight(state: State) -> int:
    """Return how bad a state is: a higher weight is worse."""
    return _BY_WEIGHT.index(state)


class Limits(NamedTuple):
    """The ranges outside of which a value raises an alert. With None, no value raises one."""

    warning: Range | None = None
    critical: Range | None = None

    def state(self, value: float | None) -> State:
        """Return the state of a value. An unknown value is UNKNOWN if it has a limit, else OK."""
        if value is None:
            return State.UNKNOWN if self.warning or self.critical else State.OK
        if self.critical is not None and self.critical.alerts(value):
            return State.CRITICAL
        if self.warning is not None and self.warning.alerts(value):
            return State.WARNING
        return State.OK


class Measure(NamedTuple):
    """A quantity that a check measures.

    `unit` is "s", "B", "%", or "" for a count. `warning` and `critical` are the default limits as texts.
    If several items have a value each, `label_name` names the kind of item.
    """

    name: str
    help: str
    unit: str = ""
    warning: str | None = None
    critical: str | None = None
    label: str | None = None


class Sample(NamedTuple):
    """A value of a measure, None if unknown. `item_name` names the item that it belongs to."""

    measure: Measure
    value: float | None
    of: str | None = None
    limits: Limits = Limits()

    @property
    def state(self) -> State:
        return self.limits.state(self.value)


class Finding(NamedTuple):
    """The result of a check: a `summary` in one line, and `details` of one line each.

    `about` is the topic or group that was checked.
    """

    check: str
    state: State
    summary: str
    samples: tuple[Sample, ...] = ()
    details: tuple[str, ...] = ()
    about: str | None = None
