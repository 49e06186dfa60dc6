"""VirtualDisk, a disk in memory below the real file code: what is not synced is lost with the power.

`os`, `open` and `flock` of paths below ROOT lead here; all other paths stay with the operating system. As
with ext4 and XFS, the file system orders changes of folders: a sync writes all earlier ones. The data of a
file is written only by a sync of that file. Without one, a part of it or nothing survives.
"""

import builtins
import errno
import fcntl
import io
import os
import posixpath
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from random import Random
from typing import Any, NamedTuple

from namesrv_core import private_files

ROOT = "/simulated"
_FIRST_DESCRIPTOR = 1 << 20


class ProcessKilled(BaseException):
    """The process of nsadmin has ended. Nothing that it does from then on has an effect."""


class DiskFull(OSError):
    """The disk has no space left."""

    def __init__(self) -> None:
        super().__init__(errno.ENOSPC, os.strerror(errno.ENOSPC))


class _Status(NamedTuple):
    """What `os.stat` returns."""

    st_mode: int
    st_size: int
    st_uid: int


_FOLDER_STATUS = _Status(stat.S_IFDIR | 0o700, 0, os.geteuid())


class _Inode:
    """A file: its content, and how much of it is on the disk."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.synced = b""
        self.mode = 0o600
        self.lock_holders: set[int] = set()
        self.is_locked_exclusively = False


class _Descriptor:
    def __init__(self, inode: _Inode | None, path: str, flags: int) -> None:
        self.inode, self.path, self.flags = inode, path, flags
        self.position = 0


class VirtualDisk:
    """A disk. `before_step` is called before each call that changes it, and may raise.

    Opened files belong to the process that runs. Its end closes them, see `close_all`.
    """

    def __init__(self, before_step: Callable[[str, str], None]) -> None:
        self._before_step = before_step
        self._files: dict[str, _Inode] = {}
        self._folders = {ROOT}
        self._synced_files: dict[str, _Inode] = {}
        self._pending: list[tuple[str, str | None, _Inode | None]] = []
        self._descriptors: dict[int, _Descriptor] = {}
        self._next_descriptor = _FIRST_DESCRIPTOR

    # What happens to the machine

    def close_all(self) -> None:
        """Close the files of a process that ended: it loses its locks."""
        for number in list(self._descriptors):
            self._unlock(self._descriptors.pop(number).inode, number)

    def lose_power(self, random: Random) -> None:
        """Lose what was not synced: some of the last changes of folders, and parts of the data."""
        self.close_all()
        survived = random.randint(0, len(self._pending))
        for path, old_path, inode in self._pending[:survived]:
            _apply_change(self._synced_files, path, old_path, inode)
        self._pending.clear()
        self._files = dict(self._synced_files)
        for inode in set(self._files.values()):
            if inode.content[: len(inode.synced)] == inode.synced:
                kept = random.randint(len(inode.synced), len(inode.content))
                inode.content = inode.content[:kept]
            else:
                inode.content = bytearray(inode.synced)
            inode.synced = bytes(inode.content)

    def read_file(self, path: str) -> bytes:
        """The content of a file, as the operator sees it; empty without a file."""
        inode = self._files.get(path)
        return b"" if inode is None else bytes(inode.content)

    # Calls of the operating system

    def open(self, path: str, flags: int, mode: int) -> int:
        inode = self._files.get(path)
        if path in self._folders:
            return self._add_descriptor(None, path, flags)
        if inode is None:
            if not flags & os.O_CREAT:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            self._require_folder(path)
            self._before_step("create", path)
            inode = _Inode()
            inode.mode = mode & 0o777
            self._change_entry(path, None, inode)
        elif flags & os.O_EXCL:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        elif flags & os.O_TRUNC:
            self._before_step("truncate", path)
            inode.content.clear()
        return self._add_descriptor(inode, path, flags)

    def _add_descriptor(self, inode: _Inode | None, path: str, flags: int) -> int:
        self._next_descriptor += 1
        self._descriptors[self._next_descriptor] = _Descriptor(inode, path, flags)
        return self._next_descriptor

    def close(self, number: int) -> None:
        descriptor = self._descriptors.pop(number, None)
        if descriptor is not None:
            self._unlock(descriptor.inode, number)

    def read(self, number: int, size: int) -> bytes:
        descriptor = self._find(number)
        content = bytes(self._inode_of(number).content[descriptor.position : descriptor.position + size])
        descriptor.position += len(content)
        return content

    def write(self, number: int, content: bytes) -> int:
        descriptor, inode = self._find(number), self._inode_of(number)
        self._before_step("write", descriptor.path)
        if descriptor.flags & os.O_APPEND:
            descriptor.position = len(inode.content)
        inode.content[descriptor.position : descriptor.position + len(content)] = content
        descriptor.position += len(content)
        return len(content)

    def fsync(self, number: int) -> None:
        descriptor = self._find(number)
        self._before_step("fsync", descriptor.path)
        for path, old_path, inode in self._pending:
            _apply_change(self._synced_files, path, old_path, inode)
        self._pending.clear()
        if descriptor.inode is not None:
            descriptor.inode.synced = bytes(descriptor.inode.content)

    def truncate(self, number: int, size: int) -> None:
        self._before_step("truncate", self._find(number).path)
        del self._inode_of(number).content[size:]

    def seek(self, number: int, offset: int, whence: int) -> int:
        descriptor = self._find(number)
        starts = {os.SEEK_SET: 0, os.SEEK_CUR: descriptor.position}
        start = starts.get(whence, len(self._inode_of(number).content))
        descriptor.position = start + offset
        return descriptor.position

    def stat(self, path_or_descriptor: str | int) -> Any:
        if isinstance(path_or_descriptor, int):
            inode = self._find(path_or_descriptor).inode
        else:
            inode = self._files.get(path_or_descriptor)
            if inode is None and path_or_descriptor not in self._folders:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path_or_descriptor)
        if inode is None:
            return _FOLDER_STATUS
        return _Status(stat.S_IFREG | inode.mode, len(inode.content), _FOLDER_STATUS.st_uid)

    def make_folder(self, path: str) -> None:
        # Folders appear at once and stay: RunFolder works with an empty one as with none.
        if path in self._folders:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        self._require_folder(path)
        self._folders.add(path)

    def unlink(self, path: str) -> None:
        if path not in self._files:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        self._before_step("unlink", path)
        self._change_entry(path, None, None)

    def replace(self, old_path: str, path: str) -> None:
        if old_path not in self._files:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), old_path)
        self._before_step("rename", path)
        self._change_entry(path, old_path, self._files[old_path])

    def link(self, path: str, new_path: str) -> None:
        self._before_step("link", new_path)
        self._change_entry(new_path, None, self._files[path])

    def scan(self, path: str) -> list[tuple[str, bool]]:
        """The names in a folder, and whether each is a folder."""
        if path not in self._folders:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        found = {}
        for entry_path in (*self._folders, *self._files):
            folder, _, name = entry_path.rpartition("/")
            if folder == path:
                found[name] = entry_path in self._folders
        return sorted(found.items())

    def flock(self, number: int, operation: int) -> None:
        inode = self._inode_of(number)
        is_exclusive = bool(operation & fcntl.LOCK_EX)
        others = inode.lock_holders - {number}
        if others and (is_exclusive or inode.is_locked_exclusively):
            raise BlockingIOError(errno.EWOULDBLOCK, os.strerror(errno.EWOULDBLOCK))
        inode.lock_holders.add(number)
        inode.is_locked_exclusively = is_exclusive

    # Details

    def _find(self, number: int) -> _Descriptor:
        descriptor = self._descriptors.get(number)
        if descriptor is None:
            raise ProcessKilled
        return descriptor

    def _unlock(self, inode: _Inode | None, number: int) -> None:
        if inode is not None and number in inode.lock_holders:
            inode.lock_holders.discard(number)
            inode.is_locked_exclusively = False

    def _inode_of(self, number: int) -> _Inode:
        inode = self._find(number).inode
        if inode is None:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        return inode

    def _require_folder(self, path: str) -> None:
        if path.rpartition("/")[0] not in self._folders:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)

    def _change_entry(self, path: str, old_path: str | None, inode: _Inode | None) -> None:
        _apply_change(self._files, path, old_path, inode)
        self._pending.append((path, old_path, inode))


def _apply_change(files: dict[str, _Inode], path: str, old_path: str | None, inode: _Inode | None) -> None:
    if old_path is not None:
        files.pop(old_path, None)
    if inode is None:
        files.pop(path, None)
    else:
        files[path] = inode


class _VirtualFile(io.RawIOBase):
    """An opened file, for `open`."""

    def __init__(self, disk: VirtualDisk, number: int, path: str) -> None:
        self._disk, self._number, self.name = disk, number, path

    def fileno(self) -> int:
        return self._number

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._disk.read(self._number, len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def write(self, content: Any) -> int:
        return self._disk.write(self._number, bytes(content))

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._disk.seek(self._number, offset, whence)

    def truncate(self, size: int | None = None) -> int:
        self._disk.truncate(self._number, size or 0)
        return size or 0

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._disk.close(self._number)


_OPEN_FLAGS = {
    "r": os.O_RDONLY,
    "w": os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
    "a": os.O_WRONLY | os.O_CREAT | os.O_APPEND,
    "x": os.O_WRONLY | os.O_CREAT | os.O_EXCL,
}


def _open_file(disk: VirtualDisk, path: str, mode: str, opener: Any, encoding: str | None) -> Any:
    flags = _OPEN_FLAGS[mode[0]]
    number = disk.open(path, flags, 0o666) if opener is None else opener(path, flags)
    raw = _VirtualFile(disk, number, path)
    if mode[0] == "a":
        disk.seek(number, 0, os.SEEK_END)
    if "+" in mode:
        buffered: Any = io.BufferedRandom(raw)
    else:
        buffered = io.BufferedReader(raw) if mode[0] == "r" else io.BufferedWriter(raw)
    return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding or "utf-8")


class _Entry:
    """An entry of `os.scandir`."""

    def __init__(self, folder: str, name: str, is_folder: bool) -> None:
        self.path, self.name, self._is_folder = f"{folder}/{name}", name, is_folder

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return self._is_folder

    def is_symlink(self) -> bool:
        return False


@contextmanager
def mount(find_disk: Callable[[], VirtualDisk]) -> Iterator[None]:
    """Lead the calls for paths below ROOT to the disk of the simulated machine, until the block ends."""

    saved: list[tuple[Any, str, Any]] = []

    def replace(owner: Any, name: str, function: Callable[..., Any]) -> None:
        original = getattr(owner, name)

        def call(place: Any, *args: Any, **options: Any) -> Any:
            if type(place) is int:
                leads_here = place >= _FIRST_DESCRIPTOR
            else:
                if type(place) is not str and isinstance(place, PathLike):
                    place = place.__fspath__()
                leads_here = type(place) is str and place.startswith(ROOT)
            return (function if leads_here else original)(place, *args, **options)

        saved.append((owner, name, original))
        setattr(owner, name, call)

    def open_path(
        path: str, mode: str = "r", buffering: int = -1, encoding: str | None = None, *_: Any, **options: Any
    ) -> Any:
        return _open_file(find_disk(), path, mode, options.get("opener"), encoding)

    @contextmanager
    def scan(folder: str) -> Iterator[Iterator[_Entry]]:
        yield iter([_Entry(folder, *found) for found in find_disk().scan(folder)])

    def stat_path(path: str | int, **_: Any) -> Any:
        return find_disk().stat(path)

    replace(os, "open", lambda path, flags, mode=0o777: find_disk().open(path, flags, mode))
    replace(os, "close", lambda number: find_disk().close(number))
    replace(os, "write", lambda number, content: find_disk().write(number, bytes(content)))
    replace(os, "fsync", lambda number: find_disk().fsync(number))
    replace(os, "ftruncate", lambda number, size: find_disk().truncate(number, size))
    replace(os, "lseek", lambda number, offset, whence: find_disk().seek(number, offset, whence))
    replace(os, "fchmod", lambda number, mode: None)
    replace(os, "stat", stat_path)
    replace(os, "lstat", stat_path)
    replace(os, "fstat", stat_path)
    replace(os, "mkdir", lambda path, *_: find_disk().make_folder(path))
    replace(os, "unlink", lambda path: find_disk().unlink(path))
    replace(os, "replace", lambda old_path, path: find_disk().replace(old_path, os.fspath(path)))
    replace(os, "link", lambda path, new_path: find_disk().link(path, os.fspath(new_path)))
    replace(os, "scandir", scan)
    # The disk has no links.
    replace(private_files, "check_links", lambda path: False)
    replace(posixpath, "islink", lambda path: False)
    replace(posixpath, "realpath", lambda path, **_: path)
    replace(fcntl, "flock", lambda f, operation: find_disk().flock(_number_of(f), operation))
    # `flock` takes a file or its descriptor.
    flock_here, flock_original = fcntl.flock, saved[-1][2]
    fcntl.flock = lambda f, operation: (flock_here if _number_of(f) >= _FIRST_DESCRIPTOR else flock_original)(
        _number_of(f), operation
    )
    replace(builtins, "open", open_path)
    replace(io, "open", open_path)
    try:
        yield
    finally:
        for owner, name, original in reversed(saved):
            setattr(owner, name, original)


def _number_of(file: Any) -> int:
    return file if isinstance(file, int) else int(file.fileno())
