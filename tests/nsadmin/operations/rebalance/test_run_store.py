"""The folder of a rebalance run."""

import json
from pathlib import Path

from nsadmin.operations.drain.state import InvalidStateError
from nsadmin.operations.rebalance.rebalance_plan import QueuePair, RebalanceMove, RebalancePlan
from nsadmin.operations.rebalance.run_state import RunState
from nsadmin.operations.rebalance.run_store import RunStore, SavedRun, cluster_folder_of, load_runs

MOVE = RebalanceMove("orders", False, {"a": QueuePair(4, 4)}, {"b": QueuePair(4, 4)})
PLAN = RebalancePlan("My Cluster", "", "load", "", (MOVE,))


def make_state(digest: str, started: int = 1) -> RunState:
    return RunState("My Cluster", digest, ("ns:9876",), started, started)


def test_a_run_is_loaded_as_it_was_saved(tmp_path: Path) -> None:
    store = RunStore(tmp_path, "My Cluster", PLAN.digest)
    assert store.load_state() is None
    store.save_plan(PLAN)
    store.save_state(make_state(PLAN.digest))
    again = RunStore(tmp_path, "My Cluster", PLAN.digest)
    assert again.load_state() == make_state(PLAN.digest)
    assert again.load_plan() == PLAN
    assert store.run_folder == tmp_path / "rebalances" / "My%20Cluster" / PLAN.digest


def test_one_process_at_a_time_rebalances_a_cluster(tmp_path: Path) -> None:
    first, second = (RunStore(tmp_path, "My Cluster", digest) for digest in ("one", "two"))
    assert first.try_lock()
    assert not second.try_lock()
    first.release_lock()
    assert second.try_lock()
    second.release_lock()


def test_events_are_appended(tmp_path: Path) -> None:
    store = RunStore(tmp_path, "My Cluster", PLAN.digest)
    store.save_plan(PLAN)
    for number in range(2):
        store.append_event({"event": "paused", "time": number})
    lines = (store.run_folder / "events.jsonl").read_text().splitlines()
    assert [json.loads(line)["time"] for line in lines] == [0, 1]


def test_an_unchanged_state_is_not_written_again(tmp_path: Path) -> None:
    store = RunStore(tmp_path, "My Cluster", PLAN.digest)
    store.save_plan(PLAN)
    store.save_state(make_state(PLAN.digest))
    (store.run_folder / "state.json").unlink()
    store.save_state(make_state(PLAN.digest)._replace(updated=99))
    assert store.load_state() is None


def test_runs_are_listed_by_start_and_an_invalid_one_is_reported(tmp_path: Path) -> None:
    for digest, started in (("bbb", 2), ("aaa", 3)):
        store = RunStore(tmp_path, "My Cluster", digest)
        store.save_plan(PLAN)
        store.save_state(make_state(digest, started))
    broken = cluster_folder_of(tmp_path, "My Cluster") / "broken"
    broken.mkdir()
    (broken / "state.json").write_text("{}")
    invalid, *runs = load_runs(tmp_path)
    assert isinstance(invalid, InvalidStateError)
    assert str(broken) in str(invalid)
    assert [run.run_state.digest for run in runs if isinstance(run, SavedRun)] == ["bbb", "aaa"]
    assert list(load_runs(tmp_path, "Other")) == []


def test_a_run_that_was_rolled_back_makes_room_for_the_next(tmp_path: Path) -> None:
    store = RunStore(tmp_path, "My Cluster", PLAN.digest)
    store.archive_run()
    store.save_plan(PLAN)
    store.save_state(make_state(PLAN.digest, 77))
    store.archive_run()
    assert store.load_state() is None
    assert (store.run_folder.parent / f"{PLAN.digest}-77" / "state.json").exists()
