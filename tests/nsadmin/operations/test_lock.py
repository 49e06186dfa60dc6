"""One process at a time."""

import os
import threading
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


def test_who_only_looks_keeps_nobody_from_it(tmp_path: Path) -> None:
    looking, is_over = Lock(tmp_path / "lock"), threading.Event()

    def look() -> None:
        while not is_over.is_set():
            assert looking.pid in (None, os.getpid(), 0)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for _ in range(2000):
            lock = Lock(tmp_path / "lock")
            assert lock.take()
            lock.leave()
    finally:
        is_over.set()
        thread.join()
