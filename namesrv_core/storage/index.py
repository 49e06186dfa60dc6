"""The index beside a closed segment: at which bytes of it stand the lines that concern a term.

`0000000000000001-20251121T140300000Z.idx`: magic, the size of the file and the numbers of terms and of
lists (uint32), hashes of terms in order (4 bytes each), for each the number of its list (uint32), where each
list begins and the last one ends (uint32), and the lists: offsets of lines in the plain segment (uint32). All
of it is little-endian.
It can be made again at any time; a segment without one is read as a whole.
"""

import mmap
import struct
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from struct import Struct
from sys import byteorder

from namesrv_core.history.concerning import Terms
from namesrv_core.history.records import BadRecord, parse
from namesrv_core.storage import durable
from namesrv_core.storage.segments import BadSegment, Segment, lines

_MAGIC = b"NSINDEX1"
_HEAD = Struct("<8sIII")
_NUMBER = Struct("<I")
_HASH = 4
_LONGEST = 1 << 32


def path_of(segment: Path) -> Path:
    """Where the index of a closed segment is."""
    return segment.with_name(f"{segment.name.removesuffix('.jsonl.zst')}.idx")


def size(segment: Path) -> int:
    """How many bytes a segment's index takes; 0 where there is none."""
    path = path_of(segment)
    return path.stat().st_size if path.exists() else 0


def build(segment: Segment) -> Path:
    """Make the index of a closed segment, whole or not at all. BadSegment, OSError."""
    path = path_of(segment.path)
    durable.replace(path, _content(lines(segment)))
    return path


def _content(texts: Iterable[bytes]) -> bytes:
    offsets: dict[bytes, list[int]] = {}
    terms = Terms()
    end = 0
    for text in texts:
        begin, end = end, end + len(text)
        if end >= _LONGEST:
            raise BadSegment("it is too long for an index")
        try:
            for term in terms.of(parse(text)):
                offsets.setdefault(_hash(term), []).append(begin)
        except (BadRecord, KeyError, TypeError, AttributeError):
            # Who reads the segment cannot understand it either.
            continue
    return _packed(offsets)


def _packed(offsets: dict[bytes, list[int]]) -> bytes:
    """Topics of a broker usually stand in the same lines: equal lists are there once."""
    hashes = sorted(offsets)
    numbers: dict[tuple[int, ...], int] = {}
    chosen = [numbers.setdefault(tuple(offsets[one]), len(numbers)) for one in hashes]
    begins, flat = [0], list[int]()
    for one in numbers:
        flat += one
        begins.append(len(flat))
    rest = b"".join([*hashes, _numbers(chosen), _numbers(begins), _numbers(flat)])
    return _HEAD.pack(_MAGIC, _HEAD.size + len(rest), len(hashes), len(numbers)) + rest


def _numbers(values: list[int]) -> bytes:
    packed = array("I", values)
    assert packed.itemsize == _NUMBER.size
    if byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def _hash(term: str) -> bytes:
    return blake2b(term.encode("utf-8", "surrogatepass"), digest_size=_HASH).digest()


def offsets(segment: Path, terms: Iterable[str]) -> list[int] | None:
    """Where the lines are that concern one of the terms; None where there is no index that can be read.

    A few of them may concern none: different terms can have the same hash.
    """
    try:
        with (
            path_of(segment).open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            magic, size, count, lists = _HEAD.unpack_from(data)
            if (magic, size) != (_MAGIC, len(data)):
                return None
            return sorted({place for term in terms for place in _found(data, count, lists, _hash(term))})
    except (OSError, ValueError, struct.error):
        return None


def _found(data: mmap.mmap, count: int, lists: int, wanted: bytes) -> Iterator[int]:
    def place(at: int) -> bytes:
        return data[_HEAD.size + at * _HASH : _HEAD.size + (at + 1) * _HASH]

    at = bisect_left(range(count), wanted, key=place)
    if at == count or place(at) != wanted:
        return
    numbers = _HEAD.size + count * _HASH
    (number,) = _NUMBER.unpack_from(data, numbers + at * _NUMBER.size)
    begins = numbers + count * _NUMBER.size
    begin, end = Struct("<II").unpack_from(data, begins + number * _NUMBER.size)
    first = begins + (lists + 1) * _NUMBER.size
    for at in range(begin, end):
        yield _NUMBER.unpack_from(data, first + at * _NUMBER.size)[0]
