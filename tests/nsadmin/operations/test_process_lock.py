"""One process at a time."""

import fcntl
import os
import threading
from pathlib import Path

import pytest

from nsadmin.operations.process_lock import ProcessLock


def test_one_has_it_and_others_see_who(tmp_path: Path) -> None:
    first, second = ProcessLock(tmp_path / "a" / "lock"), ProcessLock(tmp_path / "a" / "lock")
    assert first.holder_pid is None
    assert [first.acquire(), first.acquire(), second.acquire()] == [True, True, False]
    assert second.holder_pid == os.getpid()
    first.release()
    first.release()
    assert second.holder_pid is None
    assert second.acquire()
    with pytest.raises(RuntimeError, match=f"process {os.getpid()}"), first.hold(RuntimeError):
        pytest.fail("two have it")
    second.release()
    with first.hold(RuntimeError):
        assert not second.acquire()
    assert second.holder_pid is None


def test_an_owner_is_known_as_soon_as_it_has_the_lock(tmp_path: Path) -> None:
    """It writes its process id a moment later. Who looks in between waits for it."""
    lock_path = tmp_path / "lock"
    with open(lock_path, "a+") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        write = threading.Timer(0.01, lock_path.write_text, ["4711\n"])
        write.start()
        assert ProcessLock(lock_path).holder_pid == 4711
        write.join()
        lock_path.write_text("")
        assert ProcessLock(lock_path).holder_pid == 0


def test_who_only_looks_keeps_nobody_from_it(tmp_path: Path) -> None:
    looking, is_over = ProcessLock(tmp_path / "lock"), threading.Event()

    def look() -> None:
        while not is_over.is_set():
            assert looking.holder_pid in (None, os.getpid(), 0)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for _ in range(2000):
            lock = ProcessLock(tmp_path / "lock")
            assert lock.acquire()
            lock.release()
    finally:
        is_over.set()
        thread.join()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a link to another user")
def test_a_link_of_another_user_is_neither_locked_nor_cut(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "lock").symlink_to(tmp_path / "victim")
    os.chown(tmp_path / "lock", 12345, 12345, follow_symlinks=False)
    with pytest.raises(PermissionError, match="another user"):
        ProcessLock(tmp_path / "lock").acquire()
    assert (tmp_path / "victim").read_text() == "precious"
