"""namesrv.properties: lines, escapes, and back."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.storage import settings_file
from namesrv_core.storage.kv_file import CorruptFileError
from namesrv_core.storage.settings_file import SettingItem

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "namesrv.properties"


def test_keys_come_with_the_numbers_of_their_lines(path: Path) -> None:
    path.write_bytes(
        b"# comment\n"
        b"listenPort=9876\n"
        b"\n"
        b"  ! another\n"
        b"productEnvName : one \\\n"
        b"    two\n"
        b"kvConfigPath C:\\\\kv\r\n"
        b"enableTopicList=true \n"
        b"listenPort=\n"
        b"last\\u0041=\xe9"
    )
    assert settings_file.load_setting_items(path) == [
        SettingItem(2, "listenPort", "9876"),
        SettingItem(5, "productEnvName", "one two"),
        SettingItem(7, "kvConfigPath", "C:\\kv"),
        SettingItem(8, "enableTopicList", "true "),
        SettingItem(9, "listenPort", ""),
        SettingItem(10, "lastA", "é"),
    ]


def test_an_empty_file_has_no_keys(path: Path) -> None:
    path.write_bytes(b"")
    assert settings_file.load_setting_items(path) == []


@given(items=st.dictionaries(TEXT, TEXT, max_size=5))
def test_any_items_read_back(tmp_path_factory: pytest.TempPathFactory, items: dict[str, str]) -> None:
    path = tmp_path_factory.getbasetemp() / "any.properties"
    settings_file.save_settings(path, items)
    assert {item.key: item.value for item in settings_file.load_setting_items(path)} == items


def test_backslashes_and_text_beyond_ascii_survive_a_round_trip(path: Path) -> None:
    items = {"kvConfigPath": "C:\\kv\\n", "productEnvName": " é値😀# ", "a=b:c": "#!="}
    settings_file.save_settings(path, items)
    assert path.read_bytes().isascii()
    assert {item.key: item.value for item in settings_file.load_setting_items(path)} == items


def test_a_saved_file_has_no_time_in_it_and_keeps_the_old_one(path: Path) -> None:
    settings_file.save_settings(path, {"a": "1"})
    settings_file.save_settings(path, {"a": "2"})
    assert path.read_bytes() == b"a=2\n"
    assert path.with_name("namesrv.properties.bak").read_bytes() == b"a=1\n"


def test_a_broken_escape_is_named_with_the_file(path: Path) -> None:
    path.write_bytes(b"a=\\u12\n")
    with pytest.raises(CorruptFileError, match=r'invalid properties file ".*namesrv\.properties"'):
        settings_file.load_setting_items(path)


def test_a_file_that_is_not_there_is_an_os_error(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        settings_file.load_setting_items(path)
