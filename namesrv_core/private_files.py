"""Opens files that only their owner can read, and writes through no symbolic link of another user."""

import errno
import os

_MAX_LINKS = 40


def open_private_file(file_path: str | os.PathLike[str], open_flags: int) -> int:
    """Open a file and return its descriptor. A new file can be read only by its owner.

    It can be used as the `opener` of `open`. Raises OSError for a link that belongs to another user.
    """
    path_text = os.fspath(file_path)
    is_link = check_links(path_text)
    # A link that appears after the check is refused as well.
    return os.open(path_text, open_flags | (0 if is_link else os.O_NOFOLLOW) | os.O_CLOEXEC, 0o600)


def check_links(file_path: str | os.PathLike[str]) -> bool:
    """Whether the path is a symbolic link that may be followed for writing.

    The owner of a link decides which file is written. So the owner must be root, this process, or the owner
    of the folder, as with `fs.protected_symlinks` of Linux. Raises PermissionError for another owner.
    """
    link_path, link_count = os.fspath(file_path), 0
    while os.path.islink(link_path):
        folder, _ = os.path.split(link_path)
        link_owner = os.lstat(link_path).st_uid
        if link_owner not in (0, os.geteuid(), os.stat(folder or ".").st_uid):
            raise PermissionError(
                errno.EPERM,
                "not followed, because it is a symbolic link of another user",
                os.fspath(file_path),
            )
        link_count += 1
        if link_count > _MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(file_path))
        link_path = os.path.join(folder, os.readlink(link_path))
    return link_count > 0
