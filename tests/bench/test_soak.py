"""The verdict of the soak test."""

from tests.bench.soak import Sample, verdict

FLAT = Sample(50.0, 30, 4, 1, 0.5, 5.0)


def test_figures_that_stay_are_flat() -> None:
    assert all(line.endswith("flat") for line in verdict([FLAT] * 30))


def test_one_sample_is_a_verdict_too() -> None:
    assert all(line.endswith("flat") for line in verdict([FLAT]))


def test_each_figure_that_grows_is_named() -> None:
    samples = [Sample(50.0 + n, 30 + n, 4 + n, 1 + n, 0.5 + n, 5.0) for n in range(60)]
    assert [line.split(":")[0] for line in verdict(samples) if line.endswith("GROWS")] == [
        "memory", "files", "threads", "tasks", "p50",
    ]  # fmt: skip
