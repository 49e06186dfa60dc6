"""Atomic writes of files that only their owner may read."""

import os

from namesrv_core import private_files


def replace_private_file(file_path: str, file_text: str) -> None:
    """Replace the content of a file atomically and sync it to disk.

    Follow a symbolic link unless it belongs to another user.
    """
    # Imported here because most commands write no file.
    import tempfile

    private_files.check_links(file_path)
    target_folder, file_name = os.path.split(os.path.realpath(file_path))
    descriptor, temporary_path = tempfile.mkstemp(dir=target_folder, prefix=f".{file_name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(file_text)
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary_path, os.path.join(target_folder, file_name))
    except BaseException:
        os.unlink(temporary_path)
        raise
