"""Replacing a file: old or new, whatever is killed and whatever is full."""

import os
import random
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from namesrv_core.storage.atomic_write import replace_file
from tests.support.name_servers import ROOT

OLD, NEW = b"old " * 5000, b"new " * 9000


def run_child(program: str, *args: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, args)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_that_was_not_there_is_written_with_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file"
    replace_file(path, NEW)
    assert path.read_bytes() == NEW
    assert names(path.parent) == ["file"]


def test_what_was_there_is_kept_as_bak(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content in (b"1", b"2", b"3"):
        replace_file(path, content)
    assert path.read_bytes() == b"3"
    assert (tmp_path / "file.bak").read_bytes() == b"2"
    assert names(tmp_path) == ["file", "file.bak"]


def test_whoever_has_the_old_file_open_reads_it_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    replace_file(path, OLD)
    with open(path, "rb") as reader:
        replace_file(path, NEW)
        assert reader.read() == OLD


KILLED_BEFORE_STEP = """
import os, signal, sys
from pathlib import Path
from namesrv_core.storage.atomic_write import replace_file
path, step, steps = Path(sys.argv[1]), int(sys.argv[2]), 0
def hook(event, args):
    global steps
    if event == "open" and str(path.parent) in str(args[0]) or event in ("os.rename", "os.link", "os.remove"):
        steps += 1
        if steps == step:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
replace_file(path, b"new " * 9000)
print("done")
"""


def test_a_process_killed_before_any_step_leaves_the_old_or_the_new_content(tmp_path: Path) -> None:
    path = tmp_path / "file"
    replace_file(path, OLD)
    contents_seen = []
    for step in range(1, 20):
        replace_file(path, OLD)
        child = run_child(KILLED_BEFORE_STEP, path, step)
        out, _ = child.communicate(timeout=20)
        assert path.read_bytes() in (OLD, NEW)
        assert (tmp_path / "file.bak").read_bytes() in (OLD, NEW)
        contents_seen.append((path.read_bytes() == NEW, out == "done\n"))
        if child.returncode == 0:
            break
        assert child.returncode == -signal.SIGKILL
    # Killed at many places before the change, at least one after it, and then not at all.
    assert contents_seen.count((False, False)) >= 4
    assert (True, False) in contents_seen
    assert contents_seen[-1] == (True, True)


REPLACED_AGAIN_AND_AGAIN = """
import sys
from pathlib import Path
from namesrv_core.storage.atomic_write import replace_file
number = int(sys.argv[2])
while True:
    replace_file(Path(sys.argv[1]), b"%09d" % number * 3000)
    print(number, flush=True)
    number += 1
"""


def test_a_process_killed_at_any_moment_loses_nothing_that_it_had_acknowledged(tmp_path: Path) -> None:
    path, number, chance = tmp_path / "file", 0, random.Random(7)
    for _ in range(8):
        child = run_child(REPLACED_AGAIN_AND_AGAIN, path, number)
        assert child.stdout is not None
        for _ in range(chance.randrange(1, 40)):
            number = int(child.stdout.readline())
        child.kill()
        # Not communicate(): with a time-out it does not see what readline() has read ahead.
        rest = child.stdout.read().split()
        child.stdout.close()
        child.wait(20)
        acknowledged = int(rest[-1]) if rest else number
        content = path.read_bytes()
        assert content in (b"%09d" % acknowledged * 3000, b"%09d" % (acknowledged + 1) * 3000)
        number = acknowledged + 2


FULL = """
import resource, sys
from pathlib import Path
from namesrv_core.storage.atomic_write import replace_file
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    replace_file(Path(sys.argv[1]), b"new " * 9000)
except OSError as error:
    print(type(error).__name__, error.errno)
"""


@pytest.mark.parametrize("there", [True, False])
def test_a_disk_that_takes_no_more_leaves_the_old_content_and_no_rubbish(tmp_path: Path, there: bool) -> None:
    path = tmp_path / "file"
    if there:
        replace_file(path, b"older")
        replace_file(path, OLD)
    before = names(tmp_path)
    out, _ = run_child(FULL, path).communicate(timeout=20)
    assert out.startswith("OSError")
    assert names(tmp_path) == before
    if there:
        assert path.read_bytes() == OLD
        assert (tmp_path / "file.bak").read_bytes() == b"older"


def test_a_folder_that_is_a_file_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file")
    with pytest.raises(OSError, match="folder"):
        replace_file(tmp_path / "folder" / "file", NEW)
    assert (tmp_path / "folder").read_text() == "a file"


def test_a_path_that_is_a_folder_is_an_os_error_and_stays(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError, match=r"file"):
        replace_file(tmp_path / "file", NEW)
    assert (tmp_path / "file").is_dir()
    assert [name for name in names(tmp_path) if name.endswith("new")] == []


def test_rubbish_of_a_killed_process_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "file"
    replace_file(path, OLD)
    for name in (".file.new", ".file.bak.new"):
        (tmp_path / name).write_bytes(b"half")
    replace_file(path, NEW)
    assert path.read_bytes() == NEW
    assert (tmp_path / "file.bak").read_bytes() == OLD
    assert names(tmp_path) == ["file", "file.bak"]


def test_the_permissions_of_a_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    path.chmod(0o600)
    replace_file(path, NEW)
    assert path.stat().st_mode & 0o777 == 0o600


def test_others_may_at_no_moment_read_more_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, modes_seen = tmp_path / "file", list[int]()
    path.write_bytes(OLD)
    path.chmod(0o600)
    monkeypatch.setattr(os, "fsync", lambda number: modes_seen.append(os.fstat(number).st_mode & 0o777))
    replace_file(path, b"new")
    assert modes_seen[0] == 0o600


def test_a_link_stays_a_link_and_its_file_is_replaced(tmp_path: Path) -> None:
    link, real = tmp_path / "link", tmp_path / "real"
    real.write_bytes(OLD)
    link.symlink_to(real)
    replace_file(link, NEW)
    assert link.is_symlink()
    assert real.read_bytes() == NEW


def test_without_a_backup_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content in (OLD, NEW):
        replace_file(path, content, keeps_backup=False)
    assert path.read_bytes() == NEW
    assert names(tmp_path) == ["file"]


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_and_its_backup_are_for_their_owner_alone_unless_others_are_to_read_it(
    tmp_path: Path,
) -> None:
    umask_before = os.umask(0o022)
    try:
        for content in (OLD, NEW):
            replace_file(tmp_path / "file", content)
            replace_file(tmp_path / "report", content, is_private=False)
    finally:
        os.umask(umask_before)
    modes = {path.name: mode_of(path) for path in tmp_path.iterdir()}
    assert modes == {"file": 0o600, "file.bak": 0o600, "report": 0o644, "report.bak": 0o644}


@pytest.mark.parametrize("name", [".file.new", ".file.bak.new"])
@pytest.mark.parametrize("can_link", [True, False])
def test_a_link_in_the_place_of_a_temporary_file_is_not_followed(
    tmp_path: Path, name: str, can_link: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, victim = tmp_path / "file", tmp_path / "victim"
    path.write_bytes(OLD)
    path.chmod(0o640)
    victim.write_bytes(b"precious")

    def refuse(*_: object) -> None:
        raise PermissionError("no links on this file system")

    if not can_link:
        monkeypatch.setattr(os, "link", refuse)
    (tmp_path / name).symlink_to(victim)
    replace_file(path, NEW)
    assert victim.read_bytes() == b"precious"
    assert not path.is_symlink()
    assert (path.read_bytes(), (tmp_path / "file.bak").read_bytes()) == (NEW, OLD)
    assert [mode_of(tmp_path / name) for name in ("file", "file.bak")] == [0o640, 0o640]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a link to another user")
def test_a_link_of_another_user_is_neither_followed_nor_replaced(tmp_path: Path) -> None:
    link, real = tmp_path / "link", tmp_path / "real"
    real.write_bytes(OLD)
    link.symlink_to(real)
    os.chown(link, 12345, 12345, follow_symlinks=False)
    with pytest.raises(PermissionError, match="another user"):
        replace_file(link, NEW)
    assert real.read_bytes() == OLD
    assert link.is_symlink()
