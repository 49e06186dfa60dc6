"""export, plan and apply as methods, in the lab."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from nsadmin import AdminClient, InvalidPlanFileError, NotApplied, ReadOnlyAccess, StrandedMessagesError
from tests.support.lab import start_lab

FILE = """\
cluster: cluster-a
topics:
  orders: {readQueueNums: 2, attributes: {message.type: FIFO}}
  ratings: {}
kv:
  DEPLOYMENT: {stage: canary}
"""


@pytest.fixture
def admin(tmp_path: Path) -> Iterator[AdminClient]:
    with (
        start_lab(tmp_path / "lab", FleetPlan(1, 2, 1, 6), name_servers=2) as running,
        AdminClient(running.namesrv_addr) as client,
    ):
        yield client


def file_of(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "cluster.yaml"
    path.write_text(text)
    return path


def test_an_export_is_a_plan_without_steps(admin: AdminClient, tmp_path: Path) -> None:
    exported = admin.plans.export_cluster("cluster-a", ["DEPLOYMENT"])
    assert admin.plans.plan_changes(file_of(tmp_path, exported), prune=True).steps == ()


def test_a_plan_is_applied_as_it_was_shown(admin: AdminClient, tmp_path: Path) -> None:
    plan = admin.plans.plan_changes(file_of(tmp_path, FILE))
    assert {(step.kind, step.item_name, step.action) for step in plan.steps} == {
        ("topic", "orders", "update"),
        ("topic", "ratings", "create"),
        ("kv", "stage", "create"),
    }
    with pytest.raises(StrandedMessagesError, match="pass allow_stranded=True to lose them"):
        admin.plans.apply_plan(plan)
    outcomes = admin.plans.apply_plan(plan, allow_stranded=True)
    assert {outcome.result for outcome in outcomes} == {"done"}
    assert len(outcomes) == len(plan.steps)
    assert admin.plans.plan_changes(tmp_path / "cluster.yaml").steps == ()


def test_a_saved_plan_is_refused_when_the_cluster_has_changed(admin: AdminClient, tmp_path: Path) -> None:
    admin.plans.save_plan(admin.plans.plan_changes(file_of(tmp_path, FILE)), tmp_path / "tonight.plan")
    plan = admin.plans.plan_changes(tmp_path / "tonight.plan")
    admin.kv.put_value("DEPLOYMENT", "stage", "blue")
    with pytest.raises(NotApplied, match="the cluster is not as it was when the plan was made") as refusal:
        admin.plans.apply_plan(plan, allow_stranded=True)
    assert "kv DEPLOYMENT stage on" in refusal.value.__notes__[0]


def test_deletes_and_read_only_clients_are_limited(admin: AdminClient, tmp_path: Path) -> None:
    plan = admin.plans.plan_changes(file_of(tmp_path, "cluster: cluster-a\ntopics: {}\n"), prune=True)
    with pytest.raises(NotApplied, match=r"the plan deletes \d+ items, more than 1 \(max_deletes\)"):
        admin.plans.apply_plan(plan, max_deletes=1)
    with AdminClient(admin.addresses, read_only=True) as reader, pytest.raises(ReadOnlyAccess):
        reader.plans.apply_plan(plan)


def test_a_bad_file_has_its_problems(admin: AdminClient, tmp_path: Path) -> None:
    with pytest.raises(InvalidPlanFileError) as error:
        admin.plans.plan_changes(file_of(tmp_path, "cluster: cluster-a\ntopiks: {}\n"))
    assert "topiks" in error.value.problem_lines[0]
