"""The forms of a file of messages, and which form a file has by its name. Pure."""

from enum import StrEnum


class FileForm(StrEnum):
    """How a file holds messages. The value is the end of its name."""

    JSON_LINES = "jsonl"
    JSON_LINES_GZIP = "jsonl.gz"
    PARQUET = "parquet"


def find_form(file_name: str) -> FileForm | None:
    """Return the form that the end of a file's name says; None for another end."""
    return next((form for form in FileForm if file_name.endswith(f".{form}")), None)


class InvalidMessageFileError(Exception):
    """A file is not a file of messages. The text is one line that says where and why."""
