"""The limits in force, and what every check of the table declares."""

import pytest

from nsadmin.operations.checks import disk, lag, namesrv
from nsadmin.operations.checks.check_table import CHECK_TABLE
from nsadmin.operations.checks.findings import CheckMeasure, CheckState
from nsadmin.operations.checks.ranges import InvalidRangeError, parse_range
from nsadmin.operations.kubernetes.rules import DOCTOR_MEASURES
from nsadmin.operations.security.rules import AUDIT_MEASURES


@pytest.mark.parametrize(
    ("name", "measures"),
    [
        *((entry.name, entry.load().measures) for entry in CHECK_TABLE),
        ("security", AUDIT_MEASURES),
        ("kubernetes", DOCTOR_MEASURES),
    ],
)
def test_every_threshold_is_a_range_and_each_check_has_one_of_each_kind(
    name: str, measures: tuple[CheckMeasure, ...]
) -> None:
    for kind in ("warning", "critical"):
        texts = [text for measure in measures if (text := getattr(measure, kind)) is not None]
        assert len(texts) <= 1, f"{name}: --{kind} would be about {len(texts)} measures"
        assert all(map(parse_range, texts))
    assert len({measure.name for measure in measures}) == len(measures)
    assert all(measure.help_text for measure in measures)


def test_what_is_given_counts_for_the_measure_that_has_a_limit() -> None:
    usual, other = namesrv.CHECK.make_scale(), namesrv.CHECK.make_scale(("2", "3:"))
    assert usual.judge_value("failing", 1) is CheckState.WARNING
    assert other.judge_value("failing", 2) is CheckState.OK
    assert usual.judge_value("serving", 2) is CheckState.OK
    assert other.judge_value("serving", 2) is CheckState.CRITICAL
    assert other.judge_value("latency", 99.0) is CheckState.OK


def test_a_limit_that_can_only_be_a_mistake_is_refused() -> None:
    with pytest.raises(
        InvalidRangeError, match=r"--critical 2 would alert above 2, but low values are bad: use 2:"
    ):
        namesrv.CHECK.make_scale((None, "2"))
    with pytest.raises(InvalidRangeError, match=r"--warning 80 would .*: to alert above 80 % used, use 10:$"):
        disk.CHECK.make_scale(("80", None))
    assert namesrv.CHECK.make_scale((None, "@1")).judge_value("serving", 2) is CheckState.OK
    with pytest.raises(InvalidRangeError, match='--warning: invalid range "x"'):
        namesrv.CHECK.make_scale(("x", None))
    assert namesrv.CHECK.make_scale((None, "0:2")).judge_value("serving", 3) is CheckState.CRITICAL


def test_a_default_warning_gives_way_to_a_lower_critical_limit() -> None:
    finding = lag.CHECK.make_scale((None, "10")).make_finding("", {"lag": 5})
    assert finding.samples[0].limits == (None, parse_range("10"))
    [usual] = lag.CHECK.make_scale((None, "1000000")).make_finding("", {"lag": 5}).samples
    assert usual.limits.warning is not None


def test_a_finding_is_as_bad_as_its_worst_sample() -> None:
    scale = namesrv.CHECK.make_scale()
    figures = {"failing": 1, "serving": 1}
    assert scale.make_finding("", figures).state is CheckState.WARNING
    assert scale.make_finding("", figures, minimum_state=CheckState.CRITICAL).state is CheckState.CRITICAL
    assert scale.make_finding("", {"failing": None}).state is CheckState.UNKNOWN
    assert scale.make_unknown_finding("why").state is CheckState.UNKNOWN
