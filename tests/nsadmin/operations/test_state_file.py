"""JSON files of procedures: written whole, read back, and named if they are not JSON."""

from pathlib import Path

import pytest

from nsadmin.operations.drain.state import InvalidStateError
from nsadmin.operations.state_file import read_state_file, write_state_file


def test_a_value_is_read_back_even_with_a_lone_surrogate(tmp_path: Path) -> None:
    state_file = tmp_path / "state.json"
    assert read_state_file(state_file) is None
    write_state_file(state_file, {"topic": "\ud800é", "count": 1})
    assert read_state_file(state_file) == {"topic": "\ud800é", "count": 1}
    assert state_file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", [b"", b"no JSON", b"{", b"\xff"])
def test_a_file_that_is_not_json_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "state.json").write_bytes(content)
    with pytest.raises(InvalidStateError, match=r"state\.json is not JSON: "):
        read_state_file(tmp_path / "state.json")
