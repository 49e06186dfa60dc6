"""The four formats; Prometheus' own client reads what is meant for it."""

import json
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from nsadmin.commands.checks.check_formats import (
    REPORT_WRITERS,
    CheckReport,
    format_json,
    format_nagios,
    format_prometheus,
    format_text,
)
from nsadmin.operations.checks.findings import (
    AlertLimits,
    CheckFinding,
    CheckMeasure,
    CheckSample,
    CheckState,
)
from nsadmin.operations.checks.ranges import parse_range

GOLDEN = Path(__file__).parents[3] / "golden" / "output"
LAG = CheckMeasure("lag", "messages that\nare behind", warning="10")
AGE = CheckMeasure("age", "age", "s", label_name="journal")
ODD = "it's | 5=5"
FINDING = CheckFinding(
    "lag",
    CheckState.WARNING,
    "12 messages | behind",
    (
        CheckSample(LAG, 12, None, AlertLimits(parse_range("10"), parse_range("~:20"))),
        CheckSample(AGE, 0.00002, ODD),
        CheckSample(AGE, None),
    ),
    ("queue 1|2", "queue 2"),
    'my "group"\\n',
)
REPORT = CheckReport(FINDING, 1_763_733_780_123, context_name="prod")
WHOLE = CheckReport(
    CheckFinding("all", CheckState.WARNING, "1 of 2 checks is not OK"),
    1_763_733_780_123,
    (FINDING, CheckFinding("brokers", CheckState.OK, "3 of 3 answer")),
)


@pytest.mark.parametrize(
    ("golden", "format_"),
    [("txt", "text"), ("nagios.txt", "nagios"), ("json", "json"), ("prom", "prometheus")],
)
def test_each_format_byte_for_byte(golden: str, format_: str) -> None:
    for name, report in (("check", REPORT), ("checks", WHOLE)):
        assert REPORT_WRITERS[format_](report) == (GOLDEN / f"{name}.{golden}").read_text()


def test_cron_gets_one_line_and_only_if_something_is_wrong() -> None:
    assert REPORT_WRITERS["cron"](WHOLE) == "WARNING: 1 of 2 checks is not OK"
    assert REPORT_WRITERS["cron"](CheckReport(FINDING._replace(state=CheckState.OK), 0)) == ""


def test_a_long_time_is_a_duration_if_no_limit_in_seconds_is_beside_it() -> None:
    limits = AlertLimits(parse_range("10"))
    samples = (CheckSample(AGE, 338_994, "a"), CheckSample(AGE, 338_994, "b", limits))
    first, second = format_text(CheckReport(FINDING._replace(samples=samples), 0)).splitlines()[-2:]
    assert first.split("  ")[1:] == ["age a", "3 d 22 h"]
    assert "338994 s" in second
    assert "338994s" in format_nagios(CheckReport(FINDING._replace(samples=samples), 0))


def test_text_is_a_line_and_then_the_rest() -> None:
    assert format_text(REPORT) == (
        "WARNING: 12 messages | behind\n"
        "  queue 1|2\n"
        "  queue 2\n"
        "  lag             12          warning above 10, critical above 20\n"
        "  age it's | 5=5  0.00002 s\n"
        "  age             unknown"
    )


@pytest.mark.parametrize(
    ("range_text", "words"),
    [
        ("1:", "below 1"),
        ("5:10", "outside 5 to 10"),
        ("@5:10", "inside 5 to 10"),
        ("@5:", "from 5 on"),
        ("@~:5", "up to 5"),
    ],
)
def test_a_limit_is_in_words_where_people_read_it(range_text: str, words: str) -> None:
    sample = CheckSample(LAG, 12, limits=AlertLimits(parse_range(range_text), None))
    finding = REPORT.overall_finding._replace(samples=(sample,))
    assert format_text(REPORT._replace(overall_finding=finding)).endswith(f"warning {words}")


def test_text_of_many_checks_tells_each_and_details_of_those_that_are_not_ok() -> None:
    assert format_text(WHOLE) == (
        "WARNING: 1 of 2 checks is not OK\n"
        '  WARNING   lag my "group"\\n  12 messages | behind\n'
        "    queue 1|2\n"
        "    queue 2\n"
        "    next: nsadmin group explain 'my \"group\"\\n'\n"
        "  OK        brokers           3 of 3 answer"
    )


def test_the_next_command_stands_as_it_is_typed() -> None:
    [part, *_] = WHOLE.part_findings
    report = WHOLE._replace(part_findings=[part._replace(remedies=("`nsadmin broker explain b`",))])
    assert format_text(report).endswith("\n    next: nsadmin broker explain b")


def test_a_plugin_has_one_bar_and_performance_data_behind_it() -> None:
    first, *rest = format_nagios(REPORT).split("\n")
    assert first == ("LAG WARNING - 12 messages / behind | lag=12;10;~:20 age=U 'age it''s _ 5_5'=0.00002s")
    assert rest == ["queue 1/2", "queue 2"]
    first, *rest = format_nagios(WHOLE).split("\n")
    assert first.startswith("ALL WARNING - 1 of 2 checks is not OK | 'lag my ")
    assert rest[0] == 'lag my "group"\\n WARNING: 12 messages / behind'


def test_a_plugin_says_no_more_than_is_read() -> None:
    samples = tuple(CheckSample(AGE, 1, f"10.0.{n // 256}.{n % 256}:10911") for n in range(1000))
    details = tuple(f"line {n}" for n in range(100))
    finding = CheckFinding("x", CheckState.OK, "s", (*samples, CheckSample(LAG, 5)), details)
    first, *rest = format_nagios(CheckReport(finding, 0)).split("\n")
    assert len(first.encode()) < 4100
    assert first.startswith("X OK - s | lag=5 'age 10.0.0.0:10911'=1s")
    assert len(rest) == 21
    assert rest[-1] == "and 80 more"


def test_json_has_everything() -> None:
    report: dict[str, Any] = json.loads(format_json(REPORT))
    assert (report["state"], report["exitCode"], report["time"]) == ("WARNING", 1, "2025-11-21T14:03:00.123Z")
    assert report["values"][0] == {
        "name": "lag",
        "of": None,
        "value": 12,
        "unit": "",
        "warning": "10",
        "critical": "~:20",
        "state": "WARNING",
    }
    assert "checks" not in report
    assert [check["check"] for check in json.loads(format_json(WHOLE))["checks"]] == ["lag", "brokers"]


def test_prometheus_reads_it() -> None:
    families = {family.name: family for family in text_string_to_metric_families(format_prometheus(REPORT))}
    assert {family.type for family in families.values()} == {"gauge"}
    about = {"group": 'my "group"\\n', "context": "prod"}
    [state] = families["nsadmin_check_state"].samples
    assert (state.labels, state.value) == ({"check": "lag", **about}, 1)
    [lag] = families["nsadmin_check_lag_lag"].samples
    assert (lag.labels, lag.value) == (about, 12)
    [age] = families["nsadmin_check_lag_age_seconds"].samples
    assert (age.labels, age.value) == ({"journal": ODD, **about}, 0.00002)
    [time] = families["nsadmin_check_time_seconds"].samples
    assert time.value == 1_763_733_780.123


def test_prometheus_wants_each_name_once_whatever_there_are_for_checks() -> None:
    text = format_prometheus(WHOLE)
    heads = [line for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(heads) == len(set(heads))
    [state] = [
        family for family in text_string_to_metric_families(text) if family.name == "nsadmin_check_state"
    ]
    assert [sample.labels["check"] for sample in state.samples] == ["all", "lag", "brokers"]
    assert "\nnsadmin_check_lag_lag{" in text


def test_what_servers_say_cannot_forge_a_line() -> None:
    forged = CheckFinding(
        "topic", CheckState.CRITICAL, "a\x1b[2Kb", (CheckSample(AGE, 1, "x\ny"),), ("c\u202ed\ne",), "t"
    )
    report = CheckReport(forged, 0)
    assert format_text(report).splitlines() == ["CRITICAL: a\\x1b[2Kb", "  c\\u202ed\\ne", "  age x\\ny  1 s"]
    assert format_nagios(report).splitlines() == [
        "TOPIC CRITICAL - a\\x1b[2Kb | 'age x\\ny'=1s",
        "c\\u202ed e",
    ]
    assert len(format_prometheus(report).splitlines()) == 9
    odd = CheckReport(forged._replace(about='\udc80\x1b\r\n\u202e"'), 0)
    assert 'topic="\\\\udc80\\\\x1b\\\\r\\\\n\\\\u202e\\""' in format_prometheus(odd)
