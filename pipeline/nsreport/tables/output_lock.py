"""Output lock: which output folders a run accepts, and the early error if another run writes to a local one.

The lock only saves the second run its work. The commits of `table_store` protect the tables, everywhere.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit

from nsreport.runtime.input_size import find_local_path

_LOCK_FILE = "_lock"
_OUTPUT_SCHEMES = ("", "file", "hdfs", "s3a")
"""File systems on which commits are tested; "" is the default file system."""


class OutputBusyError(Exception):
    """Another run writes to the output folder; the text is one line."""

    def __init__(self, root_path: str) -> None:
        super().__init__(f'another run writes to "{root_path}": wait until it has ended, and run again')


class OutputFileSystemError(Exception):
    """The output folder is on a file system that is not supported; the text is one line."""


def check_output_file_system(root_path: str) -> None:
    """Raise OutputFileSystemError if a path or URL is on a file system on which commits are not tested."""
    url_parts = urlsplit(root_path)
    if url_parts.scheme == "hdfs" and quote(url_parts.path) != url_parts.path:
        # delta-rs 1.6.6 writes to the encoded path, and looks for the log in the other one.
        raise OutputFileSystemError(
            f'cannot write tables to "{root_path}": '
            "name a folder of HDFS with letters, digits, and the characters _ . - ~ only"
        )
    if url_parts.scheme not in _OUTPUT_SCHEMES:
        raise OutputFileSystemError(
            f'cannot write tables to "{root_path}": pass a local, hdfs:// or s3a:// folder with --dir'
        )


@contextmanager
def lock_output(root_path: str) -> Iterator[None]:
    """Lock a local output folder against other runs during the block. Raises OutputBusyError.

    Folders on other file systems are not locked.
    """
    local_path = find_local_path(root_path)
    if local_path is None:
        yield
        return
    Path(local_path).mkdir(parents=True, exist_ok=True)
    with open(Path(local_path, _LOCK_FILE), "a", opener=_open_lock) as lock_file:
        try:
            fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputBusyError(root_path) from None
        yield


def _open_lock(lock_path: str, open_flags: int) -> int:
    # A link in a folder that other users write to must not decide which file is opened.
    return os.open(lock_path, open_flags | os.O_NOFOLLOW, 0o600)
