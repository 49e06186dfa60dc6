"""A private file: only its owner may read it; whole or not at all."""

import os


def replace(path: str, text: str) -> None:
    """Put `text` in the place of what `path` holds, on the disk when this returns.

    A link is followed. OSError where that fails; then nothing has changed, and nothing is left behind.
    """
    # Most commands write no file.
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
