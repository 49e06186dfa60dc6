"""A folder for Unix sockets that only this user can open."""

import os
import tempfile

_MAX_PARENT_BYTES = 64
"""A socket's path has at most 103 bytes on macOS, and nsadmin and ssh append up to 38."""


def make_socket_folder() -> str:
    """Make such a folder: in /tmp if the path of the temporary folder is too long."""
    parent_folder = tempfile.gettempdir()
    if len(os.fsencode(parent_folder)) > _MAX_PARENT_BYTES:
        parent_folder = "/tmp"
    return tempfile.mkdtemp(prefix="nsadmin-", dir=parent_folder)
