"""The proof: the journals of each built-in scenario have the truth, and nothing that it does not explain."""

from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.lab import virtual_time
from namesrv_core.lab.faults import ACTIONS_BY_FAULT
from namesrv_core.lab.scenario import FAULT_KINDS, Fault, Scenario
from namesrv_core.lab.scenario_player import judge_run, play_scenario
from namesrv_core.lab.scenario_reader import load_built_in_scenarios
from namesrv_core.lab.truth_log import Deed
from namesrv_core.lab.verdict import ExpectationFinding, RunVerdict
from namesrv_core.storage.journal import reader

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


# Lists and settings that are wrong, and a topic that name servers are told to forget.

PLAN = FleetPlan(1, 2, 2, 4)
EVERYBODY = {"broker-a-0", "broker-a-1"}


def events(folder: Path, server: str, type_: str, *faults: Fault) -> list[tuple[float, dict[str, object]]]:
    """Seconds and fields of what happened on a server; the journals have the truth, and nothing else."""
    start = 1_767_600_000_000
    scenario = Scenario("x", plan=PLAN, namesrvs=2, start=start, duration=150, faults=faults)
    _, verdict = played(scenario, folder)
    assert (verdict.missed_findings, verdict.unexplained) == ([], [])
    return [
        ((record.time_ms - start) / 1000, dict(record.event_fields))
        for record in reader.read_records(folder / server / "journal")
        if record.event_type == type_ and start + 1000 < record.time_ms < start + 149_000
    ]


def test_a_name_server_that_is_no_longer_in_the_list_is_left_for_good(tmp_path: Path) -> None:
    relist = Fault(20, "relist", ("broker-a-0",), ("ns-1",))
    gone = events(tmp_path / "a", "ns-2", "BrokerUnregistered", relist)
    assert [(at, fields["brokerName"], fields["brokerId"]) for at, fields in gone] == [
        (20, "broker-a-0", 0), (20, "broker-a-0", 1),
    ]  # fmt: skip
    assert events(tmp_path / "b", "ns-2", "BrokerRegistered", relist) == []
    assert len(events(tmp_path / "c", "ns-1", "BrokerRegistered", relist)) == 2
    again = Fault(60, "relist", ("broker-a-0",))
    assert [at for at, _ in events(tmp_path / "d", "ns-2", "BrokerRegistered", relist, again)] == [60, 60]


def test_a_permission_of_brokers_is_registered_at_once(tmp_path: Path) -> None:
    closed = Fault(20, "configure", ("*",), key="brokerPermission", value="4")
    changed = events(tmp_path, "ns-2", "TopicsChanged", closed)
    assert {(at, fields["brokerName"]) for at, fields in changed} == {(20, name) for name in EVERYBODY}


def test_other_settings_change_nothing_that_name_servers_know(tmp_path: Path) -> None:
    off = Fault(20, "configure", ("*",), key="autoCreateTopicEnable", value="false")
    assert events(tmp_path, "ns-1", "TopicsChanged", off) == []


def test_a_forgotten_topic_comes_back_with_the_next_registrations(tmp_path: Path) -> None:
    forget = Fault(20, "forgetTopic", topic="orders", namesrvs=("ns-2",))
    back = events(tmp_path / "a", "ns-2", "TopicsChanged", forget)
    assert {fields["brokerName"] for _, fields in back} == EVERYBODY
    assert all(20 < at < 52 for at, _ in back)
    assert [at for at, _ in events(tmp_path / "b", "ns-2", "TopicDeleted", forget)] == [20]
    assert events(tmp_path / "c", "ns-1", "TopicDeleted", forget) == []
