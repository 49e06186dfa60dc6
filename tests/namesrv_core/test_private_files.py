"""Files for their owner alone, and the links that are followed."""

import os
import stat
from pathlib import Path

import pytest

from namesrv_core import private_files
from tests.support.hostile_folder import foreign_link, limit_file_size, needs_root

APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT


def write_through(path: Path) -> None:
    descriptor = private_files.open_private_file(path, APPEND)
    os.write(descriptor, b"written")
    os.close(descriptor)


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_a_new_file_is_for_its_owner_alone(tmp_path: Path, umask: int) -> None:
    umask_before = os.umask(umask)
    try:
        write_through(tmp_path / "file")
    finally:
        os.umask(umask_before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600


def test_it_opens_files_for_open_too(tmp_path: Path) -> None:
    with open(tmp_path / "file", "x", opener=private_files.open_private_file) as file:
        file.write("text")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600
    with pytest.raises(FileExistsError), open(tmp_path / "file", "x", opener=private_files.open_private_file):
        pass


def test_links_of_ones_own_are_followed(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to(tmp_path / "real")
    write_through(tmp_path / "one")
    assert (tmp_path / "real").read_bytes() == b"written"


@needs_root
def test_a_link_of_another_user_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"")
    link = foreign_link(tmp_path / "link", tmp_path / "real")
    (tmp_path / "own").symlink_to(link)
    for path in (link, tmp_path / "own"):
        with pytest.raises(
            PermissionError, match="not followed, because it is a symbolic link of another user"
        ):
            write_through(path)
    assert (tmp_path / "real").read_bytes() == b""


@needs_root
def test_a_link_of_the_owner_of_its_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    link = foreign_link(tmp_path / "theirs" / "link", tmp_path / "real")
    os.chown(tmp_path / "theirs", 12345, 12345)
    write_through(link)
    assert (tmp_path / "real").read_bytes() == b"written"


@needs_root
def test_a_link_of_another_user_in_place_of_a_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = foreign_link(tmp_path / "link", tmp_path / "real")
    (tmp_path / "own").symlink_to("link/../link")
    for folder in (link, tmp_path / "own"):
        for write in (write_through, private_files.make_folder):
            with pytest.raises(PermissionError, match="symbolic link of another user") as error:
                write(folder / "deep" / "file")
            assert error.value.filename == str(link)
    assert list((tmp_path / "real").iterdir()) == []


def test_links_of_ones_own_in_place_of_folders_are_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private_files.make_folder(tmp_path / "real" / "deep", 0o700)
    assert stat.S_IMODE((tmp_path / "real" / "deep").stat().st_mode) == 0o700
    (tmp_path / "one").symlink_to("real/./deep/..")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    monkeypatch.chdir(tmp_path / "real")
    write_through(Path("../two/deep/file"))
    assert (tmp_path / "real" / "deep" / "file").read_bytes() == b"written"


def test_a_link_that_appears_after_the_check_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setattr(private_files, "check_links", lambda path: False)
    with pytest.raises(OSError, match="symbolic links"):
        write_through(tmp_path / "link")
    assert not (tmp_path / "real").exists()


def test_a_circle_of_links_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises(OSError, match="symbolic links"):
        write_through(tmp_path / "one")


def test_the_streams_of_a_process_can_be_written_to_by_their_names() -> None:
    reading_end, writing_end = os.pipe()
    try:
        write_through(Path(f"/proc/self/fd/{writing_end}"))
        assert os.read(reading_end, 100) == b"written"
    finally:
        os.close(reading_end)
        os.close(writing_end)


def test_a_record_is_appended_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "file"
    private_files.append_record(file, b"one\n")
    with limit_file_size(7), pytest.raises(OSError, match="too large") as error:
        private_files.append_record(file, b"two is long\n")
    assert (error.value.filename, file.read_bytes()) == (str(file), b"one\n")
    private_files.append_record(file, b"three\n", syncs=True)
    assert file.read_bytes() == b"one\nthree\n"


def test_a_record_after_a_torn_one_begins_on_a_new_line(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"to")
    private_files.append_record(file, b"one\n")
    assert file.read_bytes() == b"to\none\n"


def test_what_another_process_appended_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, write = tmp_path / "file", os.write

    def write_a_part(descriptor: int, content: bytes) -> int:
        if content[:2] != b"on":
            write(descriptor, b"other\n")
            raise OSError(28, "No space left on device")
        return write(descriptor, content[:2])

    monkeypatch.setattr(os, "write", write_a_part)
    monkeypatch.setattr(os, "lseek", lambda *_: 2)
    with pytest.raises(OSError, match="No space"):
        private_files.append_record(file, b"one\n")
    assert file.read_bytes() == b"onother\n"


def test_a_mode_is_advised_of_regular_files_only(tmp_path: Path) -> None:
    file = tmp_path / "a b"
    file.touch()
    assert private_files.advise_mode(file) == f"run `chmod 600 '{file}'`"
    for path in ("/dev/null", "/proc/self/status", tmp_path):
        assert private_files.advise_mode(path) == "name a regular file that only you can read"
