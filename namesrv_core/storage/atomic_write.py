"""Atomic, durable replacement of a file: the new content is on disk when the call returns."""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from namesrv_core import private_files

_PRIVATE_MODE = 0o600


def replace_file(
    path: Path,
    content: bytes,
    *,
    keeps_backup: bool = True,
    is_private: bool = True,
    is_durable: bool = True,
) -> None:
    """Replace the content of a file. With `keeps_backup` the old content stays in `<path>.bak`.

    Creates missing folders, follows a symbolic link unless it belongs to another user, and preserves the
    file's permissions. A new file can be read only by its owner if `is_private`. The file holds the old or
    the new content at any moment, even if the process is killed. Without `is_durable` the call does not wait
    for the disk: a loss of power can leave the old content, or an empty file. Raises OSError, without a
    change, if the disk is full, the folder is not writable or the link is not followed.
    """
    private_files.check_links(path)
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.new")
    file_mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    try:
        initial_mode = _PRIVATE_MODE if is_private or file_mode is not None else 0o666
        _write_new_file(temporary, content, initial_mode, file_mode, is_durable)
        if file_mode is not None and keeps_backup:
            _replace_backup(path, file_mode)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    if is_durable:
        sync_folder(path.parent)


def _write_new_file(
    path: Path, content: bytes, initial_mode: int, file_mode: int | None, is_durable: bool = True
) -> None:
    with open_new_file(path, initial_mode) as new_file:
        if file_mode is not None:
            # Other users must never be able to read more of the new file than of the old one.
            os.fchmod(new_file.fileno(), file_mode)
        new_file.write(content)
        new_file.flush()
        if is_durable:
            os.fsync(new_file.fileno())


def open_new_file(path: Path, initial_mode: int = _PRIVATE_MODE) -> BinaryIO:
    """Create a temporary file. Replaces a file or a link that a killed process left there."""
    with suppress(FileNotFoundError):
        path.unlink()
    return open(path, "xb", opener=lambda name, flags: os.open(name, flags, initial_mode))


def _replace_backup(path: Path, file_mode: int) -> None:
    """Link the old content as the backup, so that the file always exists; copy it without link support."""
    temporary = path.with_name(f".{path.name}.bak.new")
    with suppress(FileNotFoundError):
        temporary.unlink()
    try:
        os.link(path, temporary)
    except OSError:
        _write_new_file(temporary, path.read_bytes(), _PRIVATE_MODE, file_mode)
    os.replace(temporary, path.with_name(f"{path.name}.bak"))


def sync_folder(folder: Path) -> None:
    """Write a folder's created, renamed and removed entries to disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
