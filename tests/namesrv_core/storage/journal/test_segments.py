"""Files of a journal: names that sort, whole lines, closed ones compressed and left alone."""

from pathlib import Path

import pytest
import zstandard

from namesrv_core import bounded_inflation
from namesrv_core.events import KvPut
from namesrv_core.history.record_lines import encode_record_line
from namesrv_core.history.records import RecordOrigin
from namesrv_core.storage.journal import segments
from namesrv_core.storage.journal.segments import (
    InvalidSegmentError,
    JournalSegment,
    compress_segment,
    find_last_seq,
    find_tail,
    read_lines,
    segment_name,
)
from tests.support.bounded_process import run_bounded

NOW = 1_763_733_780_123


def written(seq: int) -> bytes:
    return encode_record_line(
        seq, "s", RecordOrigin(NOW + seq, "test"), KvPut("n", f"k{seq}", None, "v" * 50)
    )


def segment(folder: Path, first: int = 1, count: int = 3, more: bytes = b"") -> Path:
    path = folder / segment_name(first, NOW + first)
    path.write_bytes(b"".join(map(written, range(first, first + count))) + more)
    return path


def only(folder: Path) -> JournalSegment:
    (segment,) = segments.list_segments(folder)
    return segment


def test_a_name_says_the_first_number_and_the_time_to_the_millisecond(tmp_path: Path) -> None:
    path = segment(tmp_path, 12)
    assert path.name == "0000000000000012-20251121T140300135Z.jsonl"
    assert only(tmp_path) == JournalSegment(path, 12, NOW + 12, False)


def test_segments_are_listed_oldest_first_and_other_files_are_passed_over(tmp_path: Path) -> None:
    for first in (1000, 9, 100):
        segment(tmp_path, first)
    compress_segment(segment(tmp_path, 5))
    (tmp_path / "journal.lock").touch()
    (tmp_path / ".0000000000000001-20251121T140300135Z.jsonl.zst.new").touch()
    assert [s.first_seq for s in segments.list_segments(tmp_path)] == [5, 9, 100, 1000]


def test_a_folder_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        segments.list_segments(tmp_path / "none")


@pytest.mark.parametrize("closed", [False, True])
def test_whole_lines_are_read_and_a_torn_one_is_left_out(tmp_path: Path, closed: bool) -> None:
    path = segment(tmp_path, more=b'{"v":1,"se')
    if closed:
        compress_segment(path)
    assert list(read_lines(only(tmp_path))) == [written(seq) for seq in (1, 2, 3)]


def test_lines_that_are_longer_than_a_read_come_whole(tmp_path: Path) -> None:
    path = tmp_path / segment_name(1, NOW)
    long = [b"x" * 3_000_000 + b"\n", b"\n", b"y" * 1_048_575 + b"\n", b"z\n"]
    path.write_bytes(b"".join(long))
    assert list(read_lines(only(tmp_path))) == long


def test_a_closed_segment_is_small_read_only_and_takes_the_place_of_the_open_one(tmp_path: Path) -> None:
    path = segment(tmp_path, count=500)
    size = path.stat().st_size
    closed = compress_segment(path)
    assert not path.exists()
    assert closed.stat().st_mode & 0o222 == 0
    assert closed.stat().st_size < size / 10
    assert only(tmp_path) == JournalSegment(closed, 1, NOW + 1, True)


def test_a_segment_that_was_closed_since_it_was_listed_is_read_all_the_same(tmp_path: Path) -> None:
    path = segment(tmp_path)
    listed = only(tmp_path)
    compress_segment(path)
    assert list(read_lines(listed)) == [written(seq) for seq in (1, 2, 3)]


def test_of_both_forms_the_closed_one_counts(tmp_path: Path) -> None:
    path = segment(tmp_path)
    content = path.read_bytes()
    compress_segment(path)
    path.write_bytes(content)
    assert only(tmp_path).is_closed


def test_what_cannot_be_decompressed_is_named(tmp_path: Path) -> None:
    closed = compress_segment(segment(tmp_path, count=3000))
    content = closed.read_bytes()
    closed.chmod(0o644)
    closed.write_bytes(content[:2000] + bytes(50) + content[2050:])
    with pytest.raises(InvalidSegmentError, match="cannot decompress"):
        list(read_lines(only(tmp_path)))
    assert find_last_seq(only(tmp_path)) >= 0


@pytest.mark.parametrize(
    "garbage", [b"", b"{", b'{"v":1,"seq":4', b"\x00" * 300, b"\x00\n\x00\n", b"no\n{}\n"]
)
def test_the_tail_is_behind_the_last_whole_record(tmp_path: Path, garbage: bytes) -> None:
    path = segment(tmp_path, more=garbage)
    assert find_tail(path) == (path.stat().st_size - len(garbage), 3)


def test_a_segment_without_a_record_has_no_last_one(tmp_path: Path) -> None:
    path = segment(tmp_path, 9, count=0, more=b'{"v":1')
    assert find_tail(path) == (0, None)
    assert find_last_seq(only(tmp_path)) == 8


@pytest.mark.parametrize("closed", [False, True])
def test_the_last_number_of_a_segment(tmp_path: Path, closed: bool) -> None:
    path = segment(tmp_path, 9, count=4)
    if closed:
        compress_segment(path)
    assert find_last_seq(only(tmp_path)) == 12


def test_the_last_number_of_a_closed_segment_that_ends_in_what_is_no_record(tmp_path: Path) -> None:
    compress_segment(segment(tmp_path, 9, count=4, more=b"{}\n"))
    assert find_last_seq(only(tmp_path)) == 12


def test_the_plain_form_of_a_compressed_segment_is_removed(tmp_path: Path) -> None:
    path = segment(tmp_path)
    content = path.read_bytes()
    closed = compress_segment(path)
    path.write_bytes(content)
    still_open = segment(tmp_path, 20)
    segments.remove_plain_twins(tmp_path)
    assert sorted(tmp_path.iterdir()) == [closed, still_open]


def test_what_a_newer_program_wrote_is_not_cut(tmp_path: Path) -> None:
    path = segment(tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"v":1,', b'"v":2,'))
    with pytest.raises(InvalidSegmentError, match=r"a newer nsadmin wrote .*: schema version 2"):
        find_tail(path)


def test_a_disk_without_room_leaves_the_open_segment_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = segment(tmp_path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        compress_segment(path)
    assert list(tmp_path.iterdir()) == [path]


def test_lines_at_places_of_whatever_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [b"x" * length + b"\n" for length in (0, 5, 1, 400, 3, 70_000, 2)]
    begins = [sum(map(len, texts[:number])) for number in range(len(texts))]
    for size, number_of_frames in ((1, 6), (300, 3), (1 << 20, 1)):
        monkeypatch.setattr(segments, "_FRAME_BYTES", size)
        path = tmp_path / segments.segment_name(1, size)
        path.write_bytes(b"".join(texts))
        closed = JournalSegment(compress_segment(path), 1, size, True)
        frames = [frame for frame, _ in segments.read_frames(closed)]
        assert len(frames) == number_of_frames
        assert list(read_lines(closed)) == texts
        for chosen in ([], [0], [3, 5], [1, 2, 6], range(len(texts))):
            lines = list(segments.read_lines_at(closed, [begins[number] for number in chosen], frames))
            assert lines == [texts[number] for number in chosen]


def test_one_frame_is_read_where_another_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_FRAME_BYTES", 1000)
    closed = JournalSegment(compress_segment(segment(tmp_path, count=100)), 1, 0, True)
    frames = [frame for frame, _ in segments.read_frames(closed)]
    texts = list(read_lines(closed))
    closed.file_path.chmod(0o644)
    content = bytearray(closed.file_path.read_bytes())
    content[frames[1].file_offset + 20 : frames[1].file_offset + 30] = bytes(10)
    closed.file_path.write_bytes(content)
    assert set(segments.read_lines_at(closed, [frames[2].plain_offset], frames)) < set(texts)
    with pytest.raises(InvalidSegmentError, match="cannot decompress"):
        list(segments.read_lines_at(closed, [frames[1].plain_offset], frames))
    closed.file_path.write_bytes(content[: frames[3].file_offset + 40])
    with pytest.raises(InvalidSegmentError, match="incomplete data"):
        list(segments.read_lines_at(closed, [frames[3].plain_offset], frames))


def test_other_programs_read_all_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_FRAME_BYTES", 1000)
    path = segment(tmp_path, count=100)
    content = path.read_bytes()
    with compress_segment(path).open("rb") as file:
        reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        assert reader.read() == content


def closed_segment(folder: Path, *frames: bytes) -> JournalSegment:
    path = folder / f"{segment_name(1, NOW)}.zst"
    path.write_bytes(b"".join(map(zstandard.ZstdCompressor().compress, frames)))
    return only(folder)


_READ_BOMB = """
from pathlib import Path
from namesrv_core.storage.journal import segments
read = 0
try:
    for line in segments.read_lines(segments.list_segments(Path(sys.argv[1]))[0]):
        read += len(line)
except segments.InvalidSegmentError as error:
    print(read, error)
"""


@pytest.mark.parametrize("empty_lines", [0, 1 << 22])
def test_a_segment_that_inflates_without_measure_is_damaged(tmp_path: Path, empty_lines: int) -> None:
    file = closed_segment(tmp_path, written(1), b"\n" * empty_lines + b" " * (700 << 20)).file_path
    limit = bounded_inflation.max_inflated_bytes(file.stat().st_size) - len(written(1))
    output = run_bounded(_READ_BOMB, str(tmp_path), megabytes=600)
    assert output.endswith(f'cannot decompress "{file}": the data inflates to more than {limit} bytes\n')


def test_the_limit_is_that_of_all_frames_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_inflation, "FREE_BYTES", 1 << 20)
    segment = closed_segment(tmp_path, *[b" " * 999_999 + b"\n"] * 100)
    sizes: list[int] = []
    with pytest.raises(InvalidSegmentError, match="inflates to more than"):
        sizes += map(len, read_lines(segment))
    assert sum(sizes) <= bounded_inflation.max_inflated_bytes(segment.file_path.stat().st_size)


def test_an_index_with_other_places_is_named(tmp_path: Path) -> None:
    segment = closed_segment(tmp_path, written(1))
    with pytest.raises(InvalidSegmentError, match=r'damaged index of ".*"'):
        list(segments.read_lines_at(segment, [0], []))
    with pytest.raises(InvalidSegmentError, match=r'damaged index of ".*"'):
        list(segments.read_lines_at(segment, [0], [segments.SegmentFrame(0, 5)]))
