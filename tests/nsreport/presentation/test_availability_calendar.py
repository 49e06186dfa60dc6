"""The calendar of brokers and days."""

import re
from datetime import date, timedelta
from typing import Any

import pytest

from nsreport.presentation import availability_calendar
from tests.support.html_pages import read_html

DAY = date(2025, 1, 31)


def day(
    broker: str, down: float = 0, offset: int = 0, planned: float = 0, unknown: float = 0
) -> dict[str, Any]:
    up = 86_400.0 - down - planned - unknown
    return {
        "cluster": "c", "brokerName": broker, "brokerId": 0, "date": DAY + timedelta(offset),
        "availability": round(100 * up / (up + down), 4) if up + down else None,
        "upSeconds": up, "downSeconds": down, "plannedSeconds": planned, "unknownSeconds": unknown,
    }  # fmt: skip


def draw(*rows: dict[str, Any]) -> str:
    text = "".join(availability_calendar.render_calendar(rows))
    read_html(text)
    return text


def lines(text: str) -> list[str]:
    """The text of each line of brokers."""
    return [re.sub("<[^>]*>", " ", line).strip() for line in re.findall('<tr><th scope="row">.*?</tr>', text)]


def test_brokers_that_were_down_come_first_and_the_others_are_folded() -> None:
    text = draw(day("good"), day("short", 9), day("long", 43_200), day("good", offset=1))
    shown, folded = text.split("<details><summary>1 broker without downtime</summary>")
    assert [line.split()[0] for line in lines(shown)] == ["long:0", "short:0"]
    assert [line.split()[0] for line in lines(folded)] == ["good:0"]
    assert "2 brokers with downtime" in shown


def test_without_downtime_all_brokers_are_to_be_seen() -> None:
    text = draw(day("a"), day("b"))
    assert "<details open><summary>2 brokers without downtime</summary>" in text


def test_the_days_are_above_the_brokers() -> None:
    text = draw(day("a", 9), day("a", offset=1), day("a", offset=2))
    head = text[text.index("<thead>") : text.index("</thead>")]
    assert re.findall('colspan="(\\d)">([^<]*)', head) == [("1", "2025-01"), ("2", "2025-02")]
    assert re.findall('datetime="([^"]*)">([^<]*)', head)[0] == ("2025-01-31", "31")


@pytest.mark.parametrize(
    ("row", "state", "said"),
    [
        (day("a"), "up", "100 %"),
        # Rounding shows no broker that was down for a moment as one that never was.
        (day("a", 0.01), "up", "99.99 % , down less than 1 s"),
        (day("a", 400), "partly", "99.54 % , down 6 min 40 s"),
        (day("a", 43_200), "down", "50 % , down 12 h"),
        (day("a", 0, 0, 3_600, 7_200), "up", "100 % , drained 1 h, no data for 2 h"),
        (day("a", unknown=86_400), "unknown", "– , no data for 1 d"),
        (day("a", planned=86_400), "planned", "– , drained 1 d"),
    ],
)
def test_a_cell_says_its_figure_and_why(row: dict[str, Any], state: str, said: str) -> None:
    text = draw(row)
    assert f'<td class="{state}"' in text
    assert lines(text) == [f"a:0  {said}"]


def test_the_drained_and_the_unknown_part_of_a_day_are_as_wide_as_their_share() -> None:
    text = draw(day("a", 0, 0, 8_640, 4_320))
    assert 'style="--planned-part:10.00%;--unknown-part:5.00%"' in text
    assert "drained</li>" in text
    assert "less than 99 %" not in text


def test_a_calendar_of_many_days_has_the_last_ones_and_figures_for_readers_of_cells() -> None:
    text = draw(*(day("a", 1, offset) for offset in range(availability_calendar.MAX_DAYS + 1)), day("b"))
    assert f'datetime="{DAY}"' not in text
    assert text.count("<time") == availability_calendar.MAX_DAYS
    assert "<span>99.99 %, down 1 s</span>" in text
    assert ">b:0<" not in text


def test_a_broker_that_was_not_yet_known_has_an_empty_cell() -> None:
    assert lines(draw(day("a", 9), day("b", 1, 1)))[1].startswith("b:0   not known on this day")


def test_brokers_that_do_not_fit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability_calendar, "_MAX_LINES", 1)
    text = draw(day("a", 9), day("b", 99), day("c", 999))
    assert "3 brokers with downtime; 2 more: nsadmin report show broker_availability" in text
    assert [line.split()[0] for line in lines(text)] == ["c:0"]


def test_a_name_cannot_add_elements() -> None:
    assert "&lt;b&gt;\\x1b:0" in draw(day("<b>\x1b"))
