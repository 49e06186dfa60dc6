"""Files of lines of JSON, plain or compressed with gzip: one object per line."""

import gzip
import json
import re
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
    path: Path, *, compresses: bool = False
) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Yield a function that writes an object as a line. The file appears when all lines are written.

    Only its owner can read it. Raises OSError if it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.new")
    try:
        with (
            open(temporary, "wb", opener=private_files.open_private_file) as new_file,
            _open_lines(new_file, compresses) as line_file,
        ):

            def write_line(value: Mapping[str, Any]) -> None:
                line_file.write(json.dumps(value, ensure_ascii=False).encode() + b"\n")

            yield write_line
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _open_lines(new_file: IO[bytes], compresses: bool) -> Iterator[IO[bytes] | gzip.GzipFile]:
    if not compresses:
        yield new_file
        return
    # Without a name and a time: the same messages make the same file.
    with gzip.GzipFile("", "wb", 6, new_file, 0) as gzip_file:
        yield gzip_file


def read_lines(path: Path, *, is_compressed: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the object of each line.

    Raises InvalidMessageFileError for an invalid line, or an incomplete last line, and OSError.
    """
    with gzip.open(path, "rb") if is_compressed else open(path, "rb") as line_file:
        number = 0
        while True:
            number += 1
            try:
                line = line_file.readline(_MAX_LINE_BYTES)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise _invalid_line(path, number, f"damaged gzip data: {error}") from None
            if not line:
                return
            if not line.endswith(b"\n"):
                raise _invalid_line(path, number, "the line is incomplete")
            yield _parse_line(path, number, line)


_FORMAT = "each line must be a JSON object, as `nsadmin messages export TOPIC --out FILE.jsonl` writes it"


def _parse_line(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        value = operator_files.parse_json(line.rstrip(b"\n"))
    except ValueError as error:
        place = re.sub(r": line 1 column (\d+) .*", r" at character \1", str(error))
        raise _invalid_line(path, number, f"not JSON ({place}): {_FORMAT}") from None
    if not isinstance(value, dict):
        raise _invalid_line(path, number, f"not an object: {_FORMAT}")
    return value


def _invalid_line(path: Path, number: int, reason: str) -> InvalidMessageFileError:
    return InvalidMessageFileError(f"{path}: line {number} is invalid: {reason}")
