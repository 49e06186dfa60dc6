"""What an import remembers of the messages that it sent."""

from pathlib import Path

import pytest

from nsadmin.operations.message_files.import_memory import ImportMemory, find_import_folder
from nsadmin.operations.run_folder import InvalidStateError


def test_batches_and_their_unsent_messages_are_remembered(tmp_path: Path) -> None:
    memory = ImportMemory(tmp_path)
    memory.note_batch(range(10), [3, 7])
    memory.note_batch([3, 10, 11], [11])
    again = ImportMemory(tmp_path)
    again.load()
    assert [row for row in range(14) if not again.is_sent(row)] == [7, 11, 12, 13]


def test_a_damaged_state_is_refused(tmp_path: Path) -> None:
    for text in (
        "{",
        "[]",
        '{"version": 9}',
        '{"version": 1}',
        '{"version":1,"nextRow":"9","unsentRows":[]}',
        '{"version":1,"nextRow":9,"unsentRows":null}',
    ):
        (tmp_path / "import.json").write_text(text)
        with pytest.raises(InvalidStateError):
            ImportMemory(tmp_path).load()


def test_the_folder_depends_on_the_content_the_servers_and_the_topics(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a" * 10)
    (tmp_path / "moved").write_text("a" * 10)
    (tmp_path / "b").write_text("b" * 10)

    def folder(name: str = "a", addrs: tuple[str, ...] = ("h:1", "h:2"), **topics: str) -> Path:
        return find_import_folder(tmp_path, tmp_path / name, addrs, topics)

    assert folder() == folder("moved") == folder(addrs=("h:2", "h:1"))
    assert len({folder(), folder("b"), folder(addrs=("h:1",)), folder(T="U")}) == 4


def test_one_process_at_a_time_runs_an_import(tmp_path: Path) -> None:
    first, second = ImportMemory(tmp_path / "new"), ImportMemory(tmp_path / "new")
    assert first.lock.acquire()
    assert (second.lock.acquire(), second.lock.holder_pid is not None) == (False, True)
    first.lock.release()
    assert second.lock.acquire()
    second.lock.release()
