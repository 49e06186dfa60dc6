"""Alert rules and dashboard: whatever they name is exported by a running name server, with those labels."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from namesrv_core.fleet.fleet import BrokerFleet, FleetPlan
from namesrv_core.state.tls_settings import TlsSettings
from tests.support.certificates import Authority
from tests.support.http import fetch_page
from tests.support.metric_samples import parse_families
from tests.support.name_servers import run_on_loop, start_name_server

ROOT = Path(__file__).parents[1]
ALERTS = ROOT / "docs" / "monitoring" / "alerts.yml"
DASHBOARD = ROOT / "docs" / "monitoring" / "dashboard.json"
ALERT_TESTS = ROOT / "tests" / "golden" / "alerts.test.yml"

NAME = re.compile(r"\b((?:nsadmin_namesrv|process)_\w+)(?:\{([^}]*)\})?")
LABEL = re.compile(r'(\w+)(=~|!=|=)"([^"]*)"')
GROUPED = re.compile(r"by \(([^)]*)\)")
# Labels that Prometheus itself adds.
ADDED = {"job", "instance"}

Exported = dict[str, list[dict[str, str]]]


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    alert_rules: list[dict[str, Any]] = group["rules"]
    return alert_rules


def panels() -> list[dict[str, Any]]:
    dashboard_panels: list[dict[str, Any]] = json.loads(DASHBOARD.read_text())["panels"]
    return dashboard_panels


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in rules())
    yield from (target["expr"] for panel in panels() for target in panel.get("targets", ()))
    for variable in json.loads(DASHBOARD.read_text())["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["query"]["query"]


@pytest.fixture(scope="module")
def exported_families(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """The labels of each series of a server with a journal and a fleet."""
    exported_metrics: Exported = {}
    home = tmp_path_factory.mktemp("home")
    pair = Authority(home / "ca").issue("here")
    tls = TlsSettings("permissive", str(pair.cert), str(pair.key))

    @run_on_loop
    async def scrape() -> None:
        async with start_name_server(home, journalDir=str(home / "j"), httpAddress="0", tls=tls) as server:
            fleet = BrokerFleet(FleetPlan(topics=5), [server.namesrv_addr])
            try:
                await fleet.start()
                text = (await fetch_page(server.state.actual_settings["httpAddress"], "/metrics")).text
            finally:
                fleet.die_abruptly()
        for family in parse_families(text).values():
            for sample in family.samples:
                exported_metrics.setdefault(sample.name, []).append(dict(sample.labels))

    scrape()
    return exported_metrics


def test_there_is_something_to_look_at() -> None:
    assert len(rules()) > 15
    assert len(list(expressions())) > 40


@pytest.mark.parametrize("expression", sorted(set(expressions())))
def test_what_is_named_is_exported_with_those_labels(expression: str, exported_families: Exported) -> None:
    names = NAME.findall(expression)
    assert names or expression.startswith("up{")
    known = set(ADDED)
    for name, selector in names:
        assert name in exported_families, name
        labels = {label for series in exported_families[name] for label in series}
        known |= labels
        for label, operator, value in LABEL.findall(selector):
            assert label in labels | ADDED, f"{name} has no label {label}"
            if label in ADDED or value.startswith("$"):
                continue
            values = {series[label] for series in exported_families[name]}
            wanted = set(value.split("|")) if operator == "=~" else {value}
            # A code of an answer is there once it was given.
            assert wanted <= values or label == "code", f"{name} never has {label}={value}"
    for group in GROUPED.findall(expression):
        assert {label.strip() for label in group.split(",")} <= known, expression


def test_each_alert_says_what_it_means_and_is_in_the_documentation() -> None:
    text = (ROOT / "docs" / "how-to" / "monitor.md").read_text()
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names)
    for rule in rules():
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert set(rule["annotations"]) == {"summary", "description"}
    assert set(re.findall(r"^\| `([A-Z]\w+)` \|", text, re.M)) == set(names)


def test_the_dashboard_is_one_that_can_be_imported() -> None:
    board = json.loads(DASHBOARD.read_text())
    assert board["uid"] == "nsadmin-namesrv"
    assert {variable["name"] for variable in board["templating"]["list"]} == {"datasource", "job", "instance"}
    ids = [panel["id"] for panel in panels()]
    assert len(set(ids)) == len(ids)
    places = [panel["gridPos"] for panel in panels()]
    cells = [
        (x, y)
        for place in places
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(cells)) == len(cells), "panels lie one over the other"
    assert max(x for x, _ in cells) == 23
    for panel in panels():
        for target in panel.get("targets", ()):
            assert target["datasource"]["uid"] == "${datasource}"


def test_each_alert_is_shown_to_fire_and_not_to_fire() -> None:
    results_by_firing: dict[bool, set[str]] = {True: set(), False: set()}
    for test in yaml.safe_load(ALERT_TESTS.read_text())["tests"]:
        for case in test["alert_rule_test"]:
            results_by_firing[bool(case["exp_alerts"])].add(case["alertname"])
    names = {rule["alert"] for rule in rules()}
    assert results_by_firing[True] == names
    # A certificate that is good for long is there in the same test, on another server.
    assert results_by_firing[False] | {"CertificateExpires"} == names


def promtool() -> str:
    path = shutil.which("promtool")
    if path is None:
        pytest.skip("promtool is not installed")
    return path


def test_promtool_understands_the_rules() -> None:
    ended = subprocess.run(
        [promtool(), "check", "rules", ALERTS], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_alerts_fire_when_they_should(tmp_path: Path) -> None:
    tool = promtool()
    shutil.copy(ALERTS, tmp_path)
    shutil.copy(ALERT_TESTS, tmp_path)
    ended = subprocess.run(
        [tool, "test", "rules", ALERT_TESTS.name], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_promtool_finds_no_fault_with_what_is_exported(tmp_path: Path) -> None:
    tool, texts = promtool(), list[str]()

    @run_on_loop
    async def scrape() -> None:
        async with start_name_server(tmp_path, journalDir=str(tmp_path / "j"), httpAddress="0") as server:
            texts.append((await fetch_page(server.state.actual_settings["httpAddress"], "/metrics")).text)

    scrape()
    ended = subprocess.run(
        [tool, "check", "metrics"], input=texts[0], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


METRICS_PAGE = (ROOT / "docs" / "reference" / "metrics.md").read_text()


def test_every_exported_metric_is_on_the_reference_page(exported_families: Exported) -> None:
    documented = set(re.findall(r"`(nsadmin_namesrv_\w+)", METRICS_PAGE))
    names = {re.sub("_(bucket|sum|count|created)$", "", name) for name in exported_families}
    assert {name for name in names if name.startswith("nsadmin_namesrv_")} - documented == set()


def test_the_reference_page_has_the_labels_of_each_metric(exported_families: Exported) -> None:
    for name, labels in re.findall(r"`(nsadmin_namesrv_\w+)\{([\w,]+)\}`", METRICS_PAGE):
        for series in exported_families.get(name, []):
            assert set(series) == set(labels.split(",")), name
