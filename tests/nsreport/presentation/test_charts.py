"""Pictures of reports: what is in the SVG."""

from datetime import date, datetime, timedelta
from typing import Any
from xml.etree import ElementTree

import matplotlib
import pytest

from nsreport.presentation import charts

DAY = date(2025, 2, 1)
TITLE = "what the picture shows"


def bar(name: str, begin: int, end: int | None) -> dict[str, Any]:
    at = datetime(2025, 2, 1)
    return {
        "name": name,
        "ts": at + timedelta(minutes=begin),
        "endTs": None if end is None else at + timedelta(minutes=end),
    }


def drawn(svg: str | None, *texts: str) -> str:
    """The picture, which is well formed and has these labels."""
    assert svg is not None
    labels = {node.text for node in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")}
    assert labels.issuperset(texts), labels
    return svg


def test_a_broker_of_which_a_log_does_not_tell_all_has_what_it_tells() -> None:
    rows = [bar("a", 0, 1) | {"brokerName": name, "brokerId": None} for name in ("a", None)]
    svg = drawn(charts.draw_timeline(rows, TITLE, charts.broker_labeler(rows)), "a", "-")
    assert "None" not in svg


def test_brokers_of_two_clusters_have_a_line_each() -> None:
    rows = [
        {"cluster": cluster, "brokerName": "a", "brokerId": None, "date": DAY, "bytes": 100.0}
        for cluster in "cd"
    ]
    drawn(charts.draw_growth(rows, TITLE, LIMIT), "c/a", "d/a")


@pytest.mark.filterwarnings("error")
def test_a_name_is_shown_as_it_is_and_a_long_one_is_cut() -> None:
    long, formula, foreign = "n" * 200, r"b$\frac$", "日本"
    svg = draw_names(long, formula, foreign)
    drawn(svg, "n" * 23 + "…", formula, foreign)


def draw_names(*names: str) -> str | None:
    return charts.draw_timeline([bar(name, 0, 5) for name in names], TITLE, lambda row: str(row["name"]))


def test_a_timeline_has_a_bar_for_each_row_also_for_what_goes_on() -> None:
    svg = drawn(
        charts.draw_timeline([bar("a", 0, 5), bar("b", 2, None)], TITLE, lambda row: str(row["name"])),
        "a",
        "b",
    )
    assert svg.count("fill: var(--down)") == 2


def test_of_many_names_those_of_most_time_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "_MAX_LINES", 2)
    rows = [bar("a", 0, 1), bar("b", 0, 9), bar("c", 0, 5)]
    svg = drawn(
        charts.draw_timeline(rows, TITLE, lambda row: str(row["name"])), "b", "c",
        "2 of 3; the table has the others",
    )  # fmt: skip
    assert ">a<" not in svg


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("hours", [0, 5, 30, 71, 100, 24 * 40, 24 * 400, 24 * 4000])
def test_times_of_any_length_have_labels(hours: int) -> None:
    drawn(charts.draw_timeline([bar("a", 0, 1), bar("a", 60 * hours, None)], TITLE, lambda _: "a"))


LIMIT = 16 * 2.0**20


def growing(size: float) -> list[dict[str, Any]]:
    return [
        {"date": DAY + timedelta(n), "bytes": int(n * size * rank), "brokerName": f"b{rank}"}
        for n in (1, 2)
        for rank in range(9)
    ]


def test_growth_is_of_those_that_rise_highest() -> None:
    svg = drawn(
        charts.draw_growth(growing(100), TITLE, LIMIT), "b8", "b1", "KiB (16,384 at most)", "2025-02-02"
    )
    assert ">b0<" not in svg
    assert "stroke-dasharray" not in svg


def test_the_limit_is_drawn_where_it_is_near() -> None:
    assert "stroke-dasharray" in drawn(charts.draw_growth(growing(2e6), TITLE, LIMIT), "MiB (16 at most)")


def test_a_forecast_shows_the_day_of_those_that_have_one() -> None:
    rows: list[dict[str, Any]] = [
        {"brokerName": name, "fullDate": full, "earliestDate": early, "latestDate": late}
        for name, full, early, late in (
            ("soon", DAY, DAY - timedelta(3), DAY + timedelta(9)),
            ("later", DAY + timedelta(5), None, None),
            ("never", None, None, None),
        )
    ]
    svg = drawn(charts.draw_forecast(rows, TITLE), "soon", "later", "2025-02-01", "2025-02-06")
    assert ">never<" not in svg
    assert charts.draw_forecast(rows[2:], TITLE) is None


def test_bars_sum_up_by_name() -> None:
    rows: list[dict[str, Any]] = [
        {"of": "a", "n": 1},
        {"of": "b", "n": 5},
        {"of": "a", "n": 9},
        {"of": "c", "n": None},
    ]
    svg = drawn(charts.draw_ranking(rows, TITLE, "n", lambda row: str(row["of"])), "a", "b")
    assert ">c<" not in svg


@pytest.mark.parametrize(
    "picture",
    [
        charts.draw_timeline([], TITLE, str),
        charts.draw_growth([], TITLE, LIMIT),
        charts.draw_forecast([], TITLE),
        charts.draw_ranking([], TITLE, "x", str),
    ],
)
def test_nothing_has_no_picture(picture: str | None) -> None:
    assert picture is None


def test_control_characters_of_a_name_are_not_in_the_picture() -> None:
    drawn(draw_names("a\x1b[2J\u202e"), "a\\x1b[2J\\u202e")


def test_latex_runs_nothing_of_a_name_whatever_a_settings_file_says() -> None:
    with matplotlib.rc_context({"text.usetex": True}):
        drawn(draw_names(r"\input{x}"), r"\input{x}")
