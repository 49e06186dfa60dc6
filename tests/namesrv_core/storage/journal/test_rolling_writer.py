"""The folder of a journal: appended to, rolled, cut where it was torn, kept within bounds."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.errors import RocketMQError
from namesrv_core.history.record_lines import parse_record_line
from namesrv_core.storage.journal.rolling_writer import JournalLimits, JournalWriter
from namesrv_core.storage.journal.segments import compress_segment, list_segments, read_lines, segment_name
from tests.namesrv_core.storage.journal.test_segments import NOW, written

DAY = 24 * 3_600_000


def add(journal: JournalWriter, count: int = 1, now: int = NOW) -> None:
    for _ in range(count):
        journal.append_lines(written(journal.next_seq), 1, now)


def numbers(folder: Path) -> list[int]:
    return [parse_record_line(text).seq for segment in list_segments(folder) for text in read_lines(segment)]


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "journal.lock")


def test_what_was_appended_can_be_read_at_once(tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "deep" / "down")
    add(journal, 3)
    assert numbers(tmp_path / "deep" / "down") == [1, 2, 3]
    assert journal.next_seq == 4
    journal.close()


def test_nothing_is_made_before_the_first_record(tmp_path: Path) -> None:
    JournalWriter(tmp_path).close()
    assert files(tmp_path) == []


def test_numbers_go_on_after_a_restart_in_a_segment_of_their_own(tmp_path: Path) -> None:
    for _ in range(3):
        journal = JournalWriter(tmp_path)
        add(journal, 2)
        assert journal.start_repair is None
        journal.close()
    assert numbers(tmp_path) == [1, 2, 3, 4, 5, 6]
    assert [segment.first_seq for segment in list_segments(tmp_path)] == [1, 3, 5]


def test_numbers_go_on_after_a_closed_segment(tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path)
    add(journal, 5)
    journal.close()
    compress_segment(list_segments(tmp_path)[0].file_path)
    journal = JournalWriter(tmp_path)
    add(journal)
    journal.close()
    assert numbers(tmp_path) == [1, 2, 3, 4, 5, 6]


def test_a_journal_cut_at_any_byte_loads_and_goes_on_without_a_hole(tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path)
    add(journal, 4)
    journal.close()
    (segment,) = list_segments(tmp_path)
    content = segment.file_path.read_bytes()
    for at in range(len(content) + 1):
        segment.file_path.write_bytes(content[:at])
        whole = content[:at].count(b"\n")
        assert [parse_record_line(text).seq for text in read_lines(segment)] == list(range(1, whole + 1))
        journal = JournalWriter(tmp_path)
        torn = at - (content.rfind(b"\n", 0, at) + 1)
        assert (journal.start_repair.cut_bytes if journal.start_repair else 0) == torn
        add(journal)
        journal.close()
        assert numbers(tmp_path) == list(range(1, whole + 2))
        for path in tmp_path.glob("*.jsonl"):
            path.unlink()


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path)
    with pytest.raises(RocketMQError, match="another process writes the journal"):
        JournalWriter(tmp_path)
    journal.close()
    JournalWriter(tmp_path).close()


def test_a_segment_is_full_by_size_or_by_age(tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path, JournalLimits(segment_bytes=1000, segment_millis=DAY))
    assert not journal.is_segment_full(NOW)
    add(journal)
    assert not journal.is_segment_full(NOW + DAY - 1)
    assert journal.is_segment_full(NOW + DAY)
    add(journal, 10)
    assert journal.is_segment_full(NOW)
    journal.close()


def test_a_segment_that_begins_with_a_large_record_is_full_when_as_much_again_follows_it(
    tmp_path: Path,
) -> None:
    journal = JournalWriter(tmp_path, JournalLimits(segment_bytes=1000))
    journal.append_lines(b"x" * 4999 + b"\n" + b"y" * 999 + b"\n", 2, NOW)
    assert not journal.is_segment_full(NOW)
    journal.append_lines(b"y" * 3998 + b"\n", 1, NOW)
    assert not journal.is_segment_full(NOW)
    journal.append_lines(b"\n", 1, NOW)
    assert journal.is_segment_full(NOW)
    journal.roll_segment()
    journal.append_lines(b"y" * 1000, 1, NOW)
    assert journal.is_segment_full(NOW)
    journal.close()


def test_a_segment_that_has_ended_is_compressed_and_the_open_one_is_not(tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path)
    for _ in range(3):
        journal.roll_segment()
        add(journal, 2)
    journal.tidy_segments(NOW)
    assert [segment.is_closed for segment in list_segments(tmp_path)] == [True, True, False]
    assert numbers(tmp_path) == [1, 2, 3, 4, 5, 6]
    journal.close()


def rolled(folder: Path, limits: JournalLimits, count: int = 5) -> JournalWriter:
    """A journal with a segment a day."""
    journal = JournalWriter(folder, limits)
    for day in range(count):
        journal.roll_segment()
        add(journal, 2, NOW + day * DAY)
    return journal


def test_segments_that_are_too_old_go(tmp_path: Path) -> None:
    journal = rolled(tmp_path, JournalLimits(keep_millis=2 * DAY))
    journal.tidy_segments(NOW + 4 * DAY)
    assert numbers(tmp_path) == [3, 4, 5, 6, 7, 8, 9, 10]
    journal.tidy_segments(NOW + 400 * DAY)
    assert numbers(tmp_path) == [9, 10]
    journal.close()


def test_the_oldest_segments_go_where_there_is_too_much(tmp_path: Path) -> None:
    journal = rolled(tmp_path, JournalLimits())
    journal.tidy_segments(NOW)
    sizes = [segment.file_path.stat().st_size for segment in list_segments(tmp_path)]
    journal.close()
    journal = JournalWriter(tmp_path, JournalLimits(keep_bytes=sum(sizes[-2:])))
    journal.tidy_segments(NOW)
    assert sum(segment.file_path.stat().st_size for segment in list_segments(tmp_path)) <= sum(sizes[-2:])
    assert len(list(tmp_path.glob("*.idx"))) <= len(list_segments(tmp_path))
    assert numbers(tmp_path)[-2:] == [9, 10]
    journal.close()


class Disk:
    """A file on a disk that has room for so many bytes, and takes a few at a time."""

    def __init__(self, path: Path, room: int) -> None:
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115
        self.room = room

    def write(self, data: memoryview) -> int:
        if not self.room:
            raise OSError(28, "No space left on device")
        count = self._file.write(data[: min(self.room, 7)])
        self.room -= count
        return count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def test_what_a_full_disk_refused_is_written_whole_as_soon_as_there_is_room(tmp_path: Path) -> None:
    disks: list[Disk] = []

    def opening(path: Path) -> Any:
        disks.append(Disk(path, room=len(written(1)) + 20))
        return disks[-1]

    journal = JournalWriter(tmp_path, open_file=opening)
    add(journal)
    for _ in range(3):
        with pytest.raises(OSError, match="No space left"):
            add(journal)
        assert numbers(tmp_path) == [1]
        assert journal.next_seq == 2
    disks[-1].room = 10_000
    add(journal, 2)
    assert numbers(tmp_path) == [1, 2, 3]
    journal.close()


def test_a_file_that_cannot_even_be_cut_is_given_up_for_another_one(tmp_path: Path) -> None:
    class Broken(Disk):
        def truncate(self, size: int) -> int:
            raise OSError(5, "Input/output error")

    disks: list[Disk] = []

    def opening(path: Path) -> Any:
        disks.append(Broken(path, len(written(1)) + 20) if not disks else Disk(path, 10_000))
        return disks[-1]

    journal = JournalWriter(tmp_path, open_file=opening)
    add(journal)
    for reason in ("No space left", "Input/output error"):
        with pytest.raises(OSError, match=reason):
            add(journal)
    add(journal, 2)
    journal.tidy_segments(NOW)
    journal.close()
    assert numbers(tmp_path) == [1, 2, 3]
    assert len(list_segments(tmp_path)) == 2


def test_sync_reaches_the_disk_once_for_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    journal = JournalWriter(tmp_path)
    monkeypatch.setattr(os, "fsync", synced.append)
    journal.sync_segment()
    assert synced == []
    add(journal)
    journal.sync_segment()
    assert len(synced) == 2  # the file and its folder
    journal.sync_segment()
    assert len(synced) == 2
    journal.close()


def test_every_file_of_a_journal_is_for_its_owner_alone(tmp_path: Path) -> None:
    umask_before = os.umask(0o022)
    try:
        journal = JournalWriter(tmp_path)
        add(journal)
        journal.roll_segment()
        add(journal, now=NOW + 1)
        journal.tidy_segments(NOW)
        journal.close()
    finally:
        os.umask(umask_before)
    modes = [(path.suffix, stat.S_IMODE(path.stat().st_mode)) for path in sorted(tmp_path.iterdir())]
    assert sorted(modes) == [(".idx", 0o600), (".jsonl", 0o600), (".lock", 0o600), (".zst", 0o400)]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a link to another user")
def test_no_link_of_another_user_decides_where_a_journal_is_written(tmp_path: Path) -> None:
    folder, victim = tmp_path / "journal", tmp_path / "victim"
    folder.mkdir()
    victim.write_bytes(b"precious")

    def plant_link(name: str) -> Path:
        (folder / name).symlink_to(victim)
        os.chown(folder / name, 12345, 12345, follow_symlinks=False)
        return folder / name

    lock = plant_link("journal.lock")
    with pytest.raises(PermissionError, match="another user"):
        JournalWriter(folder)
    lock.unlink()
    journal = JournalWriter(folder)
    segment = plant_link(segment_name(1, NOW))
    with pytest.raises(PermissionError, match="another user"):
        add(journal)
    segment.unlink()
    add(journal)
    journal.roll_segment()
    plant_link(f".{segment_name(1, NOW)}.zst.new")
    journal.tidy_segments(NOW)
    journal.close()
    assert victim.read_bytes() == b"precious"
    assert numbers(folder) == [1]
