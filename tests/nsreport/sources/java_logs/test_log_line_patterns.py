"""The table of rules holds together."""

import re

import pytest

from namesrv_core.events import EVENT_TYPES_BY_NAME
from nsreport.sources.java_logs import log_line_patterns, message_splitter
from nsreport.sources.java_logs.broker_identity import IDENTIFYING_RULES
from nsreport.sources.java_logs.events import EVENTS_BY_RULE
from tests.support.bounded_process import run_bounded
from tests.support.regex_growth import find_slow_parts


def test_every_pattern_is_one_and_its_groups_have_names() -> None:
    for rule in log_line_patterns.LOG_RULES:
        compiled = re.compile(rule.rest_pattern.replace("(?<", "(?P<"))
        assert compiled.groups == len(log_line_patterns.group_names(rule))


@pytest.mark.parametrize("rule", log_line_patterns.LOG_RULES, ids=lambda rule: rule.rule_name)
def test_a_rule_takes_linear_time(rule: log_line_patterns.LogRule) -> None:
    assert (
        find_slow_parts(f"^{re.escape(rule.message_start)}(?:{rule.rest_pattern})$", is_searched=True) == []
    )


@pytest.mark.parametrize("measure", log_line_patterns.LOG_MEASURES, ids=lambda measure: measure.pairs_pattern)
def test_a_measure_takes_linear_time(measure: log_line_patterns.LogMeasure) -> None:
    for pattern in (measure.pairs_pattern, measure.name_pattern):
        assert find_slow_parts(pattern, is_searched=True) == []


def test_heads_and_statistics_take_linear_time() -> None:
    for pattern in (log_line_patterns.STATISTIC_PATTERN, message_splitter._HEAD_PATTERN):
        assert find_slow_parts(pattern.removeprefix("(?s)"), is_searched=True) == []


def test_hostile_lines_are_read_to_their_end() -> None:
    """The separators of each rule, again and again: with nested searches this would take days."""
    run_bounded(_MATCH_HOSTILE_LINES)


_MATCH_HOSTILE_LINES = """
import re
from nsreport.sources.java_logs import log_line_patterns
for rule in log_line_patterns.LOG_RULES:
    pattern = re.sub(r"[(][?]<(\\w)", r"(?P<\\1", rule.rest_pattern)
    # What is left of a pattern without its lookaheads, groups and repetitions are its separators.
    separators = re.sub(r"[(][?]![^)]*[)]|[(][?]P<[a-zA-Z0-9]+>|[(][?]:|[)*+?]", "", pattern)
    separators = re.sub(r"\\\\d", "1", separators).replace("\\\\S", "x").replace("\\\\", "")
    ends = [separators[:end] for end in range(0, len(separators), 8)]
    for repeated in (separators, *ends, "a", "1", " ", "] "):
        re.match(f"(?s)^(?:{pattern})$", repeated * (12_000 // max(len(repeated), 1)) + "!")
"""


def test_no_rule_hides_behind_an_earlier_one() -> None:
    for at, rule in enumerate(log_line_patterns.LOG_RULES):
        for earlier in log_line_patterns.LOG_RULES[:at]:
            assert not (
                rule.message_start.startswith(earlier.message_start)
                and rule.file_kind.startswith(earlier.file_kind)
            ), rule


def test_tables_about_rules_know_them() -> None:
    names = {rule.rule_name for rule in log_line_patterns.LOG_RULES}
    assert set(log_line_patterns.FACT_KINDS) | set(EVENTS_BY_RULE) | set(IDENTIFYING_RULES) == names


def test_events_are_those_of_journals() -> None:
    assert {kind for kinds in EVENTS_BY_RULE.values() for kind, _ in kinds} <= set(EVENT_TYPES_BY_NAME)


def test_places_of_a_field_are_one_field() -> None:
    assert log_line_patterns.GROUPS_BY_FIELD["addr"] == ["addr", "addr2"]
