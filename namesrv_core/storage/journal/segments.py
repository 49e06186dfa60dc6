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
    seconds, millis = divmod(now_ms, 1000)
    return f"{first_seq:016d}-{datetime.fromtimestamp(seconds, UTC):{_TIME_FORMAT}}{millis:03d}Z.jsonl"


def list_segments(folder: Path) -> list[JournalSegment]:
    """List a journal's segments, oldest first. Raises OSError if the folder does not exist."""
    segments: dict[str, JournalSegment] = {}
    for name in os.listdir(folder):
        match = _NAME_PATTERN.fullmatch(name)
        if match is None:
            continue
        first_seq, *parts, millis_text, zst_suffix = match.groups()
        plain_name = name.removesuffix(".zst")
        # Both forms exist until the plain one is removed. The compressed one is complete.
        if zst_suffix or plain_name not in segments:
            # Not strptime, which is too slow for the thousands of segments of a year.
            year, month, day, hour, minute, second = map(int, parts)
            start_time = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
            started_at_ms = int(start_time.timestamp()) * 1000 + int(millis_text)
            segments[plain_name] = JournalSegment(
                folder / name, int(first_seq), started_at_ms, bool(zst_suffix)
            )
    return [segments[name] for name in sorted(segments)]


def find_journals(folder: Path) -> list[Path]:
    """Find the journals in a folder: itself, or those up to two levels below, as a collector or a lab has.

    A folder without any is returned as it is: its reader says what is wrong.
    """
    try:
        if list_segments(folder):
            return [folder]
        subfolders = sorted(f for pattern in ("*", "*/*") for f in folder.glob(pattern) if f.is_dir())
        return [f for f in subfolders if list_segments(f)] or [folder]
    except OSError:
        return [folder]


def read_lines(segment: JournalSegment) -> Iterator[bytes]:
    """Read a segment's lines with their line ends, without an incomplete last line.

    Raises InvalidSegmentError after the readable lines if decompression fails, and OSError.
    """
    if segment.is_closed:
        yield from _split_whole_lines(_read_inflated(segment.file_path), segment.file_path)
        return
    try:
        file = segment.file_path.open("rb")
    except FileNotFoundError:
        # The segment was compressed after it was listed.
        closed = segment.file_path.with_name(f"{segment.file_path.name}.zst")
        yield from _split_whole_lines(_read_inflated(closed), closed)
        return
    with file:
        yield from _split_whole_lines(_read_chunks(file), segment.file_path)


class SegmentFrame(NamedTuple):
    file_offset: int
    plain_offset: int


def read_lines_at(
    segment: JournalSegment, offsets: Sequence[int], frames: Sequence[SegmentFrame]
) -> Iterator[bytes]:
    """Read the lines of a closed segment that begin at these offsets of the plain segment, in order.

    `frames` are all of its frames. Raises InvalidSegmentError and OSError.
    """
    with segment.file_path.open("rb") as file:
        index, content = -1, b""
        for offset in offsets:
            wanted_index = bisect_right(frames, offset, key=lambda frame: frame.plain_offset) - 1
            if wanted_index < 0:
                raise InvalidSegmentError(f'damaged index of "{segment.file_path}"')
            if wanted_index != index:
                index, content = (
                    wanted_index,
                    _read_frame(file, segment.file_path, frames[wanted_index : wanted_index + 2]),
                )
            start = offset - frames[index].plain_offset
            yield content[start : content.find(b"\n", start) + 1]


def _read_frame(file: BinaryIO, path: Path, bounds: Sequence[SegmentFrame]) -> bytes:
    """Read the content of the first frame in `bounds`; the second, if any, marks its end."""
    file.seek(bounds[0].file_offset)
    frame_bytes = file.read(bounds[1].file_offset - bounds[0].file_offset if len(bounds) > 1 else -1)
    max_bytes = bounded_inflation.max_inflated_bytes(len(frame_bytes))
    return _require_whole(bounded_inflation.inflate_zstd_frame(frame_bytes, max_bytes), path).content


def _require_whole(inflated: InflatedData, path: Path) -> InflatedData:
    if inflated.problem_text is not None:
        raise InvalidSegmentError(f'cannot decompress "{path}": {inflated.problem_text}')
    return inflated


def read_frames(segment: JournalSegment) -> Iterator[tuple[SegmentFrame, bytes]]:
    """Read a closed segment's frames and their contents. The last content is partial if the file is damaged.

    Raises InvalidSegmentError after everything that could be decompressed, and OSError.
    """
    data = memoryview(segment.file_path.read_bytes())
    offset = plain_offset = 0
    while offset < len(data):
        # The limit applies to the whole segment: many small frames inflate as far as a large one.
        inflated = bounded_inflation.inflate_zstd_frame(
            data[offset:], bounded_inflation.max_inflated_bytes(len(data)) - plain_offset
        )
        yield SegmentFrame(offset, plain_offset), inflated.content
        _require_whole(inflated, segment.file_path)
        offset += inflated.compressed_bytes
        plain_offset += len(inflated.content)


def _read_chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK_BYTES):
        yield chunk


def _read_inflated(path: Path) -> Iterator[bytes]:
    return (content for _, content in read_frames(JournalSegment(path, 0, 0, True)))


def _split_whole_lines(chunks: Iterator[bytes], path: Path) -> Iterator[bytes]:
    pieces: list[bytes] = []
    for chunk in chunks:
        start = 0
        while line_end := chunk.find(b"\n", start) + 1:
            pieces.append(chunk[start:line_end])
            yield b"".join(pieces)
            pieces, start = [], line_end
        pieces.append(chunk[start:])


def find_tail(path: Path) -> SegmentTail:
    """Find where the whole records of an open segment end. A killed process can leave a partial one.

    Raises InvalidSegmentError if a newer program wrote the segment, and OSError.
    """
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    while whole:
        start = content.rfind(b"\n", 0, whole - 1) + 1
        try:
            return SegmentTail(whole, parse_record_line(content[start:whole]).seq)
        except OtherSchemaVersionError as error:
            raise InvalidSegmentError(f'a newer nsadmin wrote "{path}": {error}') from None
        except InvalidRecordError:
            whole = start
    return SegmentTail(0, None)


def find_last_seq(segment: JournalSegment) -> int:
    """The number of a segment's last readable record. Without one, the number before its first record."""
    if not segment.is_closed:
        return find_tail(segment.file_path).last_seq or segment.first_seq - 1
    last_lines: deque[bytes] = deque(maxlen=_LAST_LINES)
    with suppress(InvalidSegmentError):
        last_lines.extend(read_lines(segment))
    for line in reversed(last_lines):
        with suppress(InvalidRecordError):
            return parse_record_line(line).seq
    return segment.first_seq - 1


def compress_segment(plain_path: Path, is_hurried: bool = False) -> Path:
    """Replace an ended segment atomically by its compressed, read-only form. Raises OSError.

    If `is_hurried`, the file is a little larger, but compression is up to ten times as fast.
    """
    import zstandard

    closed = plain_path.with_name(f"{plain_path.name}.zst")
    temporary = plain_path.with_name(f".{closed.name}.new")
    compressor = zstandard.ZstdCompressor(
        level=_FAST_ZSTD_LEVEL if is_hurried else _ZSTD_LEVEL, write_checksum=True
    )
    try:
        with plain_path.open("rb") as plain, atomic_write.open_new_file(temporary) as compressed:
            while lines := plain.readlines(_FRAME_BYTES):
                compressed.write(compressor.compress(b"".join(lines)))
            compressed.flush()
            os.fsync(compressed.fileno())
        temporary.chmod(0o400)
        os.replace(temporary, closed)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise
    atomic_write.sync_folder(plain_path.parent)
    plain_path.unlink()
    return closed


def remove_plain_twins(folder: Path) -> None:
    """Remove plain segments that also exist compressed, which a killed process can leave. Raises OSError."""
    for segment in list_segments(folder):
        if segment.is_closed:
            segment.file_path.with_suffix("").unlink(missing_ok=True)
