"""Files of messages in each form."""

import sys
from pathlib import Path
from typing import Any

import pytest

from nsadmin.operations.message_files.file_form import FileForm, InvalidMessageFileError
from nsadmin.operations.message_files.message_file import read_messages, replace_message_file
from nsadmin.operations.message_files.parquet_file import MissingParquetLibraryError

ROW: dict[str, Any] = {"topic": "T", "body": "ä", "bodyEncoding": "utf-8", "queueId": 2, "brokerName": "b"}


@pytest.mark.parametrize("form", list(FileForm))
def test_messages_come_back_in_order(tmp_path: Path, form: FileForm) -> None:
    with replace_message_file(tmp_path / f"a.{form}", form) as write_row:
        for offset in range(10):
            write_row(ROW | {"queueOffset": offset})
    items = list(read_messages(tmp_path / f"a.{form}"))
    assert [(item.row_number, item.message.queue_offset) for item in items] == [(n, n) for n in range(10)]
    assert {(item.message.body, item.queue_id, item.broker_name) for item in items} == {
        ("ä".encode(), 2, "b")
    }


def test_an_invalid_message_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"topic": "T", "body": "x"}\n{"topic": "T"}\n')
    with pytest.raises(InvalidMessageFileError, match=r"a\.jsonl: message 2 is invalid: the body is empty"):
        list(read_messages(tmp_path / "a.jsonl"))


def test_a_missing_library_is_named_before_a_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingParquetLibraryError, match="pip install"):
        list(read_messages(tmp_path / "missing.parquet"))
