"""Extent: how much there is to read, as far as folders of this machine tell; asked before Spark is there."""

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

PACKED = {".gz": 15, ".zst": 15, ".parquet": 5}
"""How many times as long lines of journals and logs are in plain, about."""


def extent(places: Iterable[str], since: float = 0) -> int | None:
    """Bytes in files, folders and patterns with `*`, were none packed; None where some are elsewhere.

    Only of files that were written after `since` (s since 1970).
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
    """When a file in a folder was last written (s since 1970); 0 where there is none, or it is elsewhere."""
    path = _path(place)
    return 0 if path is None else max((_seen(file)[1] for file in _files(path)), default=0)


def _path(place: str) -> str | None:
    """That of this machine, if it is one."""
    parts = urlsplit(place)
    if parts.scheme not in ("", "file"):
        return None
    return unquote(parts.path) if parts.scheme else place


def _files(found: str) -> Iterator[Path]:
    """It, or all that are below it."""
    if not os.path.isdir(found):
        yield Path(found)
    for folder, _, names in os.walk(found):
        yield from (Path(folder, name) for name in names)


def _bytes(file: Path, since: float) -> int:
    length, at = _seen(file)
    return length * PACKED.get(file.suffix, 1) if at > since else 0


def _seen(file: Path) -> tuple[int, float]:
    """Its length, and when it was written; nothing of one that went meanwhile."""
    try:
        found = file.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime
