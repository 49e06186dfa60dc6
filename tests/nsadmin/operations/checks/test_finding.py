"""States, and what limits make of values."""

from nsadmin.operations.checks.finding import Limits, Measure, Sample, State, worst
from nsadmin.operations.checks.ranges import parse


def test_the_worst_state_is_the_one_that_weighs_most_with_plugins() -> None:
    assert worst([]) is State.OK
    assert worst([State.OK, State.UNKNOWN]) is State.UNKNOWN
    assert worst([State.UNKNOWN, State.WARNING]) is State.WARNING
    assert worst([State.CRITICAL, State.UNKNOWN, State.WARNING]) is State.CRITICAL


def test_critical_comes_before_warning_and_a_value_that_nobody_knows_is_unknown() -> None:
    limits = Limits(parse("5"), parse("10"))
    assert [limits.state(value) for value in (5, 6, 10, 11, None)] == [
        State.OK,
        State.WARNING,
        State.WARNING,
        State.CRITICAL,
        State.UNKNOWN,
    ]
    assert Limits().state(None) is State.OK
    assert Limits().state(-1) is State.OK
    assert Sample(Measure("lag", ""), 11, None, limits).state is State.CRITICAL
