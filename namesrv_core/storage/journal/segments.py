"""The segment files of a journal: their names, reading and compression.

`0000000000000001-20261121T140300000Z.jsonl` begins with record 1 at that time (UTC), so names sort by age.
A full segment is compressed (`.jsonl.zst`) and never changes again. It consists of zstd frames of one MiB,
each with whole lines, so that a reader decompresses only the frame of the line that it needs.
"""

import os
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple

from namesrv_core import bounded_inflation
from namesrv_core.bounded_inflation import InflatedData
from namesrv_core.errors import RocketMQError
from namesrv_core.history.record_lines import parse_record_line
from namesrv_core.history.records import InvalidRecordError, OtherSchemaVersionError
from namesrv_core.storage import atomic_write

_NAME_PATTERN = re.compile(r"(\d{16})-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.jsonl(\.zst)?")
_TIME_FORMAT = "%Y%m%dT%H%M%S"
_ZSTD_LEVEL, _FAST_ZSTD_LEVEL = 9, 1
_CHUNK_BYTES = _FRAME_BYTES = 1 << 20
_LAST_LINES = 1000
"""How many last lines of a closed segment are searched for a readable record."""


class InvalidSegmentError(RocketMQError):
    """A segment cannot be read. The message names the file and the reason."""


class JournalSegment(NamedTuple):
    """A file of a journal. `first_seq` is the number of its first record."""

    file_path: Path
    first_seq: int
    started_at_ms: int
    is_closed: bool


class SegmentTail(NamedTuple):
    """The size of an open segment's whole records, and the number of the last one (None without records)."""

    whole_bytes: int
    last_seq: int | None


def segment_name(first_seq: int, now_ms: int) -> str:
    """The file name of a segment that begins at `now_ms`."""
    seconds, millis = divmod(now_ms, 1000)
    return f"{first_seq:016d}-{datetime.fromtimestamp(seconds, UTC):{_TIME_FORMAT}}{millis:03d}Z.jsonl"


def list_segments(journal_folder: Path) -> list[JournalSegment]:
    """List a journal's segments, oldest first. Raises OSError if the folder does not exist."""
    segments_by_stem: dict[str, JournalSegment] = {}
    for file_name in os.listdir(journal_folder):
        name_match = _NAME_PATTERN.fullmatch(file_name)
        if name_match is None:
            continue
        first_seq, *start_parts, millis_text, zst_suffix = name_match.groups()
        plain_name = file_name.removesuffix(".zst")
        # Both forms exist until the plain one is removed. The compressed one is complete.
        if zst_suffix or plain_name not in segments_by_stem:
            # Not strptime, which is too slow for the thousands of segments of a year.
            year, month, day, hour, minute, second = map(int, start_parts)
            start_time = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
            started_at_ms = int(start_time.timestamp()) * 1000 + int(millis_text)
            segments_by_stem[plain_name] = JournalSegment(
                journal_folder / file_name, int(first_seq), started_at_ms, bool(zst_suffix)
            )
    return [segments_by_stem[plain_name] for plain_name in sorted(segments_by_stem)]


def read_lines(journal_segment: JournalSegment) -> Iterator[bytes]:
    """Read a segment's lines with their line ends, without an incomplete last line.

    Raises InvalidSegmentError after the readable lines if decompression fails, and OSError.
    """
    if journal_segment.is_closed:
        yield from _split_whole_lines(_read_inflated(journal_segment.file_path), journal_segment.file_path)
        return
    try:
        segment_file = journal_segment.file_path.open("rb")
    except FileNotFoundError:
        # The segment was compressed after it was listed.
        closed_path = journal_segment.file_path.with_name(f"{journal_segment.file_path.name}.zst")
        yield from _split_whole_lines(_read_inflated(closed_path), closed_path)
        return
    with segment_file:
        yield from _split_whole_lines(_read_chunks(segment_file), journal_segment.file_path)


class SegmentFrame(NamedTuple):
    """The start of a frame, in the file and in the plain segment."""

    file_offset: int
    plain_offset: int


def read_lines_at(
    journal_segment: JournalSegment, plain_offsets: Sequence[int], segment_frames: Sequence[SegmentFrame]
) -> Iterator[bytes]:
    """Read the lines of a closed segment that begin at these offsets of the plain segment, in order.

    `segment_frames` are all of its frames. Raises InvalidSegmentError and OSError.
    """
    with journal_segment.file_path.open("rb") as segment_file:
        frame_index, frame_content = -1, b""
        for line_offset in plain_offsets:
            wanted_index = (
                bisect_right(
                    segment_frames, line_offset, key=lambda segment_frame: segment_frame.plain_offset
                )
                - 1
            )
            if wanted_index < 0:
                raise InvalidSegmentError(f'damaged index of "{journal_segment.file_path}"')
            if wanted_index != frame_index:
                frame_index, frame_content = (
                    wanted_index,
                    _read_frame(
                        segment_file,
                        journal_segment.file_path,
                        segment_frames[wanted_index : wanted_index + 2],
                    ),
                )
            line_start = line_offset - segment_frames[frame_index].plain_offset
            yield frame_content[line_start : frame_content.find(b"\n", line_start) + 1]


def _read_frame(segment_file: BinaryIO, segment_path: Path, frame_bounds: Sequence[SegmentFrame]) -> bytes:
    """Read the content of the first frame in `frame_bounds`; the second, if any, marks its end."""
    segment_file.seek(frame_bounds[0].file_offset)
    frame_bytes = segment_file.read(
        frame_bounds[1].file_offset - frame_bounds[0].file_offset if len(frame_bounds) > 1 else -1
    )
    max_bytes = bounded_inflation.max_inflated_bytes(len(frame_bytes))
    return _require_whole(bounded_inflation.inflate_zstd_frame(frame_bytes, max_bytes), segment_path).content


def _require_whole(inflated_frame: InflatedData, segment_path: Path) -> InflatedData:
    if inflated_frame.problem_text is not None:
        raise InvalidSegmentError(f'cannot decompress "{segment_path}": {inflated_frame.problem_text}')
    return inflated_frame


def read_frames(closed_segment: JournalSegment) -> Iterator[tuple[SegmentFrame, bytes]]:
    """Read a closed segment's frames and their contents. The last content is partial if the file is damaged.

    Raises InvalidSegmentError after everything that could be decompressed, and OSError.
    """
    file_data = memoryview(closed_segment.file_path.read_bytes())
    file_offset = plain_offset = 0
    while file_offset < len(file_data):
        # The limit applies to the whole segment: many small frames inflate as far as a large one.
        inflated_frame = bounded_inflation.inflate_zstd_frame(
            file_data[file_offset:], bounded_inflation.max_inflated_bytes(len(file_data)) - plain_offset
        )
        yield SegmentFrame(file_offset, plain_offset), inflated_frame.content
        _require_whole(inflated_frame, closed_segment.file_path)
        file_offset += inflated_frame.compressed_bytes
        plain_offset += len(inflated_frame.content)


def _read_chunks(segment_file: BinaryIO) -> Iterator[bytes]:
    while chunk := segment_file.read(_CHUNK_BYTES):
        yield chunk


def _read_inflated(segment_path: Path) -> Iterator[bytes]:
    return (frame_content for _, frame_content in read_frames(JournalSegment(segment_path, 0, 0, True)))


def _split_whole_lines(byte_chunks: Iterator[bytes], segment_path: Path) -> Iterator[bytes]:
    line_pieces: list[bytes] = []
    for byte_chunk in byte_chunks:
        line_start = 0
        while line_end := byte_chunk.find(b"\n", line_start) + 1:
            line_pieces.append(byte_chunk[line_start:line_end])
            yield b"".join(line_pieces)
            line_pieces, line_start = [], line_end
        line_pieces.append(byte_chunk[line_start:])


def find_tail(segment_path: Path) -> SegmentTail:
    """Find where the whole records of an open segment end. A killed process can leave a partial one.

    Raises InvalidSegmentError if a newer program wrote the segment, and OSError.
    """
    file_content = segment_path.read_bytes()
    whole_bytes = file_content.rfind(b"\n") + 1
    while whole_bytes:
        line_start = file_content.rfind(b"\n", 0, whole_bytes - 1) + 1
        try:
            return SegmentTail(whole_bytes, parse_record_line(file_content[line_start:whole_bytes]).seq)
        except OtherSchemaVersionError as error:
            raise InvalidSegmentError(f'a newer nsadmin wrote "{segment_path}": {error}') from None
        except InvalidRecordError:
            whole_bytes = line_start
    return SegmentTail(0, None)


def find_last_seq(journal_segment: JournalSegment) -> int:
    """The number of a segment's last readable record. Without one, the number before its first record."""
    if not journal_segment.is_closed:
        return find_tail(journal_segment.file_path).last_seq or journal_segment.first_seq - 1
    last_lines: deque[bytes] = deque(maxlen=_LAST_LINES)
    with suppress(InvalidSegmentError):
        last_lines.extend(read_lines(journal_segment))
    for line_bytes in reversed(last_lines):
        with suppress(InvalidRecordError):
            return parse_record_line(line_bytes).seq
    return journal_segment.first_seq - 1


def compress_segment(plain_path: Path, is_hurried: bool = False) -> Path:
    """Replace an ended segment atomically by its compressed, read-only form. Raises OSError.

    If `is_hurried`, the file is a little larger, but compression is up to ten times as fast.
    """
    import zstandard

    closed_path = plain_path.with_name(f"{plain_path.name}.zst")
    temporary_path = plain_path.with_name(f".{closed_path.name}.new")
    compressor = zstandard.ZstdCompressor(
        level=_FAST_ZSTD_LEVEL if is_hurried else _ZSTD_LEVEL, write_checksum=True
    )
    try:
        with (
            plain_path.open("rb") as plain_file,
            atomic_write.open_new_file(temporary_path) as compressed_file,
        ):
            while frame_lines := plain_file.readlines(_FRAME_BYTES):
                compressed_file.write(compressor.compress(b"".join(frame_lines)))
            compressed_file.flush()
            os.fsync(compressed_file.fileno())
        temporary_path.chmod(0o400)
        os.replace(temporary_path, closed_path)
    except OSError:
        with suppress(OSError):
            temporary_path.unlink()
        raise
    atomic_write.sync_folder(plain_path.parent)
    plain_path.unlink()
    return closed_path


def remove_plain_twins(journal_folder: Path) -> None:
    """Remove plain segments that also exist compressed, which a killed process can leave. Raises OSError."""
    for journal_segment in list_segments(journal_folder):
        if journal_segment.is_closed:
            journal_segment.file_path.with_suffix("").unlink(missing_ok=True)
