"""Lists and settings that are wrong, and a topic that name servers are told to forget."""

from pathlib import Path

from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.lab import virtual_time
from namesrv_core.lab.scenario import Fault, Scenario
from namesrv_core.lab.scenario_player import judge_run, play_scenario
from namesrv_core.storage.journal import reader

PLAN = FleetPlan(1, 2, 2, 4)
EVERYBODY = {"broker-a-0", "broker-a-1"}


def events(folder: Path, server: str, type_: str, *faults: Fault) -> list[tuple[float, dict[str, object]]]:
    """Seconds and fields of what happened on a server; the journals have the truth, and nothing else."""
    start = 1_767_600_000_000
    scenario = Scenario("x", plan=PLAN, namesrvs=2, start=start, duration=150, faults=faults)
    deeds = virtual_time.run_virtual(play_scenario(scenario, folder))
    verdict = judge_run(scenario, folder, deeds)
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
