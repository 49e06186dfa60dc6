"""A small disk in memory, which a test can fill. Mounting it needs root."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def mounted_disk(folder: Path, mebibytes: int) -> Iterator[None]:
    """A file system of this size at the folder; without the right to mount, the folder as it is."""
    folder.mkdir(parents=True)
    words = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", str(folder)]
    is_mounted = os.geteuid() == 0 and subprocess.run(words, capture_output=True, check=False).returncode == 0
    try:
        yield
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def filled_disk(folder: Path, used_share: float) -> Iterator[None]:
    """The disk of the folder, of which this share is used."""
    disk = os.statvfs(folder)
    missing_bytes = int((used_share * disk.f_blocks - (disk.f_blocks - disk.f_bfree)) * disk.f_frsize)
    filler = folder / "filler"
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, missing_bytes)
    try:
        yield
    finally:
        filler.unlink()
