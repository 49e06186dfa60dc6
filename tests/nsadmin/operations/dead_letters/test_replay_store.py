"""The file of replays: what a killed process leaves, and what the next one makes of it."""

from pathlib import Path

import pytest

from nsadmin.client.messages.message_sender import SendQueue
from nsadmin.client.messages.replay_memory import PendingBatch, ReplayPlace
from nsadmin.operations.dead_letters.replay_store import (
    InvalidReplayFileError,
    SavedReplayMemory,
    replay_folder_of,
)
from tests.support.hostile_folder import limit_file_size

PLACE = ReplayPlace("C", "broker-a", 0)
BATCH = PendingBatch(PLACE, {1: "id1", 2: "id2"}, SendQueue("%RETRY%G", "broker-a", "h:1", 0), 7)


def opened(folder: Path) -> SavedReplayMemory:
    memory = SavedReplayMemory(folder)
    assert memory.try_lock()
    memory.load_records()
    memory.open_file()
    return memory


def loaded(folder: Path) -> SavedReplayMemory:
    memory = SavedReplayMemory(folder)
    memory.load_records()
    return memory


def test_a_batch_is_in_the_file_before_it_is_sent(tmp_path: Path) -> None:
    memory = opened(tmp_path)
    memory.begin_run({}, "R1")
    memory.begin_batch(BATCH)
    assert loaded(tmp_path).pending == {PLACE: BATCH}
    memory.end_batch(BATCH, [1, 2])
    assert loaded(tmp_path).pending == {PLACE: BATCH}
    memory.flush()
    assert (loaded(tmp_path).pending, loaded(tmp_path).list_replayed(PLACE).ranges) == ({}, ((1, 3),))
    memory.close()


def test_opening_a_file_makes_it_short(tmp_path: Path) -> None:
    memory = opened(tmp_path)
    for _ in range(20):
        memory.begin_batch(BATCH)
        memory.end_batch(BATCH, [1, 2])
    memory.flush()
    memory.close()
    opened(tmp_path).close()
    assert len(memory.replay_file.read_text().splitlines()) == 2
    assert loaded(tmp_path).list_replayed(PLACE).ranges == ((1, 3),)


def test_an_incomplete_last_line_is_ignored_and_removed(tmp_path: Path) -> None:
    memory = opened(tmp_path)
    memory.begin_batch(BATCH)
    memory.close()
    with open(memory.replay_file, "a") as file:
        file.write('{"pending": [["C"')
    again = opened(tmp_path)
    assert again.pending == {PLACE: BATCH}
    again.end_batch(BATCH, [1])
    again.flush()
    again.close()
    assert loaded(tmp_path).list_replayed(PLACE).ranges == ((1, 2),)


def test_a_full_disk_tears_no_record_and_loses_no_outcome(tmp_path: Path) -> None:
    memory = opened(tmp_path)
    memory.begin_batch(BATCH)
    memory.end_batch(BATCH, [1])
    with (
        limit_file_size(memory.replay_file.stat().st_size + 9),
        pytest.raises(OSError, match="too large"),
    ):
        memory.begin_batch(BATCH)
    memory.flush()
    memory.close()
    again = loaded(tmp_path)
    assert (again.list_replayed(PLACE).ranges, again.pending) == (((1, 2),), {PLACE: BATCH})


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        "[]",
        '{"replayed": 1}',
        '{"else": 1}',
        "{}",
        '{"run":"x"}',
        '{"forget":[["C","b","0"]]}',
        '{"replayed":[["C","b","0"],[[1,2]],"id",1]}',
        '{"replayed":[["C","b",0],[["1",2]],null,1]}',
        '{"pending":[["C","b",0],[[1,null]],["T","b","h:1",0],7]}',
    ],
)
def test_an_invalid_line_is_an_error_that_names_it(tmp_path: Path, line: str) -> None:
    (tmp_path / "replays.jsonl").write_text(f'{{"run":null}}\n{line}\n')
    with pytest.raises(InvalidReplayFileError, match=r"replays\.jsonl: line 2 is invalid"):
        loaded(tmp_path)


def test_one_process_at_a_time_replays(tmp_path: Path) -> None:
    memory, other = opened(tmp_path), SavedReplayMemory(tmp_path)
    assert not other.try_lock()
    assert other.holder_pid
    memory.close()
    assert other.try_lock()
    other.close()


def test_groups_and_clusters_have_folders_of_their_own() -> None:
    folders = {
        replay_folder_of(Path("/s"), clusters, group)
        for clusters, group in ((["A"], "G"), (["B"], "G"), (["A", "B"], "G"), (["A"], "G/.."))
    }
    assert len(folders) == 4
    assert replay_folder_of(Path("/s"), ["B", "A", "A"], "G") == Path("/s/dead-letters/A%2bB/G")
