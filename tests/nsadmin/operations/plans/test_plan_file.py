"""A plan in a file, and when it is refused."""

import json
from pathlib import Path

import pytest

from nsadmin.operations.plans import plan_file
from nsadmin.operations.plans.diff import compute_diff
from nsadmin.operations.plans.plan_file import SavedPlan
from nsadmin.operations.plans.records import ClusterState, DesiredCluster, ItemSpec
from nsadmin.operations.plans.yaml_reader import InvalidPlanFileError
from tests.nsadmin.operations.plans.states import broker, live, server, silent

CHANGED = "has changed since the plan was made"
NEW = "was as requested when the plan was made, but has changed"
POLICY = {"type": "CUSTOMIZED", "customizedRetryPolicy": {"next": (1, 2)}}
DESIRED = DesiredCluster(
    "c",
    {"T": ItemSpec(), "U": ItemSpec({"perm": 4})},
    {"g": ItemSpec({"groupRetryPolicy": POLICY})},
    {},
    {"N": {"k": "é"}},
)
BEFORE = live(broker("a", {"U": {}, "Old": {}}), server("ns:1", {}, {"N": {}}))


def plan(state: ClusterState = BEFORE) -> SavedPlan:
    return plan_file.make_saved_plan(DESIRED, True, state, compute_diff(DESIRED, state, prune=True))


def moved(state: ClusterState) -> list[str]:
    return plan_file.explain_changes(plan(), state, compute_diff(DESIRED, state, prune=True))


def test_it_comes_back_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "tonight.plan"
    file.write_text("an older one")
    plan_file.save_plan(file, plan())
    assert plan_file.parse_plan(file.read_text(), "p") == plan()
    assert (file.stat().st_mode & 0o777, list(tmp_path.iterdir())) == (0o600, [file])


def test_what_is_no_plan() -> None:
    assert plan_file.parse_plan("cluster: c", "p") is None
    assert plan_file.parse_plan('{"cluster": "c"}', "p") is None
    for text, message in (
        ('{"nsadminPlan": 1', "p:1: malformed plan (Expecting"),
        ('{"nsadminPlan": 1}', "p:1: malformed plan ('steps'): make the plan again"),
        ('{"nsadminPlan": 2}', "p:1: plan format 2 is not supported: this release reads format 1"),
    ):
        with pytest.raises(InvalidPlanFileError) as caught:
            plan_file.parse_plan(text, "p")
        assert caught.value.problem_lines[0].startswith(message)


def test_nothing_is_left_where_it_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="directory"):
        plan_file.save_plan(tmp_path, plan())
    assert list(tmp_path.parent.glob(f".{tmp_path.name}.*")) == []


def test_a_cluster_that_has_not_moved() -> None:
    assert moved(BEFORE) == []


def test_own_steps_that_are_done_are_no_reason() -> None:
    assert (
        moved(
            live(broker("a", {"T": {}, "U": {"perm": 4}, "Old": {}}), server("ns:1", {}, {"N": {"k": "é"}}))
        )
        == []
    )


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (live(broker("a", {"U": {"perm": 2}})), f"topic U on a {CHANGED}"),
        (live(broker("a", {"U": {}, "New": {}})), f"topic New on a {NEW}"),
        (live(broker("a"), server("ns:1", {}, {"N": {"k": "x"}})), f"kv N k on ns:1 {CHANGED}"),
        (live(broker("a", {"U": {}}), broker("b")), "b is new"),
        (live(broker("a", {"U": {}}), server("ns:2")), "ns:1 is no longer there"),
        (live(silent("a")), "a does not answer: no answer"),
        (
            live(broker("a", {"U": {}, "T": {"perm": 2}}, static=frozenset({"T"}))),
            "topic T on a: static topic: `nsadmin updateStaticTopic --help` shows how to change it",
        ),
    ],
)
def test_a_cluster_that_has_moved(state: ClusterState, reason: str) -> None:
    assert reason in moved(state)


def test_a_step_is_a_line() -> None:
    lines = plan_file.format_plan(plan()).splitlines()
    assert len(lines) == len(plan().plan_steps) + 2
    assert json.loads(lines[1].rstrip(","))[:3] == ["topic", "T", "a"]


@pytest.mark.parametrize(
    "rest",
    [
        "[" * 100_000,
        '1, "steps": [["topic", 1, 2, [1], 5, 6]], "prune": 1, "servers": [], "desired": "a"}',
        "1}",
    ],
)
def test_a_plan_of_other_values_cannot_be_read(rest: str) -> None:
    with pytest.raises(InvalidPlanFileError, match="malformed plan"):
        plan_file.parse_plan(f'{{"nsadminPlan": {rest}', "f")
