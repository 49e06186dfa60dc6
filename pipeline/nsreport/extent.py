"""Input size: estimates how many bytes a run will read from local folders, before Spark starts."""

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

PACKED = {".gz": 15, ".zst": 15, ".parquet": 5}
"""Approximate ratio of plain size to file size for journals and logs, by suffix."""


def extent(places: Iterable[str], since: float = 0) -> int | None:
    """Estimate the uncompressed bytes in files, folders and `*` patterns; None if one is not on this machine.

    Counts only files that were written after `written_after` (s since 1970).
    """
    total = 0
    for place in places:
        path = _path(place)
        if path is None:
            return None
        there = [path] if os.path.exists(path) else glob.glob(path)
        total += sum(_bytes(file, since) for found in there for file in _files(found))
    return total


def written(place: str) -> float:
    """Return the latest write time in a folder (s since 1970); 0 if it is empty or not on this machine."""
    path = _path(place)
    return 0 if path is None else max((_seen(file)[1] for file in _files(path)), default=0)


def _path(place: str) -> str | None:
    """Return the path on this machine, or None if the URL points to another file system."""
    parts = urlsplit(place)
    if parts.scheme not in ("", "file"):
        return None
    return unquote(parts.path) if parts.scheme else place


def _files(found: str) -> Iterator[Path]:
    """Yield the file itself, or all files below the folder."""
    if not os.path.isdir(found):
        yield Path(found)
    for folder, _, names in os.walk(found):
        yield from (Path(folder, name) for name in names)


def _bytes(file: Path, since: float) -> int:
    length, at = _seen(file)
    return length * PACKED.get(file.suffix, 1) if at > since else 0


def _seen(file: Path) -> tuple[int, float]:
    """Return the length and the write time of a file; (0, 0) if it was deleted meanwhile."""
    try:
        found = file.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime
