"""How bytes reach a file: whole or not at all, and on the disk when the call returns."""

import os
import stat
from contextlib import suppress
from pathlib import Path


def replace(path: Path, content: bytes, *, backup: bool = True) -> None:
    """Put `content` in the place of what `path` holds, which with `backup` is kept as `<path>.bak`.

    Missing folders are made, a link is followed, the file's permissions stay. At any moment `path` holds the
    old or the new content, whatever is killed. OSError where the disk is full or the folder cannot be
    written; then nothing has changed.
    """
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    try:
        _write_through(fresh, content, mode)
        if mode is not None and backup:
            _keep_backup(path)
        os.replace(fresh, path)
    except BaseException:
        with suppress(OSError):
            fresh.unlink()
        raise
    sync_folder(path.parent)


def _write_through(path: Path, content: bytes, mode: int | None) -> None:
    # At no moment may others read more of it than of what it replaces.
    first = 0o666 if mode is None else 0o600
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, first)) as file:
        if mode is not None:
            os.fchmod(file.fileno(), mode)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _keep_backup(path: Path) -> None:
    """A second name for what is there, so that `path` is never absent; a copy where there are no links."""
    fresh = path.with_name(f".{path.name}.bak.new")
    with suppress(FileNotFoundError):
        fresh.unlink()
    try:
        os.link(path, fresh)
    except OSError:
        # Late, as what it knows of archives is not needed anywhere.
        import shutil

        shutil.copy2(path, fresh)
    os.replace(fresh, path.with_name(f"{path.name}.bak"))


def sync_folder(folder: Path) -> None:
    """What was made, renamed or removed in a folder is on the disk when this returns."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
