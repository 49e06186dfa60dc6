"""The proof: the journals of each built-in scenario have the truth, and nothing that it does not explain."""

from pathlib import Path

import pytest

from namesrv_core.lab import virtual_time
from namesrv_core.lab.faults import ACTIONS_BY_FAULT
from namesrv_core.lab.scenario import FAULT_KINDS, Scenario
from namesrv_core.lab.scenario_player import judge_run, play_scenario
from namesrv_core.lab.scenario_reader import load_built_in_scenarios
from namesrv_core.lab.truth_log import Deed
from namesrv_core.lab.verdict import ExpectationFinding, RunVerdict

SHOWN = {
    "acting-master": {"BrokerUnregistered", "HeartbeatGap", "MinBrokerIdChanged", "TopicsChanged"},
    "address-conflict": {"AddressConflict"},
    "drift": {
        "BrokerRegistered",
        "BrokerUnregistered",
        "KvPut",
        "TopicsChanged",
        "WritePermAdded",
        "WritePermWiped",
    },
    "flapping-broker": {"BrokerRegistered", "BrokerUnregistered", "HeartbeatGap"},
    "name-server-pause": {"ServerPaused", "ServerStarted", "ServerReady", "BrokerRegistered"},
    "name-server-waits": {"ServerStarted", "ServerReady", "BrokerRegistered"},
    "no-route": {
        "BrokerRegistered",
        "BrokerUnregistered",
        "TopicDeleted",
        "TopicsChanged",
        "WritePermAdded",
        "WritePermWiped",
    },
    "quiet-day": set(),
    "reconnect-storm": {"BrokerRegistered", "BrokerUnregistered", "ServerStarted"},
    "rolling-restart": {"BrokerRegistered", "BrokerUnregistered", "ServerStarted", "ServerStopping"},
    "split-brain": {"BrokerRegistered", "BrokerUnregistered", "HeartbeatGap"},
    "topic-explosion": {"TopicsChanged", "TopicDeleted"},
    "undone-wipe": {"BrokerChanged", "TopicsChanged", "WritePermAdded", "WritePermWiped"},
}
"""What has to be concluded in each, beside its times and causes."""


def played(scenario: Scenario, folder: Path) -> tuple[list[Deed], RunVerdict]:
    deeds = virtual_time.run_virtual(play_scenario(scenario, folder))
    return deeds, judge_run(scenario, folder, deeds)


def told(finding: ExpectationFinding) -> str:
    place = f"{finding.broker_id_text} on {finding.server_name} within {finding.expected.within_seconds} s"
    return f"{finding.deed.after_seconds} {finding.deed.fault}: {finding.expected.types} {place}"


def test_every_kind_of_fault_can_be_done() -> None:
    assert ACTIONS_BY_FAULT.keys() == FAULT_KINDS.keys()


def test_there_is_a_proof_for_each_scenario() -> None:
    assert load_built_in_scenarios().keys() == SHOWN.keys()


@pytest.mark.parametrize("name", SHOWN)
def test_the_journals_have_the_truth(name: str, tmp_path: Path) -> None:
    scenario = load_built_in_scenarios()[name]
    if name == "quiet-day":
        scenario = scenario._replace(duration=3 * 3600)
    _, verdict = played(scenario, tmp_path)
    assert [told(finding) for finding in verdict.missed_findings] == []
    assert [(server, record.event_type, record.event_fields) for server, record in verdict.unexplained] == []
    sure = [finding for finding in verdict.findings if finding.expected.is_sure]
    assert SHOWN[name] <= {kind for finding in sure for kind in finding.expected.types}


def test_a_seed_gives_the_same_story_each_time(tmp_path: Path) -> None:
    scenario = load_built_in_scenarios()["flapping-broker"]._replace(start=1_767_600_000_000, duration=420)
    runs = [played(scenario, tmp_path / name) for name in ("one", "two")]
    stories = [
        [(finding.deed.time_ms, finding.expected.types, finding.server_name, finding.broker_id_text,
        finding.after_seconds)
         for finding in verdict.findings]
        for _, verdict in runs
    ]  # fmt: skip
    assert stories[0] == stories[1]
    assert [deed[:5] for deed in runs[0][0]] == [deed[:5] for deed in runs[1][0]]
