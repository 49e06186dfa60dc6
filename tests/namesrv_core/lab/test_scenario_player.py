"""Faults come at their times, the truth is told as they do, and the end comes when it is due."""

from pathlib import Path

from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.lab import truth_log, virtual_time
from namesrv_core.lab.scenario import Fault, Scenario
from namesrv_core.lab.scenario_player import judge_run, play_scenario
from namesrv_core.storage.journal import reader

START = 1_767_600_000_000
PLAN = FleetPlan(1, 2, 2, 2)


def played(folder: Path, *faults: Fault) -> list[tuple[float, str, str, tuple[str, ...]]]:
    scenario = Scenario("x", plan=PLAN, namesrvs=2, start=START, duration=300, faults=faults)
    deeds = virtual_time.run_virtual(play_scenario(scenario, folder))
    verdict = judge_run(scenario, folder, deeds)
    assert (verdict.missed_findings, verdict.unexplained) == ([], [])
    assert truth_log.read_deeds(folder / "truth.jsonl") == deeds
    assert [deed.time_ms for deed in deeds] == [START + round(deed.after_seconds * 1000) for deed in deeds]
    return [(deed.after_seconds, deed.fault, deed.phase, deed.target_names) for deed in deeds][1:-1]


def test_repeated_and_staggered_faults_have_their_times(tmp_path: Path) -> None:
    stop = Fault(10, "stop", ("broker-a-0",), lasts=5, stagger=20)
    skew = Fault(100, "skew", (), ("ns-2",), seconds=60, times=2, every=50)
    assert played(tmp_path, stop, skew) == [
        (10, "stop", "begin", ("broker-a-0:0",)),
        (15, "stop", "end", ("broker-a-0:0",)),
        (30, "stop", "begin", ("broker-a-0:1",)),
        (35, "stop", "end", ("broker-a-0:1",)),
        (100, "skew", "begin", ("ns-2",)),
        (150, "skew", "begin", ("ns-2",)),
    ]


def test_journals_have_virtual_times(tmp_path: Path) -> None:
    played(tmp_path, Fault(100, "kill", ("broker-a-0:0",)))
    records = list(reader.read_records(tmp_path / "ns-1" / "journal"))
    (lost,) = [r for r in records if r.event_type == "BrokerUnregistered" and r.time_ms < START + 300_000]
    assert lost.time_ms == START + 100_000
    proofs = [r.time_ms - START for r in records if r.event_type == "Heartbeats"]
    assert proofs == [60_000, 120_000, 180_000, 240_000, 300_000][: len(proofs)]
    assert len(proofs) >= 4


def test_the_end_comes_in_the_middle_of_a_fault(tmp_path: Path) -> None:
    assert len(played(tmp_path, Fault(250, "freeze", ("broker-a-1:1",), lasts=200))) == 1
