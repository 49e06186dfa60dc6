"""Finding: what a check came to, with the numbers that it came from."""

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from nsadmin.operations.checks.ranges import Range


class State(IntEnum):
    """The states of a plugin, which are its exit codes."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


_BY_WEIGHT = (State.OK, State.UNKNOWN, State.WARNING, State.CRITICAL)


def worst(states: Iterable[State]) -> State:
    """The one that weighs most, in the plugins' own order: OK, UNKNOWN, WARNING, CRITICAL; OK for none."""
    return max(states, key=weight, default=State.OK)


def weight(state: State) -> int:
    """How bad it is: more is worse."""
    return _BY_WEIGHT.index(state)


class Limits(NamedTuple):
    """What is fine; None where no value raises an alert."""

    warning: Range | None = None
    critical: Range | None = None

    def state(self, value: float | None) -> State:
        """Of a value; one that is not known is UNKNOWN where there is a limit for it."""
        if value is None:
            return State.UNKNOWN if self.warning or self.critical else State.OK
        if self.critical is not None and self.critical.alerts(value):
            return State.CRITICAL
        if self.warning is not None and self.warning.alerts(value):
            return State.WARNING
        return State.OK


class Measure(NamedTuple):
    """Something that a check measures.

    `unit` is "s", "B", "%", or "" for what is counted. `warning` and `critical` are its limits, as texts, if
    nothing else is said. Where there is a value for each of several things, `label` says what kind they are.
    """

    name: str
    help: str
    unit: str = ""
    warning: str | None = None
    critical: str | None = None
    label: str | None = None


class Sample(NamedTuple):
    """One value of a measure, None where it is not known; `of` names the thing that it is of."""

    measure: Measure
    value: float | None
    of: str | None = None
    limits: Limits = Limits()

    @property
    def state(self) -> State:
        return self.limits.state(self.value)


class Finding(NamedTuple):
    """What a check found: a `summary` in a line, and `details`, a line each.

    `about` is the topic or group that it was asked about.
    """

    check: str
    state: State
    summary: str
    samples: tuple[Sample, ...] = ()
    details: tuple[str, ...] = ()
    about: str | None = None
