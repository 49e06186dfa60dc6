"""Archives whose manifest lists the checksum of every member."""

import tracemalloc
import zipfile
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from nsadmin.client.verified_archive import (
    MANIFEST,
    InvalidArchiveError,
    VerifiedArchive,
    build_manifest,
    encode_json,
    pack_in_turn,
    pack_members,
)

MEMBERS = {"a.json": b"{}", "b.txt": b"hello"}


def write(path: Path, members: dict[str, bytes] = MEMBERS, manifest: bytes | None = None) -> Path:
    content = build_manifest(1, {"made": "today"}, MEMBERS) if manifest is None else manifest
    path.write_bytes(pack_members({MANIFEST: content, **members}))
    return path


def test_equal_members_give_equal_bytes() -> None:
    assert pack_members(MEMBERS) == pack_members(dict(MEMBERS))
    assert encode_json({"b": 1, "a": "ü"}) == '{"a":"ü","b":1}'.encode()


def test_an_archive_returns_what_was_written(tmp_path: Path) -> None:
    with VerifiedArchive(write(tmp_path / "a.zip"), "bundle", 1) as archive:
        assert archive.manifest["made"] == "today"
        assert archive.read_members() == MEMBERS
        assert archive.read_member("b.txt") == b"hello"
        assert archive.read_unlisted("c.sig") is None


def test_members_can_be_made_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(pack_in_turn(1, {"made": "today"}, iter(MEMBERS.items()), 1))
    with VerifiedArchive(tmp_path / "a.zip", "bundle", 1) as archive:
        assert (archive.manifest["made"], archive.read_members()) == ("today", MEMBERS)


def test_a_member_that_was_changed_or_added_is_refused(tmp_path: Path) -> None:
    with VerifiedArchive(write(tmp_path / "a.zip", {**MEMBERS, "b.txt": b"bye"}), "bundle", 1) as archive:
        assert archive.read_member("a.json") == b"{}"
        with pytest.raises(InvalidArchiveError, match=r"was changed: b\.txt is not as its manifest says"):
            archive.read_member("b.txt")
    with (
        VerifiedArchive(write(tmp_path / "b.zip", {**MEMBERS, "c.txt": b"new"}), "bundle", 1) as archive,
        pytest.raises(InvalidArchiveError, match=r"was changed: c\.txt"),
    ):
        archive.read_members()
    unlisted = frozenset({"c.txt"})
    with VerifiedArchive(tmp_path / "b.zip", "bundle", 1, unlisted_names=unlisted) as archive:
        assert archive.read_members() == MEMBERS
        assert archive.read_unlisted("c.txt") == b"new"


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        (build_manifest(2, {}, MEMBERS), "has the format 2, but this nsadmin reads format 1"),
        (b"[]", "manifest.json is not readable"),
    ],
)
def test_a_manifest_of_another_format_is_refused(tmp_path: Path, manifest: bytes, reason: str) -> None:
    with pytest.raises(InvalidArchiveError, match=reason):
        VerifiedArchive(write(tmp_path / "a.zip", manifest=manifest), "bundle", 1)


def test_another_file_is_refused_by_what_it_should_be(tmp_path: Path) -> None:
    text_file = tmp_path / "a.txt"
    text_file.write_text("hello")
    with pytest.raises(InvalidArchiveError, match="is damaged, or is not a bundle of nsadmin"):
        VerifiedArchive(text_file, "bundle", 1)
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(InvalidArchiveError, match="is not a bundle of nsadmin: it has no manifest"):
        VerifiedArchive(tmp_path / "b.zip", "bundle", 1)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_only_stored_and_deflated_members_are_read(tmp_path: Path, method: int) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(MANIFEST, build_manifest(1, {}, MEMBERS))
        archive.writestr("a.json", b"{}", method)
    with pytest.raises(InvalidArchiveError, match="compressed with another method than deflate"):
        VerifiedArchive(tmp_path / "a.zip", "bundle", 1)


def test_an_archive_that_inflates_far_beyond_its_size_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in (MANIFEST, *"abcdefgh"):
            archive.writestr(name, bytes(10 << 20))
    with pytest.raises(InvalidArchiveError, match="it inflates to more than"):
        VerifiedArchive(tmp_path / "a.zip", "bundle", 1)


def test_members_are_verified_piece_by_piece(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        large = {"large.bin": bytes(60 << 20)}
        archive.writestr(MANIFEST, build_manifest(1, {}, large))
        archive.writestr("large.bin", large["large.bin"])
    large.clear()
    with VerifiedArchive(tmp_path / "a.zip", "bundle", 1) as archive_file:
        tracemalloc.start()
        try:
            archive_file.verify_members()
            peak_bytes = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak_bytes < 8 << 20
    for members, name in (
        ({**MEMBERS, "c.txt": b"new"}, "c.txt"),
        ({"a.json": b"{}"}, "b.txt"),
        ({**MEMBERS, "b.txt": b""}, "b.txt"),
    ):
        with (
            VerifiedArchive(write(tmp_path / "b.zip", members), "bundle", 1) as archive_file,
            pytest.raises(InvalidArchiveError, match=f"was changed: {name}"),
        ):
            archive_file.verify_members()


def test_a_deep_manifest_and_damaged_members_are_one_line(tmp_path: Path) -> None:
    deep = b'{"format":1,"files":' + b"[" * 50_000 + b"]" * 50_000 + b"}"
    with pytest.raises(InvalidArchiveError, match=r"manifest\.json is not readable"):
        VerifiedArchive(write(tmp_path / "a.zip", manifest=deep), "bundle", 1)
    content = write(tmp_path / "b.zip").read_bytes()
    random = Random(0)
    for _ in range(300):
        damaged = bytearray(content)
        for _ in range(random.randint(1, 8)):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        (tmp_path / "c.zip").write_bytes(damaged)
        with (
            suppress(InvalidArchiveError, OSError),
            VerifiedArchive(tmp_path / "c.zip", "bundle", 1) as archive,
        ):
            archive.verify_members()
            archive.read_members()
