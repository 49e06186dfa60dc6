"""Files of lines of JSON, plain or compressed with gzip: one object per line."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from namesrv_core import operator_files, private_files
from nsadmin.operations.message_files.file_form import InvalidMessageFileError

_MAX_LINE_BYTES = 128 * 1024 * 1024
"""A body of 64 MiB in base64 needs 86 MiB."""


@contextmanager
def replace_line_file(
    target_path: Path, *, compresses: bool = False
) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Yield a function that writes an object as a line. The file appears when all lines are written.

    Only its owner can read it. Raises OSError if it cannot be written.
    """
    temporary_path = target_path.with_name(f".{target_path.name}.new")
    try:
        with (
            open(temporary_path, "wb", opener=private_files.open_private_file) as new_file,
            _open_lines(new_file, compresses) as line_file,
        ):

            def write_line(json_object: Mapping[str, Any]) -> None:
                line_file.write(json.dumps(json_object, ensure_ascii=False).encode() + b"\n")

            yield write_line
        temporary_path.replace(target_path)
    finally:
        temporary_path.unlink(missing_ok=True)


@contextmanager
def _open_lines(new_file: IO[bytes], compresses: bool) -> Iterator[IO[bytes] | gzip.GzipFile]:
    if not compresses:
        yield new_file
        return
    # Without a name and a time: the same messages make the same file.
    with gzip.GzipFile("", "wb", 6, new_file, 0) as gzip_file:
        yield gzip_file


def read_lines(line_path: Path, *, is_compressed: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the object of each line.

    Raises InvalidMessageFileError for an invalid line, or an incomplete last line, and OSError.
    """
    with gzip.open(line_path, "rb") if is_compressed else open(line_path, "rb") as line_file:
        line_number = 0
        while True:
            line_number += 1
            try:
                line = line_file.readline(_MAX_LINE_BYTES)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise _invalid_line(line_path, line_number, f"damaged gzip data: {error}") from None
            if not line:
                return
            if not line.endswith(b"\n"):
                raise _invalid_line(line_path, line_number, "the line is incomplete")
            yield _parse_line(line_path, line_number, line)


def _parse_line(line_path: Path, line_number: int, line: bytes) -> dict[str, Any]:
    try:
        json_object = operator_files.parse_json(line)
    except ValueError as error:
        raise _invalid_line(line_path, line_number, f"not JSON: {error}") from None
    if not isinstance(json_object, dict):
        raise _invalid_line(line_path, line_number, "not an object")
    return json_object


def _invalid_line(line_path: Path, line_number: int, reason: str) -> InvalidMessageFileError:
    return InvalidMessageFileError(f"{line_path}: line {line_number} is invalid: {reason}")
