"""Whatever is done to a small world, its journals have the truth, and nothing that it does not explain.

Expectations and built-in scenarios were written with each other in mind; these scenarios were not.
"""

import random
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.lab import virtual_time
from namesrv_core.lab.scenario import Fault, Scenario
from namesrv_core.lab.scenario_player import judge_run, play_scenario

SEEDS = (0, 21, 27, 46, 54, 78, 100, 102, 201, 202, 203, 204)
"""The first ones found something wrong once."""
START = 1_767_600_000_000
CALM = 80.0
"""Seconds without a fault behind each: all heartbeats that it may have kept back have come by then."""
OF_BROKERS = ("stop", "kill", "restart", "freeze", "storm", "register", "createTopic", "wipe", "unwipe")
OF_BOTH = ("partition", "slow")
OF_NAME_SERVERS = ("killNamesrv", "restartNamesrv", "pauseNamesrv", "skew")
RARE = ("impostor", "join", "deleteTopic")


def scenario(seed: int) -> Scenario:
    """A few faults one after the other, of all kinds, on whoever it may be."""
    chance = random.Random(seed)
    plan = FleetPlan(1, chance.randint(1, 2), chance.randint(1, 3), 3, seed=seed)
    base = Scenario(
        f"seed-{seed}", plan=plan, acting=chance.random() < 0.4, namesrvs=chance.randint(1, 3), start=START
    )
    faults, at = [], 40.0 + chance.uniform(0, 30)
    for number in range(4):
        fault = one_fault(chance, base, at, number)
        faults.append(fault)
        at += fault.lasts + CALM + chance.uniform(0, 40)
    return base._replace(faults=tuple(faults), duration=at + 10)


def one_fault(chance: random.Random, base: Scenario, at: float, number: int) -> Fault:
    kind = chance.choice((*OF_BROKERS, *OF_BROKERS, *OF_BOTH, *OF_BOTH, *OF_NAME_SERVERS, *RARE))
    seats = [f"{spec.broker_name}:{spec.broker_id}" for spec in base.initial_specs()]
    some = tuple(chance.sample(seats, chance.randint(1, len(seats))))
    masters = tuple(sorted({name.partition(":")[0] + ":0" for name in some}))
    servers = tuple(chance.sample(base.server_names(), chance.randint(1, base.namesrvs)))
    lasts = chance.choice((3.0, 20.0, 50.0, 75.0, 88.0, 95.0, 105.0, 118.0, 124.0, 135.0, 200.0))
    fault = Fault(at, kind, some, servers, lasts=lasts)
    if kind in ("register", "createTopic", "deleteTopic", "wipe", "unwipe", "impostor"):
        fault = fault._replace(brokers=masters, lasts=min(lasts, 60) if kind == "impostor" else 0)
    if kind in ("register", "createTopic"):
        way = chance.choice(("incremental", "all", "split"))
        fault = fault._replace(registration=way, topic=f"T{number}", number=chance.choice((1, 30)))
    if kind == "deleteTopic":
        fault = fault._replace(topic="orders")
    if kind == "skew":
        fault = fault._replace(brokers=(), seconds=chance.choice((-900.0, 30.0, 7200.0)), lasts=0)
    if kind == "slow":
        fault = fault._replace(delay=chance.choice((0.2, 1.0, 2.0)))
    if kind == "join":
        fault = fault._replace(brokers=masters[:1], cluster="cluster-z")
    if kind in ("stop", "kill", "restart", "storm"):
        fault = fault._replace(address=chance.choice(("same", "new")))
    return fault


@pytest.mark.parametrize("seed", SEEDS)
def test_the_truth_and_nothing_else(seed: int, tmp_path: Path) -> None:
    played = scenario(seed)
    deeds = virtual_time.run_virtual(play_scenario(played, tmp_path))
    verdict = judge_run(played, tmp_path, deeds)
    assert [
        (
            finding.deed.fault,
            finding.deed.phase,
            finding.expected,
            finding.server_name,
            finding.broker_id_text,
        )
        for finding in verdict.missed_findings
    ] == []
    assert [(s, r.event_type, r.origin, r.event_fields) for s, r in verdict.unexplained] == []
