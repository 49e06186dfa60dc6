"""The state of a rebalance run, and its JSON form."""

import json
from pathlib import Path

import msgspec
import pytest

from nsadmin.operations.rebalance.move_stages import list_move_stages
from nsadmin.operations.rebalance.rebalance_plan import (
    QueuePair,
    RebalanceMove,
    RebalancePlan,
    load_rebalance_plan,
)
from nsadmin.operations.rebalance.run_state import (
    RunState,
    TopicProgress,
    explain_awaited_run,
    explain_open_run,
    explain_rebalance_conflicts,
    load_rebalances,
    open_rebalance,
)
from nsadmin.operations.run_folder import InvalidStateError, SavedRun, parse_state

START = {"a": QueuePair(4, 4)}
STATE = RunState(
    "Cluster", "0123456789ab", ("ns:9876",), 1, 2, "ann", 100,
    moving={"orders": TopicProgress(list_move_stages(START, {"b": QueuePair(4, 4)}), 1, 5, 6, True, START)},
    moved=("other",), confs_before={"other": "a:4"}, pause="disk", waiting={"orders": ("time",)},
)  # fmt: skip
PLAN = RebalancePlan(
    "My Cluster", "", "load", "", (RebalanceMove("orders", False, START, {"b": QueuePair(4, 4)}),)
)


def make_state(digest: str, started: int = 1) -> RunState:
    return RunState("My Cluster", digest, ("ns:9876",), started, started)


def test_a_state_survives_its_json_form() -> None:
    assert parse_state(json.loads(json.dumps(msgspec.to_builtins(STATE))), RunState) == STATE


def test_keys_are_in_camel_case() -> None:
    record = msgspec.to_builtins(STATE)
    assert {"nameServers", "clusterQueues", "isRollback", "confsBefore"} <= record.keys()
    assert {"routedSince", "wasOrdered"} <= record["moving"]["orders"].keys()


@pytest.mark.parametrize(
    ("is_rollback", "pause", "finished", "phase"),
    [
        (False, None, None, "running"),
        (True, None, None, "rollingBack"),
        (True, "disk", None, "paused"),
        (False, None, 9, "done"),
        (True, None, 9, "rolledBack"),
    ],
)
def test_the_phase_follows_from_the_state(
    is_rollback: bool, pause: str | None, finished: int | None, phase: str
) -> None:
    assert STATE._replace(is_rollback=is_rollback, pause=pause, finished=finished).phase == phase


@pytest.mark.parametrize(
    ("state", "holder_pid", "text"),
    [
        (
            STATE,
            7,
            "process 7 rebalances Cluster, with orders in motion: wait until `nsadmin rebalance status -n "
            "ns:9876` shows",
        ),
        (STATE, None, "a rebalance of Cluster is paused, with orders in motion: `nsadmin rebalance run "),
        (
            STATE._replace(is_rollback=True, pause=None),
            None,
            "a rollback of Cluster is interrupted, with orders",
        ),
    ],
)
def test_an_open_run_is_explained(state: RunState, holder_pid: int | None, text: str, tmp_path: Path) -> None:
    folder = open_rebalance(tmp_path, state.cluster, state.digest)
    line = explain_open_run(SavedRun(folder, state, holder_pid))
    assert line.startswith(text)
    assert line.endswith("--rollback -n ns:9876` resumes it") == state.is_rollback


def test_the_advice_for_a_run_with_ordered_topics_has_its_option(tmp_path: Path) -> None:
    folder = open_rebalance(tmp_path, STATE.cluster, STATE.digest)
    folder.save_plan(PLAN._replace(moves=(PLAN.moves[0]._replace(ordered=True),)))
    line = explain_open_run(SavedRun(folder, STATE, None))
    # A topic of the plan that does not move yet waits for the run, too.
    assert explain_awaited_run([SavedRun(folder, STATE, None)], [PLAN.moves[0].topic]) == line
    assert explain_awaited_run([SavedRun(folder, STATE, None)], ["new"]) is None
    assert line.endswith(
        "plan.yaml --ordered -n ns:9876` resumes it, "
        f"`nsadmin rebalance run {folder.plan_file} --ordered --rollback -n ns:9876` undoes it"
    )


@pytest.mark.parametrize(
    ("state", "topics", "count"),
    [
        (STATE, ("orders",), 1),
        (STATE, ("other", "new"), 1),
        (STATE, ("new",), 0),
        (STATE._replace(finished=9), ("orders",), 0),
    ],
)
def test_a_change_of_topics_in_motion_is_a_conflict(
    state: RunState, topics: tuple[str, ...], count: int, tmp_path: Path
) -> None:
    folder = open_rebalance(tmp_path, STATE.cluster, STATE.digest)
    folder.path.mkdir(parents=True)
    folder.state.save(state)
    assert len(list(explain_rebalance_conflicts(load_rebalances(tmp_path), topics))) == count


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (None, "not a JSON object"),
        ({"version": 9}, "version 9 is not supported"),
        ({"version": 1}, "missing required field cluster"),
        ({**msgspec.to_builtins(STATE), "moving": {"orders": {"stages": 1}}}, "expected array, got int"),
        ({**msgspec.to_builtins(STATE), "moving": {"orders": {}}}, "the field stages is missing"),
        ({**msgspec.to_builtins(STATE), "nameServers": "x"}, "expected array, got str at nameServers"),
    ],
)
def test_another_file_is_not_a_state(record: object, problem: str) -> None:
    with pytest.raises(InvalidStateError, match=problem):
        parse_state(record, RunState)


def test_an_unknown_stage_is_not_a_state() -> None:
    record = msgspec.to_builtins(STATE)
    record["moving"]["orders"]["stages"][0]["kind"] = "dance"
    with pytest.raises(InvalidStateError, match="unknown stage dance"):
        parse_state(record, RunState)


def test_a_run_is_loaded_as_it_was_saved(tmp_path: Path) -> None:
    run = open_rebalance(tmp_path, "My Cluster", PLAN.digest)
    assert run.state.load() is None
    run.save_plan(PLAN)
    run.state.save(make_state(PLAN.digest))
    again = open_rebalance(tmp_path, "My Cluster", PLAN.digest)
    assert again.state.load() == make_state(PLAN.digest)
    assert load_rebalance_plan(again.plan_file) == PLAN
    assert run.path == tmp_path / "rebalances" / "My%20Cluster" / PLAN.digest


def test_one_process_at_a_time_rebalances_a_cluster(tmp_path: Path) -> None:
    first, second = (open_rebalance(tmp_path, "My Cluster", digest) for digest in ("one", "two"))
    assert first.lock.acquire()
    assert not second.lock.acquire()
    first.lock.release()
    assert second.lock.acquire()
    second.lock.release()


def test_runs_are_listed_by_start_and_an_invalid_one_is_reported(tmp_path: Path) -> None:
    for digest, started in (("bbb", 2), ("aaa", 3)):
        open_rebalance(tmp_path, "My Cluster", digest).state.save(make_state(digest, started))
    broken = open_rebalance(tmp_path, "My Cluster", "broken")
    broken.path.mkdir()
    broken.state.path.write_text("{")
    invalid, *runs = load_rebalances(tmp_path)
    assert isinstance(invalid, InvalidStateError)
    assert str(broken.path) in str(invalid)
    assert [run.state.digest for run in runs if isinstance(run, SavedRun)] == ["bbb", "aaa"]
    assert list(load_rebalances(tmp_path, "Other")) == []


def test_the_process_of_a_cluster_runs_what_is_not_finished(tmp_path: Path) -> None:
    done, current = (open_rebalance(tmp_path, "My Cluster", digest) for digest in ("done", "current"))
    done.state.save(make_state("done")._replace(finished=9))
    current.state.save(make_state("current", 2))
    assert current.lock.acquire()
    holders = [run.holder_pid for run in load_rebalances(tmp_path) if isinstance(run, SavedRun)]
    current.lock.release()
    assert (holders[0], holders[1] is not None) == (None, True)


def test_a_run_that_was_rolled_back_makes_room_for_the_next(tmp_path: Path) -> None:
    run = open_rebalance(tmp_path, "My Cluster", PLAN.digest)
    run.archive()
    run.save_plan(PLAN)
    run.state.save(make_state(PLAN.digest, 77))
    run.archive()
    assert run.state.load() is None
    assert (run.path.parent / f"{PLAN.digest}-77" / "state.json").exists()
