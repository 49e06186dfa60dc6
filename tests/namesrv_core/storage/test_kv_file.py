"""kvConfig.json, ours and Java's."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.storage import kv_file
from namesrv_core.storage.kv_file import CorruptFileError

JAVA = (
    '{"configTable":{"ORDER_TOPIC_CONFIG":{"TopicA":"broker-a:8;broker-b:8","é":"\\"\\\\\\u000b/"},'
    '"empty":{}}}'
)
TABLES = {"ORDER_TOPIC_CONFIG": {"TopicA": "broker-a:8;broker-b:8", "é": '"\\\x0b/'}, "empty": {}}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kvConfig.json"


def test_a_file_of_java_s_is_read(path: Path) -> None:
    path.write_text(JAVA, "utf-8")
    assert kv_file.load_kv_tables(path) == TABLES


def test_a_file_is_written_byte_for_byte_as_java_writes_it(path: Path) -> None:
    kv_file.save_kv_tables(path, TABLES)
    assert path.read_text("utf-8") == JAVA


def test_the_content_of_before_is_kept_as_bak(path: Path) -> None:
    path.write_text(JAVA, "utf-8")
    kv_file.save_kv_tables(path, {})
    assert path.read_text() == '{"configTable":{}}'
    assert path.with_name("kvConfig.json.bak").read_text("utf-8") == JAVA


@given(tables=st.dictionaries(TEXT, st.dictionaries(TEXT, TEXT, max_size=3), max_size=3))
def test_any_tables_read_back(
    tmp_path_factory: pytest.TempPathFactory, tables: dict[str, dict[str, str]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    kv_file.save_kv_tables(path, tables)
    assert kv_file.load_kv_tables(path) == tables


def test_a_value_that_is_null_is_not_written(path: Path) -> None:
    kv_file.save_kv_tables(path, {"n": {"a": None, "b": "1"}})
    assert kv_file.load_kv_tables(path) == {"n": {"b": "1"}}


@pytest.mark.parametrize("content", ["", " \n", "{}", '{"configTable":{}}', '{"configTable":{},"more":1}'])
def test_a_file_without_anything_is_empty(path: Path, content: str) -> None:
    path.write_text(content)
    assert kv_file.load_kv_tables(path) == {}


def test_a_file_that_is_not_there_is_empty(path: Path) -> None:
    assert kv_file.load_kv_tables(path) == {}


def test_values_that_are_no_text_become_text(path: Path) -> None:
    path.write_text('{"configTable":{"n":{"a":1,"b":true,"c":[1],"d":null,5:"x"}}}')
    assert kv_file.load_kv_tables(path) == {"n": {"a": "1", "b": "true", "c": "[1]", "d": None, "5": "x"}}


@pytest.mark.parametrize(
    "content",
    [
        b"x",
        b'{"configTable":',
        b'{"configTable":{"n":{"k":"\xff"}}}',
        b'{"table":{}}',
        b'{"configTable":null}',
        b'{"configTable":[]}',
        b'{"configTable":{"n":"x"}}',
        b"[]",
        b"null",
        b'{"configTable":{"n":' + b"[" * 5000,
        b'{"configTable":{"n":{"k":' + b"[" * 600 + b"]" * 600 + b"}}}",
    ],
)  # fmt: skip
def test_a_corrupt_file_is_named_with_the_reason_in_one_line(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(CorruptFileError) as corrupt:
        kv_file.load_kv_tables(path)
    text = str(corrupt.value)
    assert text.startswith(f'invalid KV file "{path}": ')
    assert "\n" not in text
    assert path.read_bytes() == content


def test_a_path_that_cannot_be_read_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="directory"):
        kv_file.load_kv_tables(tmp_path)
