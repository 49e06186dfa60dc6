"""The files of a journal: how they are named, read and closed.

`0000000000000001-20261121T140300000Z.jsonl` begins with record 1, at that time (UTC); names sort. A segment
is written to its end, then compressed (`.jsonl.zst`), and never touched again.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.history.records import BadRecord, OtherVersion, parse
from namesrv_core.storage import durable

_NAME = re.compile(r"(\d{16})-(\d{8}T\d{6})(\d{3})Z\.jsonl(\.zst)?")
_TIME = "%Y%m%dT%H%M%S"
_LEVEL = 9
# Snapshots and registrations say the same again at a distance; readers need as much memory as this.
_WINDOW_LOG = 24
_CHUNK = 1 << 20


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
    for path in folder.iterdir():
        parts = _NAME.fullmatch(path.name)
        if parts is None:
            continue
        first, text, millis, closed = parts.groups()
        begun = datetime.strptime(text, _TIME).replace(tzinfo=UTC)
        stem = path.name.removesuffix(".zst")
        # Both forms are there for a moment after it was compressed; the compressed one is complete.
        if closed or stem not in found:
            started = int(begun.timestamp()) * 1000 + int(millis)
            found[stem] = Segment(path, int(first), started, bool(closed))
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


def lines_at(segment: Segment, places: Sequence[int]) -> Iterator[bytes]:
    """The lines of a closed segment that begin at these bytes of its plain form, in order.

    BadSegment where it cannot be decompressed. OSError.
    """
    left = iter(places)
    place = next(left, None)
    if place is None:
        return
    begun, kept = 0, b""
    for chunk in _inflated(segment.path):
        kept += chunk
        while place is not None and (end := kept.find(b"\n", place - begun) + 1):
            yield kept[place - begun : end]
            place = next(left, None)
        if place is None:
            return
        # What may be of the line that is wanted next is kept.
        cut = min(place - begun, len(kept))
        begun, kept = begun + cut, kept[cut:]


def _read(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


def _inflated(path: Path) -> Iterator[bytes]:
    # 10 ms that only those pay who read closed segments.
    import zstandard

    with path.open("rb") as file:
        try:
            yield from zstandard.ZstdDecompressor().read_to_iter(file)
        except zstandard.ZstdError as error:
            raise BadSegment(f"{path} cannot be decompressed: {error}") from None


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
    last = b""
    try:
        for line in lines(segment):
            last = line
        return parse(last).seq
    except (BadRecord, BadSegment):
        return segment.first - 1 if not last else max(segment.first, parse(last).seq)


def compress(path: Path) -> Path:
    """Close a segment: its compressed form, read-only, takes its place, whole or not at all. OSError."""
    import zstandard

    closed = path.with_name(f"{path.name}.zst")
    fresh = path.with_name(f".{closed.name}.new")
    parameters = zstandard.ZstdCompressionParameters.from_level(
        _LEVEL, window_log=_WINDOW_LOG, enable_ldm=True, write_checksum=True
    )
    try:
        with path.open("rb") as source, fresh.open("wb") as sink:
            size = path.stat().st_size
            zstandard.ZstdCompressor(compression_params=parameters).copy_stream(source, sink, size=size)
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
