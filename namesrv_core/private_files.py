"""Opens and appends to files that only their owner can read, through no symbolic link of another user."""

import errno
import os
import shlex
import stat
from contextlib import suppress

_MAX_LINKS = 40
# O_NONBLOCK: opening a pipe without a reader must not block.
_APPEND_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)


def open_private_file(path: str | os.PathLike[str], open_flags: int) -> int:
    """Open a file and return its descriptor. A new file can be read only by its owner.

    It can be used as the `opener` of `open`. Raises OSError for a link that belongs to another user.
    """
    path_text = os.fspath(path)
    is_link = check_links(path_text)
    # A link that appears after the check is refused as well.
    return os.open(path_text, open_flags | (0 if is_link else os.O_NOFOLLOW) | os.O_CLOEXEC, 0o600)


def advise_mode(
    path: str | os.PathLike[str],
    mode: str = "600",
    instead: str = "name a regular file that only you can read",
) -> str:
    """How to hide a file from other users. /dev/stdin has no mode of its own: it is what a shell opened."""
    path_text = os.fspath(path)
    if os.path.abspath(path_text).startswith(("/dev/", "/proc/")) or not os.path.isfile(path_text):
        return instead
    return f"run `chmod {mode} {shlex.quote(path_text)}`"


def append_record(path: str | os.PathLike[str], record: bytes, *, syncs: bool = False) -> None:
    """Append a line to a private file: all of it, on a line of its own, or nothing. Raises OSError."""
    descriptor = open_private_file(path, _APPEND_FLAGS)
    try:
        # One write where possible: lines of processes that append at the same time do not mix.
        _write_whole(descriptor, b"\n" + record if _ends_within_line(path, descriptor) else record)
        if syncs:
            os.fsync(descriptor)
    except OSError as error:
        error.filename = os.fspath(path)
        raise
    finally:
        os.close(descriptor)


def _ends_within_line(path: str | os.PathLike[str], descriptor: int) -> bool:
    """Whether the last record is torn, because its process was killed."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or not status.st_size:
        return False
    with suppress(OSError), open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"
    return False


def _write_whole(descriptor: int, content: bytes) -> None:
    written = 0
    try:
        while written < len(content):
            written += os.write(descriptor, content[written:])
    except OSError:
        # A full disk or a limit took a part. Another process may have appended meanwhile: then it stays.
        with suppress(OSError):
            end = os.lseek(descriptor, 0, os.SEEK_CUR)
            if written and os.fstat(descriptor).st_size == end:
                os.ftruncate(descriptor, end - written)
        raise


def make_folder(folder: str | os.PathLike[str], mode: int = 0o777) -> None:
    """Create a folder with those above it, unless it exists. Raises OSError for a link of another user."""
    check_links(folder)
    os.makedirs(folder, mode, exist_ok=True)


def check_links(path: str | os.PathLike[str]) -> bool:
    """Whether the path is a symbolic link that may be followed. Links in place of its folders count as well.

    The owner of a link decides which file is used. So the owner must be root, this process, or the owner
    of the folder, as with `fs.protected_symlinks` of Linux. Raises PermissionError for another owner.
    """
    folder, link_count = os.sep, 0
    names = os.path.join(os.getcwd(), os.fspath(path)).split(os.sep)[::-1]
    while names:
        name = names.pop()
        entry_path = os.path.dirname(folder) if name == os.pardir else os.path.join(folder, name)
        if name in ("", os.curdir):
            continue
        if name == os.pardir or not os.path.islink(entry_path):
            folder = entry_path
            continue
        if os.lstat(entry_path).st_uid not in (0, os.geteuid(), os.stat(folder).st_uid):
            raise PermissionError(
                errno.EPERM, "not followed, because it is a symbolic link of another user", entry_path
            )
        link_count += 1
        if link_count > _MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path))
        target = os.readlink(entry_path)
        folder = os.sep if target.startswith(os.sep) else folder
        names += target.split(os.sep)[::-1]
    return os.path.islink(path)
