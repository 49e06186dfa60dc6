"""The result of a check: its state, its measured values and their alert limits."""

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import Any, NamedTuple

from nsadmin.client.results import ServerResult, error_text
from nsadmin.console.phrases import count_noun
from nsadmin.operations.checks.ranges import AlertRange


class CheckState(IntEnum):
    """The states of a monitoring plugin. The values are its exit codes."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


_STATES_BY_WEIGHT = (CheckState.OK, CheckState.UNKNOWN, CheckState.WARNING, CheckState.CRITICAL)


def worst_state(check_states: Iterable[CheckState]) -> CheckState:
    """Return the worst state in the order of plugins: OK, UNKNOWN, WARNING, CRITICAL. OK without states."""
    return max(check_states, key=state_weight, default=CheckState.OK)


def state_weight(check_state: CheckState) -> int:
    """Return how bad a state is: a higher weight is worse."""
    return _STATES_BY_WEIGHT.index(check_state)


def list_failures(
    results: Iterable[ServerResult[Any]], names: Mapping[str, str] | None = None, kind: str = ""
) -> list[str]:
    """A line for each server that failed, with its kind, and its display name or else its address."""
    return [
        f"{kind} {(names or {}).get(addr, addr)}: {error_text(error)}".lstrip()
        for addr, _, error in results
        if error is not None
    ]


class AlertLimits(NamedTuple):
    """A value outside these ranges raises an alert. None stands for no alerts."""

    warning: AlertRange | None = None
    critical: AlertRange | None = None

    def judge_value(self, measured_value: float | None) -> CheckState:
        """Return the state of a value. An unknown value is UNKNOWN if it has a limit, else OK."""
        if measured_value is None:
            return CheckState.UNKNOWN if self.warning or self.critical else CheckState.OK
        if self.critical is not None and self.critical.is_alert(measured_value):
            return CheckState.CRITICAL
        if self.warning is not None and self.warning.is_alert(measured_value):
            return CheckState.WARNING
        return CheckState.OK


class CheckMeasure(NamedTuple):
    """A quantity that a check measures.

    `unit` is "s", "B", "%", or "" for a count. `warning` and `critical` are the default limits as texts.
    If several items have a value each, `label_name` names the kind of item. `advise_limit` says what to pass
    instead of a number that low values do not exceed.
    """

    name: str
    help_text: str
    unit: str = ""
    warning: str | None = None
    critical: str | None = None
    label_name: str | None = None
    advise_limit: Callable[[float], str] = lambda number: f"low values are bad: use {number:g}:"


class CheckSample(NamedTuple):
    """A value of a measure, None if unknown. `item_name` names the item that it belongs to."""

    measure: CheckMeasure
    value: float | None
    item_name: str | None = None
    limits: AlertLimits = AlertLimits()

    @property
    def alert_state(self) -> CheckState:
        return self.limits.judge_value(self.value)


class UncheckedPart(NamedTuple):
    """What a run of several checks did not look at: the check, and why, or how to run it.

    `groups` is the number of groups of the check `lag` that were not examined; None if it is unknown.
    """

    check: str
    reason: str
    groups: int | None = None

    @property
    def title(self) -> str:
        if self.groups is None:
            return self.check
        return f"{self.check} of {count_noun(self.groups, 'group')}"


class CheckFinding(NamedTuple):
    """The result of a check: a `summary` in one line, and `details` of one line each.

    `about` is the topic or group that was checked. `brief_details` replaces the details in text for people,
    for example without the names of all servers. `remedies` says what to do about each of the first details.
    `unchecked` is what a finding about several checks is not about. `affected` are the topics, groups or
    servers with the problem, the worst first.
    """

    check: str
    state: CheckState
    summary: str
    samples: tuple[CheckSample, ...] = ()
    details: tuple[str, ...] = ()
    about: str | None = None
    brief_details: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()
    unchecked: tuple[UncheckedPart, ...] = ()
    affected: tuple[str, ...] = ()

    @property
    def worst(self) -> str | None:
        return next(iter(self.affected), None)

    @property
    def title(self) -> str:
        return self.check if self.about is None else f"{self.check} {self.about}"

    def with_inventory_problem(self, problem: str | None) -> "CheckFinding":
        """Add that missing brokers are unknown: the finding is not OK then."""
        if problem is None:
            return self
        return self._replace(
            state=worst_state([self.state, CheckState.UNKNOWN]),
            summary=f"{self.summary}; missing brokers are unknown",
            details=(*self.details, problem),
        )
