"""The table of rules holds together."""

import re

from namesrv_core.history.records import KINDS
from nsreport.java_logs import rules
from nsreport.java_logs.events import TYPES
from nsreport.java_logs.identity import ABOUT


def test_every_pattern_is_one_and_its_groups_have_names() -> None:
    for rule in rules.RULES:
        compiled = re.compile(rule.rest.replace("(?<", "(?P<"))
        assert compiled.groups == len(rules.names(rule))


def test_no_rule_hides_behind_an_earlier_one() -> None:
    for at, rule in enumerate(rules.RULES):
        for earlier in rules.RULES[:at]:
            assert not (rule.starts.startswith(earlier.starts) and rule.of.startswith(earlier.of)), rule


def test_tables_about_rules_know_them() -> None:
    names = {rule.name for rule in rules.RULES}
    assert set(rules.FACTS) | set(TYPES) | set(ABOUT) == names


def test_events_are_those_of_journals() -> None:
    assert {kind for kinds in TYPES.values() for kind, _ in kinds} <= set(KINDS)


def test_places_of_a_field_are_one_field() -> None:
    assert rules.PLACES["addr"] == ["addr", "addr2"]
