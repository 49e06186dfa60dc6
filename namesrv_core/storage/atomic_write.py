"""Atomic, durable replacement of a file: the new content is on disk when the call returns."""

import os
import stat
from contextlib import suppress
from pathlib import Path


def replace_file(file_path: Path, new_content: bytes, *, keeps_backup: bool = True) -> None:
    """Replace the content of a file. With `keeps_backup` the old content stays in `<file_path>.bak`.

    Creates missing folders, follows a symbolic link and preserves the file's permissions. The file holds the
    old or the new content at any moment, even if the process is killed. Raises OSError, without a change, if
    the disk is full or the folder is not writable.
    """
    file_path = file_path.resolve()
    file_path.parent.mkdir(parents=True, exist_ok=True)
    temporary_path = file_path.with_name(f".{file_path.name}.new")
    file_mode = stat.S_IMODE(file_path.stat().st_mode) if file_path.exists() else None
    try:
        _write_synced(temporary_path, new_content, file_mode)
        if file_mode is not None and keeps_backup:
            _replace_backup(file_path)
        os.replace(temporary_path, file_path)
    except BaseException:
        with suppress(OSError):
            temporary_path.unlink()
        raise
    sync_folder(file_path.parent)


def _write_synced(file_path: Path, new_content: bytes, file_mode: int | None) -> None:
    # Other users must never be able to read more of the new file than of the old one.
    initial_mode = 0o666 if file_mode is None else 0o600
    with open(
        file_path, "wb", opener=lambda opened_name, open_flags: os.open(opened_name, open_flags, initial_mode)
    ) as file:
        if file_mode is not None:
            os.fchmod(file.fileno(), file_mode)
        file.write(new_content)
        file.flush()
        os.fsync(file.fileno())


def _replace_backup(file_path: Path) -> None:
    """Link the old content as the backup, so that the file always exists; copy it without link support."""
    temporary_path = file_path.with_name(f".{file_path.name}.bak.new")
    with suppress(FileNotFoundError):
        temporary_path.unlink()
    try:
        os.link(file_path, temporary_path)
    except OSError:
        # Imported late, because shutil also loads support for archives, which is not needed here.
        import shutil

        shutil.copy2(file_path, temporary_path)
    os.replace(temporary_path, file_path.with_name(f"{file_path.name}.bak"))


def sync_folder(folder: Path) -> None:
    """Write a folder's created, renamed and removed entries to disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
