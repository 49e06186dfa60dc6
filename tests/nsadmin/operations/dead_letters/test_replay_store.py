"""The file of replays: what a killed process leaves, and what the next one makes of it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nsadmin.client.messages.message_sender import SendQueue
from nsadmin.client.messages.replay_memory import PendingBatch, ReplayPlace
from nsadmin.operations.dead_letters.replay_store import (
    ReplayFolder,
    SavedReplayMemory,
    open_replays,
)
from nsadmin.operations.run_folder import InvalidStateError
from tests.support.hostile_folder import limit_file_size

PLACE = ReplayPlace("C", "broker-a", 0)
BATCH = PendingBatch(PLACE, {1: "id1", 2: "id2"}, SendQueue("%RETRY%G", "broker-a", "h:1", 0), 7)


@contextmanager
def opened(folder: Path) -> Iterator[SavedReplayMemory]:
    memory = SavedReplayMemory(ReplayFolder(folder))
    with memory.open(RuntimeError):
        yield memory


def loaded(folder: Path) -> SavedReplayMemory:
    memory = SavedReplayMemory(ReplayFolder(folder))
    memory.load_records()
    return memory


def test_a_batch_is_in_the_file_before_it_is_sent(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.begin_run({}, "R1")
        memory.begin_batch(BATCH)
        assert loaded(tmp_path).pending == {PLACE: BATCH}
        memory.end_batch(BATCH, [1, 2])
        assert loaded(tmp_path).pending == {PLACE: BATCH}
        memory.flush()
        assert (loaded(tmp_path).pending, loaded(tmp_path).list_replayed(PLACE).ranges) == ({}, ((1, 3),))


def test_opening_a_file_makes_it_short(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        for _ in range(20):
            memory.begin_batch(BATCH)
            memory.end_batch(BATCH, [1, 2])
        memory.flush()
    with opened(tmp_path):
        pass
    assert len((tmp_path / "replays.jsonl").read_text().splitlines()) == 2
    assert loaded(tmp_path).list_replayed(PLACE).ranges == ((1, 3),)


def test_an_incomplete_last_line_is_ignored_and_removed(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.begin_batch(BATCH)
    with open(tmp_path / "replays.jsonl", "a") as file:
        file.write('{"pending": [["C"')
    with opened(tmp_path) as again:
        assert again.pending == {PLACE: BATCH}
        again.end_batch(BATCH, [1])
        again.flush()
    assert loaded(tmp_path).list_replayed(PLACE).ranges == ((1, 2),)


def test_a_full_disk_tears_no_record_and_loses_no_outcome(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.begin_batch(BATCH)
        memory.end_batch(BATCH, [1])
        with (
            limit_file_size((tmp_path / "replays.jsonl").stat().st_size + 9),
            pytest.raises(OSError, match="too large"),
        ):
            memory.begin_batch(BATCH)
        memory.flush()
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
    with pytest.raises(InvalidStateError, match=r"replays\.jsonl: line 2 is invalid"):
        loaded(tmp_path)


def test_one_process_at_a_time_replays(tmp_path: Path) -> None:
    with opened(tmp_path), pytest.raises(RuntimeError, match=f"process {os.getpid()}"), opened(tmp_path):
        pytest.fail("two at a time")
    with opened(tmp_path):
        pass


def test_groups_and_clusters_have_folders_of_their_own() -> None:
    folders = {
        open_replays(Path("/s"), clusters, group).path
        for clusters, group in ((["A"], "G"), (["B"], "G"), (["A", "B"], "G"), (["A"], "G/.."))
    }
    assert len(folders) == 4
    assert open_replays(Path("/s"), ["B", "A", "A"], "G").path == Path("/s/dead-letters/A%2bB/G")
