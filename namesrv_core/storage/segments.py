"""The files of a journal: how they are named, read and closed.

`0000000000000001-20261121T140300000Z.jsonl` begins with record 1, at that time (UTC); names sort. A segment
is written to its end, then compressed (`.jsonl.zst`), and never touched again. Compressed it is a row of zstd
frames of a MiB, each of whole lines: who knows which line he wants decompresses no more than its frame.
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

from namesrv_core.errors import RocketMQError
from namesrv_core.history.lines import parse
from namesrv_core.history.records import BadRecord, OtherVersion
from namesrv_core.storage import durable

_NAME = re.compile(r"(\d{16})-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.jsonl(\.zst)?")
_TIME = "%Y%m%dT%H%M%S"
_LEVEL = 9
_CHUNK = _FRAME = 1 << 20
_PIECE = 1 << 16
_LOOKED_AT = 1000
"""Last lines of a closed segment among which there is a record, if it has one."""


class BadSegment(RocketMQError):
    """A file of a journal that cannot be read; the text names it and says why."""


class Segment(NamedTuple):
    """A file of a journal. `first` is the number of its first record, `started` when it was begun (ms)."""

    path: Path
    first: int
    started: int
    is_closed: bool


class Tail(NamedTuple):
    """Up to which byte an open segment has whole records, and the last one's number (None: no record)."""

    end: int
    last: int | None


def name(first: int, now: int) -> str:
    """The name of a segment that is begun at `now` (ms)."""
    seconds, millis = divmod(now, 1000)
    return f"{first:016d}-{datetime.fromtimestamp(seconds, UTC):{_TIME}}{millis:03d}Z.jsonl"


def segments(folder: Path) -> list[Segment]:
    """A journal's files, oldest first. OSError where there is no such folder."""
    found: dict[str, Segment] = {}
    for name in os.listdir(folder):
        parts = _NAME.fullmatch(name)
        if parts is None:
            continue
        first, *begun, millis, closed = parts.groups()
        stem = name.removesuffix(".zst")
        # Both forms are there until the plain one is removed; the compressed one is complete.
        if closed or stem not in found:
            # A year has thousands of segments, and strptime takes its time.
            year, month, day, hour, minute, second = map(int, begun)
            at = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
            started = int(at.timestamp()) * 1000 + int(millis)
            found[stem] = Segment(folder / name, int(first), started, bool(closed))
    return [found[stem] for stem in sorted(found)]


def lines(segment: Segment) -> Iterator[bytes]:
    """A segment's lines, each with its end; what stands behind the last end of a line is left out.

    BadSegment where it cannot be decompressed, after the lines that could. OSError.
    """
    if segment.is_closed:
        yield from _whole(_inflated(segment.path), segment.path)
        return
    try:
        file = segment.path.open("rb")
    except FileNotFoundError:
        # It has been closed since it was listed.
        closed = segment.path.with_name(f"{segment.path.name}.zst")
        yield from _whole(_inflated(closed), closed)
        return
    with file:
        yield from _whole(_read(file), segment.path)


class Frame(NamedTuple):
    """Where a frame begins: in the file, and in the plain segment."""

    begin: int
    plain: int


def lines_at(segment: Segment, places: Sequence[int], frames: Sequence[Frame]) -> Iterator[bytes]:
    """The lines of a closed segment that begin at these bytes of its plain form, in order.

    `frames` are all of its frames. BadSegment where one cannot be decompressed. OSError.
    """
    with segment.path.open("rb") as file:
        at, content = -1, b""
        for place in places:
            number = bisect_right(frames, place, key=lambda frame: frame.plain) - 1
            if number != at:
                at, content = number, _frame(file, segment.path, frames[number : number + 2])
            begin = place - frames[at].plain
            yield content[begin : content.find(b"\n", begin) + 1]


def _frame(file: BinaryIO, path: Path, bounds: Sequence[Frame]) -> bytes:
    """One frame's content: the first of `bounds`, up to the second if there is one."""
    file.seek(bounds[0].begin)
    data = file.read(bounds[1].begin - bounds[0].begin if len(bounds) > 1 else -1)
    content, is_whole, _ = _inflate(data, path)
    if not is_whole:
        raise BadSegment(f"{path} cannot be decompressed: it ends too early")
    return content


def frames(segment: Segment) -> Iterator[tuple[Frame, bytes]]:
    """A closed segment's frames with their contents, the last one perhaps only as far as it goes.

    BadSegment behind what could be decompressed. OSError.
    """
    data = memoryview(segment.path.read_bytes())
    begin = plain = 0
    while begin < len(data):
        content, is_whole, length = _inflate(data[begin:], segment.path)
        yield Frame(begin, plain), content
        if not is_whole:
            raise BadSegment(f"{segment.path} cannot be decompressed: it ends too early")
        begin, plain = begin + length, plain + len(content)


def _inflate(data: bytes | memoryview, path: Path) -> tuple[bytes, bool, int]:
    """The content of the frame that data begins with, whether it is all there, and its length."""
    # 10 ms that only those pay who read closed segments.
    import zstandard

    frame = zstandard.ZstdDecompressor().decompressobj()
    parts, at = [], 0
    try:
        while at < len(data) and not frame.eof:
            parts.append(frame.decompress(data[at : at + _PIECE]))
            at = min(at + _PIECE, len(data))
    except zstandard.ZstdError as error:
        raise BadSegment(f"{path} cannot be decompressed: {error}") from None
    return b"".join(parts), frame.eof, at - len(frame.unused_data)


def _read(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


def _inflated(path: Path) -> Iterator[bytes]:
    return (content for _, content in frames(Segment(path, 0, 0, True)))


def _whole(chunks: Iterator[bytes], path: Path) -> Iterator[bytes]:
    pieces: list[bytes] = []
    for chunk in chunks:
        head, found, rest = chunk.partition(b"\n")
        pieces.append(head + found)
        while found:
            yield b"".join(pieces)
            head, found, rest = rest.partition(b"\n")
            pieces = [head + found]


def tail(path: Path) -> Tail:
    """Where the whole records of an open segment end: behind them is what a killed process left.

    BadSegment where a newer program wrote it. OSError.
    """
    content = path.read_bytes()
    end = content.rfind(b"\n") + 1
    while end:
        begin = content.rfind(b"\n", 0, end - 1) + 1
        try:
            return Tail(end, parse(content[begin:end]).seq)
        except OtherVersion as error:
            raise BadSegment(f"{path} is of a newer program: {error}") from None
        except BadRecord:
            end = begin
    return Tail(0, None)


def last_number(segment: Segment) -> int:
    """The number of a segment's last record that can be read; the one before its first if there is none."""
    if not segment.is_closed:
        return tail(segment.path).last or segment.first - 1
    kept: deque[bytes] = deque(maxlen=_LOOKED_AT)
    with suppress(BadSegment):
        kept.extend(lines(segment))
    for line in reversed(kept):
        with suppress(BadRecord):
            return parse(line).seq
    return segment.first - 1


def compress(path: Path) -> Path:
    """Close a segment: its compressed form, read-only, takes its place, whole or not at all. OSError."""
    import zstandard

    closed = path.with_name(f"{path.name}.zst")
    fresh = path.with_name(f".{closed.name}.new")
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    try:
        with path.open("rb") as source, fresh.open("wb") as sink:
            while some := source.readlines(_FRAME):
                sink.write(compressor.compress(b"".join(some)))
            sink.flush()
            os.fsync(sink.fileno())
        fresh.chmod(0o444)
        os.replace(fresh, closed)
    except OSError:
        with suppress(OSError):
            fresh.unlink()
        raise
    durable.sync_folder(path.parent)
    path.unlink()
    return closed


def remove_twins(folder: Path) -> None:
    """Remove the plain forms of compressed segments: a process was killed between the two steps. OSError."""
    for segment in segments(folder):
        if segment.is_closed:
            segment.path.with_suffix("").unlink(missing_ok=True)
