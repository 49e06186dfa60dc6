"""A file of messages in any form: written by rows, read as messages."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from nsadmin.operations.message_files.file_form import FileForm, InvalidMessageFileError, find_form
from nsadmin.operations.message_files.file_messages import FileMessage, parse_file_message
from nsadmin.operations.message_files.line_file import read_lines, replace_line_file
from nsadmin.operations.message_files.parquet_file import (
    read_parquet_rows,
    replace_parquet_file,
    require_parquet_library,
)


def replace_message_file(
    path: Path, file_form: FileForm
) -> AbstractContextManager[Callable[[Mapping[str, Any]], None]]:
    """Open a file for the rows of messages. It appears under its name when it is complete.

    Raises OSError, and MissingParquetLibraryError.
    """
    if file_form is FileForm.PARQUET:
        require_parquet_library()
        return replace_parquet_file(path)
    return replace_line_file(path, compresses=file_form is FileForm.JSON_LINES_GZIP)


def read_messages(path: Path) -> Iterator[FileMessage]:
    """Yield the messages of a file in order.

    Raises InvalidMessageFileError, OSError, and MissingParquetLibraryError.
    """
    file_form = find_form(path.name)
    if file_form is FileForm.PARQUET:
        require_parquet_library()
        rows = read_parquet_rows(path)
    else:
        rows = read_lines(path, is_compressed=file_form is FileForm.JSON_LINES_GZIP)
    for row_number, row in enumerate(rows):
        try:
            yield parse_file_message(row_number, row)
        except (ValueError, OverflowError) as error:
            raise InvalidMessageFileError(f"{path}: message {row_number + 1} is invalid: {error}") from None
