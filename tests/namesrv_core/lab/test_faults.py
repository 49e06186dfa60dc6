"""The proof: the journals of each built-in scenario have the truth, and nothing that it does not explain."""

from pathlib import Path

import pytest

from namesrv_core.lab import virtual
from namesrv_core.lab.faults import FAULTS
from namesrv_core.lab.play import play, verdict
from namesrv_core.lab.reading import built_in
from namesrv_core.lab.scenario import KINDS, Scenario
from namesrv_core.lab.truth import Deed
from namesrv_core.lab.verdict import Finding, Verdict

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


def played(scenario: Scenario, folder: Path) -> tuple[list[Deed], Verdict]:
    deeds = virtual.run(play(scenario, folder))
    return deeds, verdict(scenario, folder, deeds)


def told(finding: Finding) -> str:
    place = f"{finding.broker} on {finding.server} within {finding.expected.within} s"
    return f"{finding.deed.at} {finding.deed.fault}: {finding.expected.types} {place}"


def test_every_kind_of_fault_can_be_done() -> None:
    assert FAULTS.keys() == KINDS.keys()


def test_there_is_a_proof_for_each_scenario() -> None:
    assert built_in().keys() == SHOWN.keys()


@pytest.mark.parametrize("name", SHOWN)
def test_the_journals_have_the_truth(name: str, tmp_path: Path) -> None:
    scenario = built_in()[name]
    if name == "quiet-day":
        scenario = scenario._replace(duration=3 * 3600)
    _, found = played(scenario, tmp_path)
    assert [told(finding) for finding in found.missed] == []
    assert [(server, record.type, record.fields) for server, record in found.unexplained] == []
    sure = [finding for finding in found.findings if finding.expected.sure]
    assert SHOWN[name] <= {kind for finding in sure for kind in finding.expected.types}


def test_a_seed_gives_the_same_story_each_time(tmp_path: Path) -> None:
    scenario = built_in()["flapping-broker"]._replace(start=1_767_600_000_000, duration=420)
    runs = [played(scenario, tmp_path / name) for name in ("one", "two")]
    stories = [
        [(finding.deed.time, finding.expected.types, finding.server, finding.broker, finding.after)
         for finding in found.findings]
        for _, found in runs
    ]  # fmt: skip
    assert stories[0] == stories[1]
    assert [deed[:5] for deed in runs[0][0]] == [deed[:5] for deed in runs[1][0]]
