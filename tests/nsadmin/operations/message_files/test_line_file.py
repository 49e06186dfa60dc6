"""Lines of JSON: written completely or not at all, and read up to the first invalid line."""

import gzip
from pathlib import Path

import pytest

from nsadmin.operations.message_files.file_form import InvalidMessageFileError
from nsadmin.operations.message_files.line_file import read_lines, replace_line_file


@pytest.mark.parametrize("compresses", [False, True])
def test_what_is_written_is_read(tmp_path: Path, compresses: bool) -> None:
    lines = [{"n": number, "text": "中\u2028\n"} for number in range(100)]
    with replace_line_file(tmp_path / "a", compresses=compresses) as write_line:
        for line in lines:
            write_line(line)
        assert not (tmp_path / "a").exists()
    assert list(read_lines(tmp_path / "a", is_compressed=compresses)) == lines


def test_an_interrupted_file_leaves_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(TypeError), replace_line_file(tmp_path / "a") as write_line:
        write_line({"a": object()})
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a", "old")]


def test_the_same_lines_make_the_same_compressed_file(tmp_path: Path) -> None:
    for name in "ab":
        with replace_line_file(tmp_path / name, compresses=True) as write_line:
            write_line({"a": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_an_invalid_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b'{"a": 1}\n' + b"[" * 100_000 + b"\n")
    lines = read_lines(tmp_path / "a")
    assert next(lines) == {"a": 1}
    problem = r"a: line 2 is invalid: not JSON \(nested too deeply\): each line must be a JSON object, as"
    with pytest.raises(InvalidMessageFileError, match=problem):
        next(lines)
    (tmp_path / "a.gz").write_bytes(gzip.compress(b'{"a": 1}\n')[:-4])
    with pytest.raises(InvalidMessageFileError, match=r"a\.gz: line 2 is invalid: damaged gzip data: "):
        list(read_lines(tmp_path / "a.gz", is_compressed=True))
