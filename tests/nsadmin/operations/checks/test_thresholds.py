"""The table of thresholds, and the limits in force."""

import pytest

from nsadmin.operations.checks.finding import State
from nsadmin.operations.checks.ranges import BadRange, parse
from nsadmin.operations.checks.thresholds import LABELS, MEASURES, Scale


def test_every_threshold_is_a_range_and_each_check_has_one_of_each_kind() -> None:
    for check, measures in MEASURES.items():
        for kind in ("warning", "critical"):
            texts = [text for measure in measures if (text := getattr(measure, kind)) is not None]
            assert len(texts) <= 1, f"{check}: --{kind} would be about {len(texts)} measures"
            assert all(map(parse, texts))
        assert len({measure.name for measure in measures}) == len(measures)
        assert all(measure.help for measure in measures)
    assert MEASURES.keys() >= LABELS.keys()


def test_what_is_given_counts_for_the_measure_that_has_a_limit() -> None:
    usual, other = Scale("namesrv"), Scale("namesrv", "2", "3:")
    assert usual.sample("failing", 1).state is State.WARNING
    assert other.sample("failing", 2).state is State.OK
    assert usual.sample("serving", 2).state is State.OK
    assert other.sample("serving", 2).state is State.CRITICAL
    assert other.sample("latency", 99.0).state is State.OK


def test_a_limit_that_can_only_be_a_mistake_is_refused() -> None:
    with pytest.raises(BadRange, match=r"--critical 2 would alert above 2, but low values are bad: give 2:"):
        Scale("namesrv", None, "2")
    with pytest.raises(BadRange, match="--warning: 'x' is no range"):
        Scale("namesrv", "x")
    assert Scale("namesrv", None, "0:2").sample("serving", 3).state is State.CRITICAL


def test_a_finding_is_as_bad_as_its_worst_sample() -> None:
    scale = Scale("namesrv")
    samples = [scale.sample("failing", 1), scale.sample("serving", 1)]
    assert scale.finding("", samples).state is State.WARNING
    assert scale.finding("", samples, least=State.CRITICAL).state is State.CRITICAL
    assert scale.finding("", [scale.sample("failing", None)]).state is State.UNKNOWN
    assert scale.unknown("why").state is State.UNKNOWN
