"""The index beside a closed segment: where in it the lines of a term stand, such as a topic or a type.

`0000000000000001-20251121T140300000Z.idx`: magic, the size of the file and the numbers of frames, of terms
and of lists (uint32), where each frame begins in the file and in the plain segment (uint32), hashes of terms
in order (4 bytes each), for each the number of its list (uint32), where each list begins and the last one
ends (uint32), and the lists: offsets of lines in the plain segment (uint32). All of it is little-endian.
It can be made again at any time; a segment without one is read as a whole.
"""

import mmap
import struct
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from struct import Struct
from sys import byteorder
from typing import NamedTuple

from namesrv_core.history.concerning import Terms
from namesrv_core.history.lines import parse
from namesrv_core.history.records import BadRecord
from namesrv_core.storage import durable
from namesrv_core.storage.segments import BadSegment, Frame, Segment, frames

_MAGIC = b"NSINDEX2"
_HEAD = Struct("<8sIIII")
_NUMBER = Struct("<I")
_BOUNDS = _FRAME = Struct("<II")
_HASH = 4
_LONGEST = 1 << 32


def path_of(segment: Path) -> Path:
    """Where the index of a closed segment is."""
    return segment.with_name(f"{segment.name.removesuffix('.jsonl.zst')}.idx")


def size(segment: Path) -> int:
    """How many bytes a segment's index takes; 0 where there is none."""
    path = path_of(segment)
    return path.stat().st_size if path.exists() else 0


class Places(NamedTuple):
    """Lines by their offsets in the plain segment, in order; and the frames to find them in."""

    offsets: list[int]
    frames: list[Frame]


def build(segment: Segment) -> Path:
    """Make the index of a closed segment, whole or not at all. BadSegment, OSError."""
    path = path_of(segment.path)
    durable.replace(path, _content(frames(segment)))
    return path


def _content(found: Iterable[tuple[Frame, bytes]]) -> bytes:
    offsets: dict[str, list[int]] = {}
    terms, all_frames = Terms(), []
    for frame, content in found:
        all_frames.append(frame)
        end = frame.plain
        for text in content.splitlines(keepends=True):
            begin, end = end, end + len(text)
            if end >= _LONGEST:
                raise BadSegment("it is too long for an index")
            for term in _terms(terms, text):
                offsets.setdefault(term, []).append(begin)
    return _packed(all_frames, {_hash(term): found for term, found in offsets.items()})


def _terms(terms: Terms, text: bytes) -> Iterable[str]:
    """None of what nobody understands who reads the segment."""
    try:
        record = parse(text)
        return [*terms.of(record), type_term(record.type)]
    except (BadRecord, KeyError, TypeError, AttributeError):
        return ()


def type_term(name: str) -> str:
    """The term of all records of a type."""
    return f"type {name}"


def _packed(all_frames: list[Frame], offsets: dict[bytes, list[int]]) -> bytes:
    """Topics of a broker usually stand in the same lines: equal lists are there once."""
    hashes = sorted(offsets)
    numbers: dict[tuple[int, ...], int] = {}
    chosen = [numbers.setdefault(tuple(offsets[one]), len(numbers)) for one in hashes]
    begins, flat = [0], list[int]()
    for one in numbers:
        flat += one
        begins.append(len(flat))
    bounds = [number for frame in all_frames for number in frame]
    rest = b"".join([_numbers(bounds), *hashes, _numbers(chosen), _numbers(begins), _numbers(flat)])
    size = _HEAD.size + len(rest)
    return _HEAD.pack(_MAGIC, size, len(all_frames), len(hashes), len(numbers)) + rest


def _numbers(values: list[int]) -> bytes:
    packed = array("I", values)
    assert packed.itemsize == _NUMBER.size
    if byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


@lru_cache(1024)
def _hash(term: str) -> bytes:
    # Not known before there is something to find: OpenSSL's digests come with it.
    from hashlib import blake2b

    return blake2b(term.encode("utf-8", "surrogatepass"), digest_size=_HASH).digest()


def places(segment: Path, terms: Iterable[str] | None, types: Iterable[str] | None = None) -> Places | None:
    """The lines that concern one of the terms and are of one of the types; None where no index can be read.

    None for terms or types are all. A few lines may be neither: different terms can have the same hash.
    """
    try:
        with (
            path_of(segment).open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            magic, size, *counts = _HEAD.unpack_from(data)
            if (magic, size) != (_MAGIC, len(data)):
                return None
            table = _Table(data, *counts)
            found = None if terms is None else table.union(terms)
            if types is not None and found != set():
                of_types = table.union(map(type_term, types))
                found = of_types if found is None else found & of_types
            return None if found is None else Places(sorted(found), table.frames() if found else [])
    except (OSError, ValueError, struct.error):
        return None


class _Table:
    """An index that is open: so many frames, terms and lists."""

    def __init__(self, data: mmap.mmap, frames: int, terms: int, lists: int) -> None:
        self._data = data
        self._count = terms
        self._hashes = _HEAD.size + frames * _FRAME.size
        self._begins = self._hashes + terms * (_HASH + _NUMBER.size)
        self._first = self._begins + (lists + 1) * _NUMBER.size

    def frames(self) -> list[Frame]:
        return [Frame(*each) for each in _FRAME.iter_unpack(self._data[_HEAD.size : self._hashes])]

    def union(self, terms: Iterable[str]) -> set[int]:
        return set().union(*(self._found(_hash(term)) for term in terms))

    def _found(self, wanted: bytes) -> Iterable[int]:
        at = bisect_left(range(self._count), wanted, key=self._hash_at)
        if at == self._count or self._hash_at(at) != wanted:
            return ()
        numbers = self._hashes + self._count * _HASH
        (number,) = _NUMBER.unpack_from(self._data, numbers + at * _NUMBER.size)
        begin, end = _BOUNDS.unpack_from(self._data, self._begins + number * _NUMBER.size)
        found = self._data[self._first + begin * _NUMBER.size : self._first + end * _NUMBER.size]
        offsets = array("I", found)
        if byteorder == "big":
            offsets.byteswap()
        return offsets

    def _hash_at(self, at: int) -> bytes:
        return self._data[self._hashes + at * _HASH : self._hashes + (at + 1) * _HASH]
