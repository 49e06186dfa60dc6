"""Columns about files that a command wrote, of a tuple that begins with the path and the size."""

from collections.abc import Sequence
from pathlib import Path

from namesrv_core.errors import RocketMQError
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import AnyColumn, Column, OutputText
from nsadmin.console.output.quantities import to_bytes

FILE: AnyColumn = Column("file", "the file that was written", lambda r: r[0])
SIZE: AnyColumn = Column("size", "size in bytes", lambda r: to_bytes(r[1]))


def write_or_show(
    text: str, file_name: str | None, errors: Sequence[RocketMQError | None] = ()
) -> OutputText:
    """The text for stdout; or the name of the file, after the text is written there."""
    if file_name is None:
        return OutputText(text.rstrip("\n"), errors)
    try:
        Path(file_name).write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {file_name}: {error.strerror}") from None
    return OutputText(file_name, errors)
