"""Runs that an earlier release saved, in recorded_runs: they are found, and saved again in the same form."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.events import QueueData
from nsadmin.client.messages.message_sender import SendQueue
from nsadmin.client.messages.replay_memory import PendingBatch, ReplayPlace
from nsadmin.operations.dead_letters.replay_store import SavedReplayMemory, open_replays
from nsadmin.operations.drain import events as drain_events
from nsadmin.operations.drain.state import DrainState, QueueSnapshot, SavedDrain, load_drains
from nsadmin.operations.message_files.import_memory import ImportMemory
from nsadmin.operations.rebalance import run_events
from nsadmin.operations.rebalance.move_stages import MoveStage, list_move_stages
from nsadmin.operations.rebalance.rebalance_plan import QueuePair, RebalanceMove, load_rebalance_plan
from nsadmin.operations.rebalance.run_state import PLAN_FILE, RunState, TopicProgress, load_rebalances
from nsadmin.operations.restart import events as restart_events
from nsadmin.operations.restart.state import BrokerProcess, RestartState, load_restarts
from nsadmin.operations.run_folder import RecordFile, RunFolder, SavedRun

BEGAN = 1_795_889_677_000


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return Path(shutil.copytree(Path(__file__).with_name("recorded_runs"), tmp_path / "state"))


def test_a_drain(home: Path) -> None:
    [saved] = load_drains(home)
    assert isinstance(saved, SavedDrain)
    assert saved.state == DrainState(
        "cluster-a", "broker-a", ("ns1:9876", "ns2:9876"), BEGAN, BEGAN + 60_000, "ann@ops", "wait", False, 6,
        {"ns1:9876": 2, "ns2:9876": 1}, 1, {"ns1:9876": 1}, BEGAN + 30_000, None, 120,
    )  # fmt: skip
    orders = QueueData("broker-a", 8, 8, 6, 0)
    assert saved.snapshot == QueueSnapshot(
        {
            "ns1:9876": {"orders": orders, "%RETRY%g": QueueData("broker-a", 1, 1, 6, 0)},
            "ns2:9876": {"orders": QueueData("broker-a", 8, 4, 4, 1)},
        },
        {"orders": orders},
        closes_all=True,
    )
    assert_saved_alike(saved.folder)
    snapshot_file = saved.folder.path / "snapshot.json"
    recorded = json.loads(snapshot_file.read_text())
    snapshot_file.unlink()
    saved.folder.save(saved.state, saved.snapshot)
    assert json.loads(snapshot_file.read_text()) == recorded


def test_a_rolling_restart(home: Path) -> None:
    [saved] = load_restarts(home)
    assert isinstance(saved, SavedRun)
    processes = BrokerProcess("broker-a", 1, "h:10921"), BrokerProcess("broker-a", 0, "h:10911")
    assert saved.state == RestartState(
        "cluster-a",
        processes,
        BEGAN,
        1,
        "wait",
        BEGAN - 5,
        "stop {brokerName}",
        "start {brokerName}",
        "ann@ops",
    )
    assert_saved_alike(saved.folder)


def test_a_rebalance(home: Path) -> None:
    [saved] = load_rebalances(home)
    assert isinstance(saved, SavedRun)
    before, after = {"broker-a": QueuePair(4, 4)}, {"broker-b": QueuePair(4, 4)}
    ordered_stages = (
        MoveStage("pinOrder", before, "broker-a:4"),
        MoveStage("readOn", before, None, {"broker-b": 0}, {"broker-a": 2}, ("broker-a",)),
    )
    assert saved.state == RunState(
        "cluster-a", saved.folder.path.name, ("ns1:9876",), BEGAN, BEGAN + 9, "ann@ops", 100, True, False,
        {
            "orders": TopicProgress(
                list_move_stages(before, after), 1, BEGAN + 3, BEGAN + 4, False, before
            ),
            "bills": TopicProgress(ordered_stages, 1, BEGAN, None, True, before, True),
        },
        ("other",), (), {"bills": "broker-a:4"}, "broker-b uses 91 % of its disk", None,
        {"orders": ("broker-b to answer",)},
    )  # fmt: skip
    assert_saved_alike(saved.folder)
    plan = load_rebalance_plan(saved.folder.path / PLAN_FILE)
    assert plan.digest == saved.state.digest
    assert plan.moves == (
        RebalanceMove("orders", False, before, after),
        RebalanceMove("bills", True, before, after, 6, "broker-b:4"),
    )


def assert_saved_alike(folder: RunFolder[Any]) -> None:
    """The state has the same JSON if it is written again, beside the installation, which was not saved."""
    recorded = json.loads(folder.state.path.read_text())
    state = folder.state.load()
    folder.state.delete()
    folder.state.save(state)
    saved = json.loads(folder.state.path.read_text())
    assert {key: saved[key] for key in recorded} == recorded
    assert saved.keys() - recorded.keys() <= {"name_servers", "brokers", "tunnel", "connection"}


@pytest.mark.parametrize(
    ("file_name", "module"),
    [
        ("drains/cluster-a/broker-a/events.jsonl", drain_events),
        ("restarts/cluster-a.events.jsonl", restart_events),
        ("rebalances/cluster-a/2152713943b5/events.jsonl", run_events),
    ],
)
def test_every_event_is_described(home: Path, file_name: str, module: Any) -> None:
    records = RecordFile(home / file_name).read_last(1 << 20)
    assert {record["event"] for record in records} == module._DESCRIBERS.keys()
    assert all(module.describe_record(record) for record in records)


def test_a_replay_of_dead_letters(home: Path) -> None:
    memory = SavedReplayMemory(open_replays(home, ["cluster-a"], "billing"))
    memory.load_records()
    place = ReplayPlace("cluster-a", "broker-a", 0)
    assert memory.list_replayed(place).ranges == ((3, 5),)
    assert memory.get_last_id(place) == "id4"
    send_queue = SendQueue("%RETRY%billing", "broker-a", "h:10911", 0)
    assert memory.pending == {place: PendingBatch(place, {9: "id9"}, send_queue, 9)}
    assert memory.begin_run({"toTopic": False, "keys": ["k"]}, "R2") == "R1"
    assert memory.run_count == 2


def test_an_import(home: Path) -> None:
    folder = home / "message-imports" / "0123456789abcdef0123456789abcdef"
    recorded = json.loads((folder / "import.json").read_text())
    memory = ImportMemory(folder)
    memory.load()
    assert [row for row in range(258) if not memory.is_sent(row)] == [7, 9, 256, 257]
    (folder / "import.json").unlink()
    memory.note_batch([0], ())
    assert json.loads((folder / "import.json").read_text()) == recorded
