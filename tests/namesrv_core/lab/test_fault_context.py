"""The stage: who is meant by a fault, and the truth with its times."""

from pathlib import Path

from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.lab import truth_log
from namesrv_core.lab.fault_context import FaultContext, member_names
from namesrv_core.lab.lab_cluster import LabCluster
from namesrv_core.lab.scenario import Fault, Scenario
from namesrv_core.lab.truth_log import TruthLog

SMALL = Scenario("x", plan=FleetPlan(1, 2, 1, 1), namesrvs=2)


def test_only_running_members_are_meant(tmp_path: Path) -> None:
    world = LabCluster(SMALL, tmp_path, lambda: 1_700_000_000.0)
    try:
        with TruthLog(tmp_path / "truth.jsonl") as log:
            stage = FaultContext(world, log, 1_699_999_990.0)
            world.lab_brokers["broker-a-1:0"].run_state = "up"
            every = Fault(0, "kill")
            assert member_names(stage.matching_brokers(every)) == ["broker-a-1:0"]
            assert stage.matching_servers(Fault(0, "wipe", namesrvs=("ns-2",))) == []
            world.name_servers["ns-2"].run_state = "up"
            assert member_names(stage.matching_servers(Fault(0, "wipe", namesrvs=("ns-2",)))) == ["ns-2"]
            stage.record_deed("kill", "begin", ["broker-a-1:0"], lasts=5)
        [deed] = truth_log.read_deeds(tmp_path / "truth.jsonl")
        assert deed[:6] == (1_700_000_000_000, 10.0, "kill", "begin", ("broker-a-1:0",), {"lasts": 5})
    finally:
        world.release_links_and_ports()
