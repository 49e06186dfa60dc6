"""Moments, however they are written."""

import time
from collections.abc import Iterator

import pytest

from nsadmin.command_line.time_arguments import parse_past_time, parse_time_option, parse_window
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.typed_times import parse_time_ms

NOW = 1795231107422
"""2026-11-21T03:18:27.422Z"""


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        (None, 7),
        ("0", 0),
        ("1795231107422", 1795231107422),
        ("2026-11-21T03:18:27.422Z", 1795231107422),
        ("2026-11-21T04:18:27+01:00", 1795231107000),
        ("2026-11-21 03:18Z", 1795231080000),
        ("now", NOW),
        ("-0s", NOW),
        ("-90s", NOW - 90_000),
        ("-15m", NOW - 900_000),
        (" -2h ", NOW - 7_200_000),
        ("-1d", NOW - 86_400_000),
        ("5m", NOW - 300_000),
        ("-2w", NOW - 14 * 86_400_000),
    ],
)
def test_what_a_text_means(text: str | None, milliseconds: int) -> None:
    assert parse_time_option("-b", text, 7, NOW) == milliseconds


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("14:03", "2026-11-21T14:03:00+01:00"),
        ("4:03", "2026-11-21T04:03:00+01:00"),
        ("14:03:59.5", "2026-11-21T14:03:59.5+01:00"),
        ("today 00:00", "2026-11-21T00:00:00+01:00"),
        ("today", "2026-11-21T00:00:00+01:00"),
        ("yesterday", "2026-11-20T00:00:00+01:00"),
        ("yesterday 14:03", "2026-11-20T14:03:00+01:00"),
        ("yesterday  23:59:59", "2026-11-20T23:59:59+01:00"),
        ("2026-07-01 14:03", "2026-07-01T14:03:00+02:00"),
    ],
)
def test_what_names_no_zone_is_meant_in_this_machines(text: str, same: str, in_berlin: None) -> None:
    assert parse_time_ms(text, NOW) == parse_time_ms(same, 0)


def test_yesterday_is_the_day_before_also_where_a_day_had_25_hours(in_berlin: None) -> None:
    sunday_noon = parse_time_ms("2026-10-25T12:00:00+01:00", 0)
    assert parse_time_ms("yesterday 12:00", sunday_noon) == sunday_noon - 25 * 3_600_000


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("14:03", ': use -s "yesterday 14:03"; or'),
        (" today 14:03:59.5", ': use -s "yesterday 14:03:59.5"; or'),
        ("2026-11-22", "; or"),
    ],
)
def test_a_time_of_today_in_the_future_may_mean_yesterday(text: str, advice: str, in_berlin: None) -> None:
    with pytest.raises(UsageError) as caught:
        parse_past_time("-s", text, NOW, other_advice="; or")
    now = "2026-11-21T03:18:27.422Z"
    assert str(caught.value) == f'invalid time "{text}" for -s: it is in the future, now is {now}{advice}'


def test_mqadmins_way_is_understood() -> None:
    assert parse_time_option("-b", "2026-11-21#03:18:27:422", 0) == parse_time_option(
        "-b", "2026-11-21T03:18:27.422", 0
    )


def test_now_is_the_clocks() -> None:
    assert parse_time_option("-b", "now", 0) > 1_700_000_000_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday14:03",
        "-5",
        "9" * 20,
        "2026-13-01",
        "25:00",
        "14:60",
        "-2y",
        "h",
        "-9999999h",
        "tomorrow 14:03",
    ],
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_time_option("-b", text, 0)
    assert (
        str(caught.value) == f'invalid time "{text}" for -b: use 1h, 14:03, yesterday, or 2026-11-23T14:03Z'
    )


def test_a_span_begins_before_it_ends() -> None:
    assert parse_window(None, None)[0] == 0
    begin, end = parse_window("2h", "1h")
    assert end - begin == 3_600_000
    for since, until in (("1h", "2h"), ("2025-02-02", "2025-02-01")):
        with pytest.raises(UsageError, match=r"^--from .* is after --until .*: swap them$"):
            parse_window(since, until)
