"""Input size: estimates how many bytes a run will read from local folders, before Spark starts."""

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

_COMPRESSION_FACTORS = {".gz": 15, ".zst": 15, ".parquet": 11}
"""Approximate ratio of plain size to file size for journals and logs, by suffix."""


def estimate_plain_bytes(input_paths: Iterable[str], written_after: float = 0) -> int | None:
    """Estimate the uncompressed bytes in files, folders and `*` patterns; None if one is not on this machine.

    Counts only files that were written after `written_after` (s since 1970).
    """
    total_bytes = 0
    for input_path in input_paths:
        local_path = find_local_path(input_path)
        if local_path is None:
            return None
        matching_paths = [local_path] if os.path.exists(local_path) else glob.glob(local_path)
        total_bytes += sum(
            _plain_bytes(input_file, written_after)
            for matching_path in matching_paths
            for input_file in _walk_files(matching_path)
        )
    return total_bytes


def estimate_plain_length(file_path: str, byte_count: int) -> int:
    """Estimate the uncompressed bytes of a file of this length by the suffix of its name."""
    return byte_count * _COMPRESSION_FACTORS.get(PurePosixPath(file_path).suffix, 1)


def last_write_seconds(table_path: str) -> float:
    """Return the latest write time in a folder (s since 1970); 0 if it is empty or not on this machine."""
    local_path = find_local_path(table_path)
    return (
        0
        if local_path is None
        else max((_stat_file(table_file)[1] for table_file in _walk_files(local_path)), default=0)
    )


def list_local_files(input_paths: Iterable[str]) -> list[tuple[str, int, int]] | None:
    """Return path, length and write time (ns since 1970) of files; None if a path is not on this machine."""
    found_files = []
    for input_path in input_paths:
        local_path = find_local_path(input_path)
        if local_path is None:
            return None
        for matching_path in sorted(glob.glob(local_path)):
            for input_file in sorted(_walk_files(matching_path)):
                file_status = input_file.stat()
                found_files.append((str(input_file), file_status.st_size, file_status.st_mtime_ns))
    return found_files


def find_local_path(input_path: str) -> str | None:
    """Return the path on this machine, or None if the URL points to another file system."""
    url_parts = urlsplit(input_path)
    if url_parts.scheme not in ("", "file"):
        return None
    return unquote(url_parts.path) if url_parts.scheme else input_path


def _walk_files(root_path: str) -> Iterator[Path]:
    """Yield the file itself, or all files below the folder."""
    if not os.path.isdir(root_path):
        yield Path(root_path)
    for folder, _, file_names in os.walk(root_path):
        yield from (Path(folder, file_name) for file_name in file_names)


def _plain_bytes(input_file: Path, written_after: float) -> int:
    byte_count, written_at = _stat_file(input_file)
    return estimate_plain_length(str(input_file), byte_count) if written_at > written_after else 0


def _stat_file(input_file: Path) -> tuple[int, float]:
    """Return the length and the write time of a file; (0, 0) if it was deleted meanwhile."""
    try:
        file_status = input_file.stat()
    except OSError:
        return 0, 0
    return file_status.st_size, file_status.st_mtime
