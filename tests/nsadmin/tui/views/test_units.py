"""Numbers as they are read in a narrow column."""

import pytest

from nsadmin.tui.views import units


@pytest.mark.parametrize(
    ("number", "text"),
    [(None, "–"), (0, "0"), (7, "7"), (999, "999"), (999.7, "1000"), (1234, "1.2k"), (99_960, "100k"),
     (999_600, "1.0M"), (34_500_000, "34.5M"), (7e12, "7.0T")],
)  # fmt: skip
def test_counts_take_five_letters_at_most(number: float | None, text: str) -> None:
    assert units.format_count(number) == text
    assert len(text) <= 5


def test_small_rates_keep_a_digit() -> None:
    found = [units.format_rate(number) for number in (None, 0, 0.25, 9.94, 12.3)]
    assert found == ["–", "0", "0.2", "9.9", "12"]


@pytest.mark.parametrize(
    ("number", "text"), [(None, "–"), (0, "0 B"), (512, "512 B"), (1536, "1.5 KiB"), (5 << 30, "5.0 GiB")]
)
def test_sizes(number: float | None, text: str) -> None:
    assert units.format_size(number) == text


def test_ratios_are_per_cent() -> None:
    assert (units.format_percent(0.754), units.format_percent(None)) == ("75%", "–")


@pytest.mark.parametrize(
    ("number", "text"),
    [(None, "–"), (0, "0 ms"), (1.23, "1.2 ms"), (340, "340 ms"), (5100, "5.1 s"), (61_000, "1 min")],
)
def test_how_long_an_answer_took(number: float | None, text: str) -> None:
    assert units.format_millis(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(None, "–"), (-5, "0 s"), (12_000, "12 s"), (90_000, "2 min"), (5_400_000, "1.5 h"),
     (34 * 86_400_000, "34 d")],
)  # fmt: skip
def test_ages_have_the_unit_that_matters(number: float | None, text: str) -> None:
    assert units.format_age(number) == text


def test_times_of_day_and_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    assert units.format_clock(None) == units.format_moment(0) == "–"
    assert len(units.format_clock(1_767_182_400_000)) == 8
    assert units.format_moment(1_767_182_400_000).endswith(units.format_clock(1_767_182_400_000))


def test_a_sparkline_shows_the_last_numbers_over_the_greatest() -> None:
    assert units.draw_sparkline([9, 0, 5, None, 10], 4) == "▁▄ ▇"
    assert units.draw_sparkline([3], 4) == "   ▇"
    assert units.draw_sparkline([0, 0], 2) == "▁▁"
    assert units.draw_sparkline([1, 1], 2, least_top=100) == "▁▁"


def test_a_meter_is_as_wide_as_it_is_told() -> None:
    assert [units.draw_meter(ratio, 4) for ratio in (0, 0.5, 0.6, 1, 2, None)] == [
        "    ", "██  ", "██▍ ", "████", "████", "–   "
    ]  # fmt: skip
