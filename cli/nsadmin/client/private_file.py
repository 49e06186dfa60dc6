"""Atomic writes of files that only their owner may read."""

import os


def replace(path: str, text: str) -> None:
    """Replace the content of a file atomically and sync it to disk. Follow symbolic links.

    Args:
        file_path: The file; its folder must exist.
        file_text: The new content, written as UTF-8.

    Raises:
        OSError: The file cannot be written. The old content stays, and no temporary file remains.
    """
    # Imported here because most commands write no file.
    import tempfile

    folder, name = os.path.split(os.path.realpath(path))
    descriptor, fresh = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        os.replace(fresh, os.path.join(folder, name))
    except BaseException:
        os.unlink(fresh)
        raise
