"""Alert rules of the exporter: metrics and labels that there are, and what Prometheus says of them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from nsadmin.manual.exporter_alerts import ALERT_RULES, render_alert_rules
from nsadmin.operations.exporter.metric_registry import METRICS_BY_NAME
from tests.support.name_servers import ROOT

ALERTS = ROOT / "docs" / "monitoring" / "exporter-alerts.yml"
ALERT_TESTS = ROOT / "tests" / "golden" / "exporter-alerts.test.yml"
ADDED = {"context", "job", "instance"}


def test_the_file_is_yaml_with_all_rules() -> None:
    [group] = yaml.safe_load(render_alert_rules())["groups"]
    assert [rule["alert"] for rule in group["rules"]] == [rule.name for rule in ALERT_RULES]
    for rule in group["rules"]:
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert set(rule["annotations"]) == {"summary", "description"}


def test_rules_name_labels_that_their_metrics_have() -> None:
    for rule in ALERT_RULES:
        labels = ADDED.union(
            *(METRICS_BY_NAME[name].labels for name in re.findall(r"nsadmin_\w+", rule.expression))
        )
        named = set(re.findall(r"\$labels\.(\w+)", rule.summary + rule.action))
        grouped = {
            label for group in re.findall(r"by \(([^)]*)\)", rule.expression) for label in group.split(", ")
        }
        matched = set(re.findall(r'(\w+)="', rule.expression))
        assert named | grouped | matched <= labels, rule.name
        assert not grouped or named <= grouped, rule.name


def test_each_alert_is_shown_to_fire_and_not_to_fire() -> None:
    results_by_firing: dict[bool, set[str]] = {True: set(), False: set()}
    for test in yaml.safe_load(ALERT_TESTS.read_text())["tests"]:
        for case in test["alert_rule_test"]:
            results_by_firing[bool(case["exp_alerts"])].add(case["alertname"])
    assert results_by_firing[True] == results_by_firing[False] == {rule.name for rule in ALERT_RULES}


def promtool(*words: object, folder: Path = ROOT) -> None:
    path = shutil.which("promtool")
    if path is None:
        pytest.skip("promtool is not installed")
    ended = subprocess.run([path, *map(str, words)], cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_promtool_understands_the_rules() -> None:
    promtool("check", "rules", ALERTS)


def test_alerts_fire_when_they_should(tmp_path: Path) -> None:
    shutil.copy(ALERTS, tmp_path)
    shutil.copy(ALERT_TESTS, tmp_path)
    promtool("test", "rules", ALERT_TESTS.name, folder=tmp_path)
