"""The index of a closed segment: the offsets of the lines that mention a term, such as a topic or event type.

Layout of `0000000000000001-20251121T140300000Z.idx`, little-endian, all numbers uint32: magic, file size,
counts of frames, terms and lists; per frame its offset in the file and in the plain segment; sorted term
hashes (4 bytes each); per hash the number of its list; per list its start, and the end of the last list;
the lists themselves, which hold line offsets in the plain segment. An index can be rebuilt at any time.
A segment without an index is read completely.
"""

import mmap
import struct
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from pathlib import Path
from struct import Struct
from sys import byteorder
from typing import NamedTuple

from namesrv_core.history.record_lines import parse_record_line
from namesrv_core.history.records import InvalidRecordError
from namesrv_core.history.subject_filter import IndexTerms
from namesrv_core.storage import atomic_write
from namesrv_core.storage.journal.segments import (
    InvalidSegmentError,
    JournalSegment,
    SegmentFrame,
    read_frames,
)

_MAGIC_BYTES = b"NSINDEX2"
_INDEX_HEAD = Struct("<8sIIII")
_NUMBER_WORD = Struct("<I")
_LIST_BOUNDS = _FRAME_ENTRY = Struct("<II")
_HASH_BYTES = 4
_MAX_PLAIN_BYTES = 1 << 32


def index_path(path: Path) -> Path:
    return path.with_name(f"{path.name.removesuffix('.jsonl.zst')}.idx")


def index_bytes(path: Path) -> int:
    file = index_path(path)
    return file.stat().st_size if file.exists() else 0


class IndexedLines(NamedTuple):
    """Sorted line offsets in the plain segment, and the frames that contain the lines."""

    line_offsets: list[int]
    segment_frames: list[SegmentFrame]


def build_index(segment: JournalSegment) -> Path:
    """Write the index of a closed segment atomically. Raises InvalidSegmentError and OSError."""
    file = index_path(segment.file_path)
    atomic_write.replace_file(file, _encode_index(read_frames(segment)))
    return file


def _encode_index(contents: Iterable[tuple[SegmentFrame, bytes]]) -> bytes:
    offsets_by_term: dict[str, list[int]] = {}
    terms, frames = IndexTerms(), []
    for frame, content in contents:
        frames.append(frame)
        line_end = frame.plain_offset
        for line in content.splitlines(keepends=True):
            start, line_end = line_end, line_end + len(line)
            if line_end >= _MAX_PLAIN_BYTES:
                raise InvalidSegmentError("too long for an index")
            for term in _terms_of_line(terms, line):
                offsets_by_term.setdefault(term, []).append(start)
    return _pack_index(frames, {_hash_term(term): contents for term, contents in offsets_by_term.items()})


def _terms_of_line(terms: IndexTerms, line: bytes) -> Iterable[str]:
    """The terms of a record; none for a line that a reader would skip."""
    try:
        record = parse_record_line(line)
        return [*terms.terms_of_record(record), type_term(record.event_type)]
    except (InvalidRecordError, KeyError, TypeError, AttributeError):
        return ()


def type_term(type_name: str) -> str:
    return f"type {type_name}"


def _pack_index(frames: list[SegmentFrame], offsets: dict[bytes, list[int]]) -> bytes:
    """Encode the index. Equal lists are stored once: a broker's topics usually occur in the same lines."""
    hashes = sorted(offsets)
    list_numbers: dict[tuple[int, ...], int] = {}
    list_of_hash = [list_numbers.setdefault(tuple(offsets[o]), len(list_numbers)) for o in hashes]
    starts, flat = [0], list[int]()
    for offset_list in list_numbers:
        flat += offset_list
        starts.append(len(flat))
    bounds = [bound for frame in frames for bound in frame]
    body = b"".join(
        [
            _pack_numbers(bounds),
            *hashes,
            _pack_numbers(list_of_hash),
            _pack_numbers(starts),
            _pack_numbers(flat),
        ]
    )
    index_size = _INDEX_HEAD.size + len(body)
    return _INDEX_HEAD.pack(_MAGIC_BYTES, index_size, len(frames), len(hashes), len(list_numbers)) + body


def _pack_numbers(numbers: list[int]) -> bytes:
    packed = array("I", numbers)
    assert packed.itemsize == _NUMBER_WORD.size
    if byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def _hash_term(term: str) -> bytes:
    # Imported late, because hashlib also loads OpenSSL's digests.
    from hashlib import blake2b

    return blake2b(term.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES).digest()


def find_lines(
    path: Path, terms: Iterable[str] | None, event_types: Iterable[str] | None = None
) -> IndexedLines | None:
    """The lines that match one of the terms and one of the types; None if there is no readable index.

    None for terms or types matches all. The result can contain a few other lines, because of hash collisions.
    """
    try:
        with (
            index_path(path).open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            magic, index_size, *entry_counts = _INDEX_HEAD.unpack_from(data)
            if (magic, index_size) != (_MAGIC_BYTES, len(data)):
                return None
            table = _IndexTable(data, *entry_counts)
            offsets = None if terms is None else table.find_offsets(terms)
            if event_types is not None and offsets != set():
                offsets_of_types = table.find_offsets(map(type_term, event_types))
                offsets = offsets_of_types if offsets is None else offsets & offsets_of_types
            return (
                None
                if offsets is None
                else IndexedLines(sorted(offsets), table.read_frames() if offsets else [])
            )
    except (OSError, ValueError, struct.error):
        return None


class _IndexTable:
    """An open index, with the given counts of frames, terms and lists."""

    def __init__(self, data: mmap.mmap, frame_count: int, term_count: int, list_count: int) -> None:
        self._data = data
        self._term_count = term_count
        self._hashes_at = _INDEX_HEAD.size + frame_count * _FRAME_ENTRY.size
        self._list_starts_at = self._hashes_at + term_count * (_HASH_BYTES + _NUMBER_WORD.size)
        self._lists_at = self._list_starts_at + (list_count + 1) * _NUMBER_WORD.size

    def read_frames(self) -> list[SegmentFrame]:
        return [
            SegmentFrame(*e) for e in _FRAME_ENTRY.iter_unpack(self._data[_INDEX_HEAD.size : self._hashes_at])
        ]

    def find_offsets(self, terms: Iterable[str]) -> set[int]:
        return set().union(*(self._offsets_of_hash(_hash_term(term)) for term in terms))

    def _offsets_of_hash(self, wanted: bytes) -> Iterable[int]:
        hash_index = bisect_left(range(self._term_count), wanted, key=self._hash_at)
        if hash_index == self._term_count or self._hash_at(hash_index) != wanted:
            return ()
        list_numbers_at = self._hashes_at + self._term_count * _HASH_BYTES
        (list_number,) = _NUMBER_WORD.unpack_from(
            self._data, list_numbers_at + hash_index * _NUMBER_WORD.size
        )
        list_start, list_end = _LIST_BOUNDS.unpack_from(
            self._data, self._list_starts_at + list_number * _NUMBER_WORD.size
        )
        packed_offsets = self._data[
            self._lists_at + list_start * _NUMBER_WORD.size : self._lists_at + list_end * _NUMBER_WORD.size
        ]
        offsets = array("I", packed_offsets)
        if byteorder == "big":
            offsets.byteswap()
        return offsets

    def _hash_at(self, hash_index: int) -> bytes:
        return self._data[
            self._hashes_at + hash_index * _HASH_BYTES : self._hashes_at + (hash_index + 1) * _HASH_BYTES
        ]
