"""States, and what limits make of values."""

from nsadmin.operations.checks.findings import AlertLimits, CheckMeasure, CheckSample, CheckState, worst_state
from nsadmin.operations.checks.ranges import parse_range


def test_the_worst_state_is_the_one_that_weighs_most_with_plugins() -> None:
    assert worst_state([]) is CheckState.OK
    assert worst_state([CheckState.OK, CheckState.UNKNOWN]) is CheckState.UNKNOWN
    assert worst_state([CheckState.UNKNOWN, CheckState.WARNING]) is CheckState.WARNING
    assert worst_state([CheckState.CRITICAL, CheckState.UNKNOWN, CheckState.WARNING]) is CheckState.CRITICAL


def test_critical_comes_before_warning_and_a_value_that_nobody_knows_is_unknown() -> None:
    limits = AlertLimits(parse_range("5"), parse_range("10"))
    assert [limits.judge_value(value) for value in (5, 6, 10, 11, None)] == [
        CheckState.OK,
        CheckState.WARNING,
        CheckState.WARNING,
        CheckState.CRITICAL,
        CheckState.UNKNOWN,
    ]
    assert AlertLimits().judge_value(None) is CheckState.OK
    assert AlertLimits().judge_value(-1) is CheckState.OK
    assert CheckSample(CheckMeasure("lag", ""), 11, None, limits).alert_state is CheckState.CRITICAL
