"""Messages in Parquet: bytes and texts that come back, and what other programs read."""

import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from namesrv_core.protocol.stored_messages import decode_messages
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.commands.messages.message_rows import MESSAGE_COLUMNS, show_message
from nsadmin.console.output import read_row
from nsadmin.operations.message_files.file_form import InvalidMessageFileError
from nsadmin.operations.message_files.parquet_file import read_parquet_rows, replace_parquet_file
from tests.support.messages import encode_message


def make_row(body: bytes, **table: str) -> dict[str, Any]:
    [message] = decode_messages(encode_message(body, "T", table=table, stored=1_700_000_000_123)).messages
    return read_row(MESSAGE_COLUMNS, show_message(LocatedMessage("broker-a", message)))


def test_a_row_comes_back_with_bytes_and_times(tmp_path: Path) -> None:
    rows = [make_row(b"\xff\x00\n", KEYS="a b", mine="x\0ä"), make_row("中\0'".encode()), make_row(b"base64")]
    with replace_parquet_file(tmp_path / "it's [1].parquet") as write_row:
        for row in rows:
            write_row(row)
    read = list(read_parquet_rows(tmp_path / "it's [1].parquet"))
    assert [row["body"] for row in read] == [b"\xff\x00\n", "中\0'".encode(), b"base64"]
    assert read[0]["storeTime"] == datetime.datetime(2023, 11, 14, 22, 13, 20, 123_000)
    assert (read[0]["keys"], read[0]["properties"]) == (["a", "b"], {"KEYS": "a b", "mine": "x\0ä"})
    assert read[0].keys() == rows[0].keys()


def test_a_time_beyond_the_calendar_is_null(tmp_path: Path) -> None:
    with replace_parquet_file(tmp_path / "a.parquet") as write_row:
        write_row(make_row(b"x") | {"bornTime": "9223372036854775807"})
    assert [row["bornTime"] for row in read_parquet_rows(tmp_path / "a.parquet")] == [None]


def test_a_query_finds_a_property(tmp_path: Path) -> None:
    with replace_parquet_file(tmp_path / "a.parquet") as write_row:
        for number in range(3):
            write_row(make_row(b"x", n=str(number)))
    query = f"select count(*) from '{tmp_path}/a.parquet' where properties['n'] = '1'"
    relation = duckdb.sql(query)
    assert relation is not None
    assert relation.fetchall() == [(1,)]


def test_another_file_is_no_parquet_file(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 or not")
    with pytest.raises(InvalidMessageFileError, match=r"a\.parquet is not a readable Parquet file: "):
        list(read_parquet_rows(tmp_path / "a.parquet"))
    with pytest.raises(FileNotFoundError):
        list(read_parquet_rows(tmp_path / "*.parquet"))
