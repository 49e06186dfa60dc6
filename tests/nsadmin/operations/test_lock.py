"""One process at a time."""

import os
from pathlib import Path

from nsadmin.operations.lock import Lock


def test_one_has_it_and_others_see_who(tmp_path: Path) -> None:
    first, second = Lock(tmp_path / "a" / "lock"), Lock(tmp_path / "a" / "lock")
    assert first.pid is None
    assert [first.take(), first.take(), second.take()] == [True, True, False]
    assert second.pid == os.getpid()
    first.leave()
    first.leave()
    assert second.pid is None
    assert second.take()
    second.leave()
