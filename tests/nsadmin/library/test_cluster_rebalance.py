"""Plans of a rebalance as methods, in the lab."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from nsadmin import AdminClient, DrainRefused, InvalidPlanFileError, NotFound, ReadOnlyAccess, RebalanceResult
from nsadmin.library import cluster_rebalance
from nsadmin.operations.procedure_clock import ProcedureClock
from nsadmin.operations.rebalance.rebalance_plan import RebalancePlan, load_rebalance_plan
from nsadmin.operations.rebalance.rebalance_runner import RunOrder
from nsadmin.operations.run_folder import EventRecord
from tests.support.lab import start_lab


@pytest.fixture
def admin(tmp_path: Path) -> Iterator[AdminClient]:
    with (
        start_lab(tmp_path / "lab", FleetPlan(1, 3, 1, 12), name_servers=1) as running,
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


def one_move(admin: AdminClient) -> RebalancePlan:
    return admin.rebalance.propose_plan("cluster-a", removed=["broker-a-0"], goal="queues", max_topics=1).plan


def test_a_dry_run_checks_a_plan_and_changes_nothing(
    admin: AdminClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NSADMIN_STATE", str(tmp_path / "state"))
    plan = one_move(admin)
    result = admin.rebalance.run_plan(plan, dry_run=True, allow_ordered=True)
    assert (result.is_done, result.pause_reason) == (False, None)
    changed = plan._replace(moves=(plan.moves[0]._replace(before={}),))
    with pytest.raises(DrainRefused):
        admin.rebalance.run_plan(changed, dry_run=True, allow_ordered=True)
    with pytest.raises(NotFound, match="this account did not run this plan on these servers"):
        admin.rebalance.run_plan(plan, dry_run=True, rollback=True)


def test_a_read_only_client_runs_no_plan(admin: AdminClient) -> None:
    with pytest.raises(ReadOnlyAccess, match="cluster-a was not rebalanced: this client is read-only"):
        admin.rebalance.run_plan(one_move(admin))


def test_a_run_reports_its_events_and_why_it_paused(
    admin: AdminClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    orders: list[RunOrder] = []
    records: list[EventRecord] = [{"event": "began"}, {"event": "paused", "reason": "disk"}]

    class SavedRun:
        risks = ("a risk",)

        def run_events(self, clock: ProcedureClock) -> list[EventRecord]:
            return records

    def open_saved(client: AdminClient, run_order: RunOrder, *_: object) -> SavedRun:
        orders.append(run_order)
        return SavedRun()

    monkeypatch.setattr(cluster_rebalance, "open_run", open_saved)
    heard: list[EventRecord] = []
    plan = one_move(admin)
    with AdminClient(";".join(admin.addresses.addrs)) as writer:
        result = writer.rebalance.run_plan(
            plan, on_event=heard.append, max_share=50, max_disk=90, timeout_seconds=2, ignored_groups=["g"]
        )
    assert heard == records
    assert result == RebalanceResult(False, "disk", ("a risk",))
    [order] = orders
    assert (order.rules.max_share, order.rules.max_disk, order.rules.timeout_ms) == (0.5, 0.9, 2000)
    assert (order.rules.ignored_groups, order.rules.settle_ms) == (frozenset(["g"]), 60_000)


def test_a_saved_plan_is_loaded(admin: AdminClient, tmp_path: Path) -> None:
    proposed_plan = admin.rebalance.propose_plan("cluster-a", removed=["broker-a-0"], max_topics=1)
    admin.rebalance.save_plan(proposed_plan, tmp_path / "plan.yaml")
    assert admin.rebalance.load_plan(tmp_path / "plan.yaml").digest == proposed_plan.plan.digest
    (tmp_path / "plan.yaml").write_text("x: 1")
    with pytest.raises(InvalidPlanFileError):
        admin.rebalance.load_plan(tmp_path / "plan.yaml")
