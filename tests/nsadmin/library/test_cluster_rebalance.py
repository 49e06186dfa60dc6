"""Plans of a rebalance as methods, in the lab."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from nsadmin import AdminClient, NotFound
from nsadmin.operations.rebalance.rebalance_plan import load_rebalance_plan
from tests.support.lab import lab


@pytest.fixture
def admin(tmp_path: Path) -> Iterator[AdminClient]:
    with (
        lab(tmp_path / "lab", FleetPlan(1, 3, 1, 12), name_servers=1) as running,
        AdminClient(running.namesrv_addr, read_only=True) as client,
    ):
        yield client


def test_a_proposed_plan_is_saved_and_loaded(admin: AdminClient, tmp_path: Path) -> None:
    proposed_plan = admin.rebalance.propose_plan(
        "cluster-a", removed=["broker-a-0"], goal="queues", max_topics=5
    )
    assert 0 < len(proposed_plan.plan.moves) <= 5
    assert proposed_plan.plan.source == "statistics of the brokers"
    admin.rebalance.save_plan(proposed_plan, tmp_path / "plan.yaml")
    loaded_plan = load_rebalance_plan(tmp_path / "plan.yaml")
    assert loaded_plan.digest == proposed_plan.plan.digest
    assert loaded_plan.moves == proposed_plan.plan.moves


def test_a_broker_of_another_cluster_is_not_found(admin: AdminClient) -> None:
    with pytest.raises(NotFound, match='no broker "broker-b-0" in cluster cluster-a'):
        admin.rebalance.propose_plan("cluster-a", added=["broker-b-0"])
