"""The unfinished rebalances on this machine, as records."""

from pathlib import Path

from nsadmin.operations.rebalance.move_stages import list_move_stages
from nsadmin.operations.rebalance.rebalance_plan import QueuePair
from nsadmin.operations.rebalance.run_state import (
    RunState,
    TopicProgress,
    open_rebalance,
)
from nsadmin.tui.polling.drain_folders import poll_drains
from nsadmin.tui.polling.poll_records import DrainsPolled
from tests.support.installations import make_installation

START = {"broker-a": QueuePair(4, 4)}
PROGRESS = TopicProgress(list_move_stages(START, {"broker-b": QueuePair(4, 4)}), 2, 60_000)
STATE = RunState(
    "Cluster", "abc", ("ns:9876",), 1000, 2000, "ann", 100, True,
    moving={"orders": PROGRESS, "parcels": TopicProgress()}, moved=("other",), waiting={"orders": ("time",)},
)  # fmt: skip


def save_state(tmp_path: Path, state: RunState) -> None:
    store = open_rebalance(tmp_path, state.cluster, state.digest)
    store.path.mkdir(parents=True)
    store.state.save(state)


def poll(state_home: Path) -> DrainsPolled:
    return poll_drains(lambda: 0, make_installation(state_home, "ns:9876"))


def test_an_unfinished_run_is_a_record(tmp_path: Path) -> None:
    save_state(tmp_path, STATE)
    drains_poll = poll(tmp_path)
    [record] = drains_poll.rebalances
    assert drains_poll.errors == []
    assert (record.cluster, record.phase, record.moved_count, record.pid) == (
        "Cluster",
        "interrupted",
        1,
        None,
    )
    orders, parcels = record.topics
    assert orders.stage == "closeWrites"
    assert orders.position == 3
    assert orders.stage_count == 5
    assert orders.waits == ("time",)
    assert orders.queues == {"broker-a": (4, 0), "broker-b": (4, 4)}
    assert (parcels.stage, parcels.queues) == ("", {})


def test_a_finished_run_is_left_out_and_a_broken_one_is_an_error(tmp_path: Path) -> None:
    save_state(tmp_path, STATE._replace(finished=9))
    broken = tmp_path / "rebalances" / "Cluster" / "broken"
    broken.mkdir()
    (broken / "state.json").write_text("{}")
    drains_poll = poll(tmp_path)
    [error] = drains_poll.errors
    assert drains_poll.rebalances == []
    assert str(broken) in error
