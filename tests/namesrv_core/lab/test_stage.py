"""The stage: who is meant by a fault, and the truth with its times."""

from pathlib import Path

from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.lab import truth
from namesrv_core.lab.scenario import Fault, Scenario
from namesrv_core.lab.stage import Stage, names_of
from namesrv_core.lab.truth import Truth
from namesrv_core.lab.world import World

SMALL = Scenario("x", plan=FleetPlan(1, 2, 1, 1), namesrvs=2)


def test_those_are_meant_who_are_in_the_state_that_is_wanted(tmp_path: Path) -> None:
    world = World(SMALL, tmp_path, lambda: 1_700_000_000.0)
    try:
        with Truth(tmp_path / "truth.jsonl") as told:
            stage = Stage(world, told, 1_699_999_990.0)
            world.seats["broker-a-1:0"].state = "up"
            every = Fault(0, "kill")
            assert names_of(stage.seats(every)) == ["broker-a-1:0"]
            assert names_of(stage.seats(every, "down")) == ["broker-a-0:0"]
            assert names_of(stage.sites(Fault(0, "wipe", namesrvs=("ns-2",)), "down")) == ["ns-2"]
            stage.tell("kill", "begin", ["broker-a-1:0"], lasts=5)
        [deed] = truth.read(tmp_path / "truth.jsonl")
        assert deed[:6] == (1_700_000_000_000, 10.0, "kill", "begin", ("broker-a-1:0",), {"lasts": 5})
    finally:
        world.close()
