"""Scenarios are read, and what is wrong with one is said in a line for each mistake."""

from pathlib import Path

import pytest

from namesrv_core.lab.scenario import Fault
from namesrv_core.lab.scenario_reader import InvalidScenarioError, load_scenario, parse_scenario
from tests.support.hostile_yaml import HOSTILE_YAML

GOOD = """
about: Something.
seed: 7
start: 2026-01-05T08:00:00Z
duration: 1h
namesrvs: 2
settings: {needWaitForService: true, waitSecondsForService: 9}
fleet:
  {clusters: 1, groups: 2, replicas: 2, topics: 5, actingMaster: true, autoCreateTopics: false, traffic: 0.5}
faults:
  - {at: 1m30s, fault: kill, brokers: "broker-a-0:0", for: 90, times: 2, every: 10m}
  - {at: 5, fault: restart, brokers: [broker-a-1]}
  - {at: 6, fault: skew, namesrvs: ns-1, seconds: -60}
  - {at: 7, fault: configure, brokers: "*", key: brokerPermission, value: 4}
"""


def mistakes(text: str) -> list[str]:
    with pytest.raises(InvalidScenarioError) as caught:
        parse_scenario(text, "x.yaml", "x")
    return str(caught.value).splitlines()


def test_a_scenario_is_read() -> None:
    scenario = parse_scenario(GOOD, "x.yaml", "x")
    assert (scenario.about, scenario.start, scenario.duration) == ("Something.", 1_767_600_000_000, 3600)
    assert (scenario.plan.seed, scenario.plan.groups, scenario.acting, scenario.traffic) == (7, 2, True, 0.5)
    assert (scenario.auto_create, scenario.wait_seconds) == (False, 9)
    kill, restart, skew, configure = scenario.faults
    assert kill == Fault(90, "kill", ("broker-a-0:0",), lasts=90, times=2, every=600)
    assert restart.lasts == 10
    assert (skew.brokers, skew.namesrvs) == ((), ("ns-1",))
    assert (configure.key, configure.value) == ("brokerPermission", "4")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: [", "invalid YAML, line 1"),
        ("[]", "the file must be a map of about, seed, start, duration, namesrvs, fleet, faults, settings"),
        ("sed: 1",
         "sed is unknown: use one of about, duration, faults, fleet, namesrvs, seed, settings, start"),
        ("duration: 5 minutes", "duration must be seconds or a time such as 90s, 5m, 1h30m"),
        ("duration: ''", "duration must be seconds or a time such as 90s, 5m, 1h30m"),
        ("start: noon", "start must be a time such as 2026-01-05T08:00:00Z"),
        ("namesrvs: 10", "namesrvs must be a whole number in 1..9"),
        ("fleet: {actingMaster: 1}", "fleet.actingMaster must be true or false"),
        ("fleet: {traffic: much}", "fleet.traffic must be a number"),
        ("about: 1", "about must be a text"),
        ("settings: {listenPort: 1}",
         "settings.listenPort is unknown: use one of needWaitForService, orderMessageEnable, wait"),
        ("settings: {needWaitForService: 1}", "settings.needWaitForService must be true or false"),
        ("faults: {}", "faults must be a list"),
        ("faults: [5]", "faults[0] must be a map of at, fault, brokers"),
        ("faults: [{at: 1}]", "faults[0].fault is missing: use one of stop, kill"),
        ("faults: [{at: 1, fault: explode}]", "faults[0].fault must be one of stop, kill"),
        ("faults: [{fault: kill, brokers: '*'}]", "faults[0].at is missing: kill requires it"),
        ("faults: [{at: 1, fault: freeze, brokers: '*'}]", "faults[0].for is missing: freeze requires it"),
        ("faults: [{at: 1, fault: kill, brokers: '*', delay: 1}]",
         "faults[0].delay is unknown: use one of address, at"),
        ("faults: [{at: 1, fault: kill, brokers: []}]", "faults[0].brokers must be a name or a list"),
        ("faults: [{at: 1, fault: kill, brokers: '*', for: 0}]", "faults[0].for must be greater than 0"),
        ("faults: [{at: 1, fault: kill, brokers: '*', times: 3}]", "faults[0].every is missing: times"),
        ("faults: [{at: 1, fault: skew, seconds: 1}]", "faults[0].brokers is missing: skew requires"),
        ("faults: [{at: 1, fault: kill, brokers: nobody}]",
         'faults[0].brokers has a pattern without a match, "nobody": use one of broker-a-0:0'),
        ("faults: [{at: 11m, fault: kill, brokers: '*'}]", "faults[0].at is after the end of the scenario"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(text: str, line: str) -> None:
    message = mistakes(text)
    assert len(message) == 1
    assert message[0].startswith(f"x.yaml: {line}")


def test_all_mistakes_are_found_at_once() -> None:
    assert len(mistakes("sed: 1\nduration: x\nfaults: [{at: 1, fault: slow, brokers: '*'}]")) == 5


def test_a_file_or_a_name(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(GOOD)
    assert load_scenario(str(tmp_path / "mine.yaml")).name == "mine"
    assert load_scenario("split-brain").name == "split-brain"
    with pytest.raises(
        InvalidScenarioError, match='unknown scenario "nothing": use a YAML file or one of acting-master'
    ):
        load_scenario("nothing")
    with pytest.raises(InvalidScenarioError, match="is a folder: name a file in it"):
        load_scenario(str(tmp_path))


@pytest.mark.parametrize("name", HOSTILE_YAML)
def test_hostile_yaml_is_no_scenario(name: str) -> None:
    with pytest.raises(InvalidScenarioError, match="invalid YAML"):
        parse_scenario(HOSTILE_YAML[name], "f", "f")
