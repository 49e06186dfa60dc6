"""The table of rules holds together."""

import re

from namesrv_core.history.records import EVENT_TYPES_BY_NAME
from nsreport.sources.java_logs import rules
from nsreport.sources.java_logs.broker_identity import IDENTIFYING_RULES
from nsreport.sources.java_logs.events import EVENTS_BY_RULE


def test_every_pattern_is_one_and_its_groups_have_names() -> None:
    for rule in rules.LOG_RULES:
        compiled = re.compile(rule.rest_pattern.replace("(?<", "(?P<"))
        assert compiled.groups == len(rules.group_names(rule))


def test_no_rule_hides_behind_an_earlier_one() -> None:
    for at, rule in enumerate(rules.LOG_RULES):
        for earlier in rules.LOG_RULES[:at]:
            assert not (
                rule.message_start.startswith(earlier.message_start)
                and rule.file_kind.startswith(earlier.file_kind)
            ), rule


def test_tables_about_rules_know_them() -> None:
    names = {rule.rule_name for rule in rules.LOG_RULES}
    assert set(rules.FACT_KINDS) | set(EVENTS_BY_RULE) | set(IDENTIFYING_RULES) == names


def test_events_are_those_of_journals() -> None:
    assert {kind for kinds in EVENTS_BY_RULE.values() for kind, _ in kinds} <= set(EVENT_TYPES_BY_NAME)


def test_places_of_a_field_are_one_field() -> None:
    assert rules.GROUPS_BY_FIELD["addr"] == ["addr", "addr2"]
