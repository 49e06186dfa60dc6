"""Percentiles and histograms."""

from nsadmin.operations.bench.latency_figures import Percentiles, draw_histogram, find_percentiles


def test_a_percentile_is_a_latency_that_was_measured() -> None:
    assert find_percentiles([]) == Percentiles(None, None, None, None, None)
    assert find_percentiles([5.0]) == Percentiles(5, 5, 5, 5, 5)
    thousand = [float(number) for number in range(1000, 0, -1)]
    assert find_percentiles(thousand) == Percentiles(500, 900, 990, 999, 1000)


def test_a_histogram_has_no_empty_ends() -> None:
    assert draw_histogram([]) == []
    lines = draw_histogram([0.5, 0.6, 3.0, 3.9, 3.9, 3.9])
    assert lines == [
        "    < 1 ms        2 ####################",
        "    < 2 ms        0",
        "    < 4 ms        4 ########################################",
    ]
    assert draw_histogram([5000.0]) == ["> = 1024 ms        1 ".replace("> =", ">=") + "#" * 40]
