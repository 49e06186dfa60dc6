"""The credentials file on the disk."""

import os
from pathlib import Path

import pytest

from namesrv_core.errors import BadSettings
from namesrv_core.storage.credentials_file import is_world_readable, load_credentials, read_file_mark
from tests.support.hostile_yaml import HOSTILE_YAML


@pytest.mark.parametrize(
    ("name", "text"),
    [("c.yaml", "everybody: read # why\n"), ("c.json", '{"everybody":\t"read"}'), ("c", "{everybody: read}")],
)
def test_yaml_and_json_say_the_same(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert load_credentials(tmp_path / name) == {"everybody": "read"}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("c.yaml", b"accounts:\n  - secretKey: 'hush-hush\n", 'c.yaml", line 2: the \' here is not closed'),
        ("c.yaml", b"everybody: read\n\t- hush-hush", 'c.yaml", line 2: '),
        ("c.yaml", b"a: &a [*a, !!python/object:x {}]\n", 'c.yaml", line 1: '),
        ("c.yaml", b"a: \x01", 'invalid YAML in "'),
        ("c.json", b'{"secretKey": "hush-hush', 'c.json": Unterminated string'),
        ("c.yaml", b"secretKey: *hush\n", 'c.yaml", line 1: found undefined alias'),
        ("c.yaml", b"secretKey: !hush-hush\n", "line 1: could not determine a constructor for the tag"),
        ("c.yaml", b"secretKey: !hush!hush x\n", 'c.yaml", line 1: found undefined tag handle'),
        ("c.yaml", b"secretKey: &hush &hush x\n", 'c.yaml", line 1: '),
        ("c.yaml", b"accounts:\n - {role: read,\n    role: admin}\n", 'line 2: duplicate key "role"'),
        ("c.json", b'{"accounts": [], "accounts": []}', 'c.json": duplicate key "accounts"'),
        ("c.yaml", b"\xff\xfe", 'c.yaml": not UTF-8 text'),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named_and_not_shown(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadSettings) as wrong:
        load_credentials(tmp_path / name)
    assert said in str(wrong.value)
    assert "hush" not in str(wrong.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match=r"c\.yaml: No such file or directory"):
        load_credentials(tmp_path / "c.yaml")
    assert read_file_mark(tmp_path / "c.yaml") is None


def test_a_mark_changes_with_the_file_and_with_what_is_put_in_its_place(tmp_path: Path) -> None:
    path, other = tmp_path / "c.yaml", tmp_path / "d.yaml"
    path.write_text("a")
    first = read_file_mark(path)
    assert read_file_mark(path) == first
    other.write_text("a")
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    os.replace(other, path)
    second = read_file_mark(path)
    assert second != first
    path.write_text("ab")
    assert read_file_mark(path) != second


def test_a_file_that_everybody_may_read_is_exposed(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("a")
    path.chmod(0o640)
    assert not is_world_readable(path)
    path.chmod(0o644)
    assert is_world_readable(path)


@pytest.mark.parametrize("name", HOSTILE_YAML)
def test_hostile_yaml_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(HOSTILE_YAML[name])
    with pytest.raises(BadSettings, match=r'invalid YAML in ".*c\.yaml"'):
        load_credentials(file)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_text(" " * (1 << 21))
    with pytest.raises(BadSettings, match="File too large"):
        load_credentials(file)
