"""JSON files of procedures: written whole, read back with types, and named if they are damaged."""

from pathlib import Path
from typing import Any

import pytest

from nsadmin.operations.drain.state import InvalidStateError, convert_saved
from nsadmin.operations.state_file import read_state_file, write_state_file


def parse(json_value: Any) -> dict[str, str | int]:
    return convert_saved(json_value, dict[str, str | int])


def test_a_value_is_read_back_even_with_a_lone_surrogate(tmp_path: Path) -> None:
    state_file = tmp_path / "state.json"
    assert read_state_file(state_file, parse) is None
    write_state_file(state_file, {"topic": "\ud800é", "count": 1})
    assert read_state_file(state_file, parse) == {"topic": "\ud800é", "count": 1}
    assert state_file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", [b"", b"no JSON", b"{", b"\xff", b"[" * 50_000])
def test_a_file_that_is_not_json_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "state.json").write_bytes(content)
    with pytest.raises(
        InvalidStateError, match=r"/state\.json is not JSON: .*: restore the file, or move it away"
    ):
        read_state_file(tmp_path / "state.json", parse)


def test_what_is_damaged_or_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"a":null}')
    with pytest.raises(InvalidStateError, match=r"/state\.json: expected int \| str, got null"):
        read_state_file(tmp_path / "state.json", parse)
    with pytest.raises(InvalidStateError, match=f"cannot read {tmp_path}: Is a directory"):
        read_state_file(tmp_path, parse)
