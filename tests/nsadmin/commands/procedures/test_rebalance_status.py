"""`rebalance status`: the saved runs."""

import json
from pathlib import Path

from nsadmin.operations.rebalance.move_stages import list_move_stages
from nsadmin.operations.rebalance.rebalance_plan import QueuePair, RebalancePlan, save_rebalance_plan
from nsadmin.operations.rebalance.run_state import RunState, TopicProgress, open_rebalance
from tests.nsadmin.conftest import Run

START = {"broker-a": QueuePair(4, 4)}
PROGRESS = TopicProgress(list_move_stages(START, {"broker-b": QueuePair(4, 4)}), 2, 60_000, 61_000)
STATE = RunState(
    "Cluster", "0123456789ab", ("ns:9876",), 1000, 2000, "ann", 100, True,
    moving={"orders": PROGRESS}, moved=("other",),
    waiting={"orders": ("group billing to consume 7 messages",)},
)  # fmt: skip


def save_state(tmp_path: Path, state: RunState) -> None:
    store = open_rebalance(tmp_path / "state", state.cluster, state.digest)
    store.path.mkdir(parents=True, exist_ok=True)
    store.state.save(state)


def test_each_broker_of_a_topic_in_motion_has_a_row(run: Run, tmp_path: Path) -> None:
    save_state(tmp_path, STATE)
    result = run("rebalance", "status", "--json")
    rows = json.loads(result.out)
    plan = f"nsadmin rebalance run {tmp_path}/state/rebalances/Cluster/0123456789ab/plan.yaml"
    assert result.err == (
        "nsadmin: a rebalance of Cluster is interrupted, with orders in motion: "
        f"`{plan} -n ns:9876` resumes it, `{plan} --rollback -n ns:9876` undoes it\n"
    )
    names = (
        "phase",
        "topic",
        "brokerName",
        "stage",
        "step",
        "readQueueNums",
        "writeQueueNums",
        "movedTopics",
    )
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("interrupted", "orders", "broker-a", "closeWrites", "3/5", 4, 0, 1),
        ("interrupted", "orders", "broker-b", "closeWrites", "3/5", 4, 4, 1),
    ]
    assert {row["waitingFor"] for row in rows} == {"group billing to consume 7 messages"}
    assert {(row["since"], row["pid"], row["by"]) for row in rows} == {
        ("1970-01-01T00:01:00.000Z", None, "ann")
    }


def test_a_topic_that_did_not_begin_has_a_row(run: Run, tmp_path: Path) -> None:
    save_state(tmp_path, STATE._replace(moving={"orders": TopicProgress()}))
    [row] = json.loads(run("rebalance", "status", "--json").out)
    assert (row["topic"], row["brokerName"], row["stage"]) == ("orders", None, None)


def test_only_runs_of_the_cluster_are_shown(run: Run, tmp_path: Path) -> None:
    save_state(tmp_path, STATE._replace(moving={}, finished=9))
    [row] = json.loads(run("rebalance", "status", "-c", "Cluster", "--json").out)
    assert (row["phase"], row["topic"]) == ("done", None)
    assert json.loads(run("rebalance", "status", "-c", "Other", "--json").out) == []


def test_only_runs_of_the_plan_are_shown(run: Run, tmp_path: Path) -> None:
    plan = RebalancePlan("Cluster", "", "queues", "", (), risks=())
    save_rebalance_plan(plan, tmp_path / "plan.yaml")
    for digest in (STATE.digest, plan.digest):
        save_state(tmp_path, STATE._replace(digest=digest, moving={}, finished=9))
    [row] = json.loads(run("rebalance", "status", str(tmp_path / "plan.yaml"), "--json").out)
    assert row["planDigest"] == plan.digest
    assert run("rebalance", "status", str(tmp_path / "none.yaml")).code == 2


def test_an_unreadable_run_is_reported(run: Run, tmp_path: Path) -> None:
    save_state(tmp_path, STATE)
    [state_file] = (tmp_path / "state").glob("rebalances/*/*/state.json")
    state_file.write_text("{}")
    result = run("rebalance", "status", "--json")
    assert result.code == 3
    [row] = json.loads(result.out)
    assert "state.json: the field version is missing" in row["error"]
