"""Files of a journal: names that sort, whole lines, closed ones compressed and left alone."""

from pathlib import Path

import pytest
import zstandard

from namesrv_core.events import KvPut
from namesrv_core.history.lines import line
from namesrv_core.history.records import Origin
from namesrv_core.storage import segments
from namesrv_core.storage.segments import BadSegment, Segment, compress, last_number, lines, name, tail

NOW = 1_763_733_780_123


def written(seq: int) -> bytes:
    return line(seq, "s", Origin(NOW + seq, "test"), KvPut("n", f"k{seq}", None, "v" * 50))


def segment(folder: Path, first: int = 1, count: int = 3, more: bytes = b"") -> Path:
    path = folder / name(first, NOW + first)
    path.write_bytes(b"".join(map(written, range(first, first + count))) + more)
    return path


def only(folder: Path) -> Segment:
    (found,) = segments.segments(folder)
    return found


def test_a_name_says_the_first_number_and_the_time_to_the_millisecond(tmp_path: Path) -> None:
    path = segment(tmp_path, 12)
    assert path.name == "0000000000000012-20251121T140300135Z.jsonl"
    assert only(tmp_path) == Segment(path, 12, NOW + 12, False)


def test_segments_are_listed_oldest_first_and_other_files_are_passed_over(tmp_path: Path) -> None:
    for first in (1000, 9, 100):
        segment(tmp_path, first)
    compress(segment(tmp_path, 5))
    (tmp_path / "journal.lock").touch()
    (tmp_path / ".0000000000000001-20251121T140300135Z.jsonl.zst.new").touch()
    assert [found.first for found in segments.segments(tmp_path)] == [5, 9, 100, 1000]


def test_a_folder_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        segments.segments(tmp_path / "none")


@pytest.mark.parametrize("closed", [False, True])
def test_whole_lines_are_read_and_a_torn_one_is_left_out(tmp_path: Path, closed: bool) -> None:
    path = segment(tmp_path, more=b'{"v":1,"se')
    if closed:
        compress(path)
    assert list(lines(only(tmp_path))) == [written(seq) for seq in (1, 2, 3)]


def test_lines_that_are_longer_than_a_read_come_whole(tmp_path: Path) -> None:
    path = tmp_path / name(1, NOW)
    long = [b"x" * 3_000_000 + b"\n", b"\n", b"y" * 1_048_575 + b"\n", b"z\n"]
    path.write_bytes(b"".join(long))
    assert list(lines(only(tmp_path))) == long


def test_a_closed_segment_is_small_read_only_and_takes_the_place_of_the_open_one(tmp_path: Path) -> None:
    path = segment(tmp_path, count=500)
    size = path.stat().st_size
    closed = compress(path)
    assert not path.exists()
    assert closed.stat().st_mode & 0o222 == 0
    assert closed.stat().st_size < size / 10
    assert only(tmp_path) == Segment(closed, 1, NOW + 1, True)


def test_a_segment_that_was_closed_since_it_was_listed_is_read_all_the_same(tmp_path: Path) -> None:
    path = segment(tmp_path)
    listed = only(tmp_path)
    compress(path)
    assert list(lines(listed)) == [written(seq) for seq in (1, 2, 3)]


def test_of_both_forms_the_closed_one_counts(tmp_path: Path) -> None:
    path = segment(tmp_path)
    content = path.read_bytes()
    compress(path)
    path.write_bytes(content)
    assert only(tmp_path).is_closed


def test_what_cannot_be_decompressed_is_named(tmp_path: Path) -> None:
    closed = compress(segment(tmp_path, count=3000))
    content = closed.read_bytes()
    closed.chmod(0o644)
    closed.write_bytes(content[:2000] + bytes(50) + content[2050:])
    with pytest.raises(BadSegment, match="cannot be decompressed"):
        list(lines(only(tmp_path)))
    assert last_number(only(tmp_path)) >= 0


@pytest.mark.parametrize(
    "garbage", [b"", b"{", b'{"v":1,"seq":4', b"\x00" * 300, b"\x00\n\x00\n", b"no\n{}\n"]
)
def test_the_tail_is_behind_the_last_whole_record(tmp_path: Path, garbage: bytes) -> None:
    path = segment(tmp_path, more=garbage)
    assert tail(path) == (path.stat().st_size - len(garbage), 3)


def test_a_segment_without_a_record_has_no_last_one(tmp_path: Path) -> None:
    path = segment(tmp_path, 9, count=0, more=b'{"v":1')
    assert tail(path) == (0, None)
    assert last_number(only(tmp_path)) == 8


@pytest.mark.parametrize("closed", [False, True])
def test_the_last_number_of_a_segment(tmp_path: Path, closed: bool) -> None:
    path = segment(tmp_path, 9, count=4)
    if closed:
        compress(path)
    assert last_number(only(tmp_path)) == 12


def test_the_last_number_of_a_closed_segment_that_ends_in_what_is_no_record(tmp_path: Path) -> None:
    compress(segment(tmp_path, 9, count=4, more=b"{}\n"))
    assert last_number(only(tmp_path)) == 12


def test_the_plain_form_of_a_compressed_segment_is_removed(tmp_path: Path) -> None:
    path = segment(tmp_path)
    content = path.read_bytes()
    closed = compress(path)
    path.write_bytes(content)
    still_open = segment(tmp_path, 20)
    segments.remove_twins(tmp_path)
    assert sorted(tmp_path.iterdir()) == [closed, still_open]


def test_what_a_newer_program_wrote_is_not_cut(tmp_path: Path) -> None:
    path = segment(tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"v":1,', b'"v":2,'))
    with pytest.raises(BadSegment, match="of a newer program: schema version 2"):
        tail(path)


def test_a_disk_without_room_leaves_the_open_segment_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = segment(tmp_path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        compress(path)
    assert list(tmp_path.iterdir()) == [path]


def test_lines_at_places_of_whatever_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [b"x" * length + b"\n" for length in (0, 5, 1, 400, 3, 70_000, 2)]
    begins = [sum(map(len, texts[:number])) for number in range(len(texts))]
    for size, number_of_frames in ((1, 6), (300, 3), (1 << 20, 1)):
        monkeypatch.setattr(segments, "_FRAME", size)
        path = tmp_path / segments.name(1, size)
        path.write_bytes(b"".join(texts))
        closed = Segment(compress(path), 1, size, True)
        frames = [frame for frame, _ in segments.frames(closed)]
        assert len(frames) == number_of_frames
        assert list(lines(closed)) == texts
        for chosen in ([], [0], [3, 5], [1, 2, 6], range(len(texts))):
            found = list(segments.lines_at(closed, [begins[number] for number in chosen], frames))
            assert found == [texts[number] for number in chosen]


def test_one_frame_is_read_where_another_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_FRAME", 1000)
    closed = Segment(compress(segment(tmp_path, count=100)), 1, 0, True)
    frames = [frame for frame, _ in segments.frames(closed)]
    texts = list(lines(closed))
    closed.path.chmod(0o644)
    content = bytearray(closed.path.read_bytes())
    content[frames[1].begin + 20 : frames[1].begin + 30] = bytes(10)
    closed.path.write_bytes(content)
    assert set(segments.lines_at(closed, [frames[2].plain], frames)) < set(texts)
    with pytest.raises(BadSegment, match="cannot be decompressed"):
        list(segments.lines_at(closed, [frames[1].plain], frames))
    closed.path.write_bytes(content[: frames[3].begin + 40])
    with pytest.raises(BadSegment, match="it ends too early"):
        list(segments.lines_at(closed, [frames[3].plain], frames))


def test_other_programs_read_all_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_FRAME", 1000)
    path = segment(tmp_path, count=100)
    content = path.read_bytes()
    with compress(path).open("rb") as file:
        reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        assert reader.read() == content
