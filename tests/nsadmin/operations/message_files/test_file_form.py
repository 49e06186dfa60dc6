"""The form of a file, by its name."""

import pytest

from nsadmin.operations.message_files.file_form import FileForm, find_form


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.jsonl", FileForm.JSON_LINES),
        ("a/b.jsonl.gz", FileForm.JSON_LINES_GZIP),
        ("a.parquet", FileForm.PARQUET),
        ("a.json", None),
        ("jsonl", None),
        ("a.gz", None),
    ],
)
def test_the_end_of_a_name_says_the_form(name: str, form: FileForm | None) -> None:
    assert find_form(name) == form
