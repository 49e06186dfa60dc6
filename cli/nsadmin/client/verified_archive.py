"""Verified archives: ZIP files with a manifest of checksums, such as backups and support bundles.

Rule: a member that was cut off, changed, or added later is refused.
"""

import hashlib
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Self

from namesrv_core import operator_files
from namesrv_core.bounded_inflation import max_inflated_bytes
from namesrv_core.errors import BadSettings

MANIFEST = "manifest.json"
_PIECE_BYTES = 1 << 18
_READ_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The others allocate what a damaged file asks for, and have errors of their own."""
_DAMAGE_ERRORS = (
    zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error, zlib.error,
)  # fmt: skip


class InvalidArchiveError(BadSettings):
    """The file is not an archive of this kind, is damaged, or was changed."""


def encode_json(json_value: Any) -> bytes:
    """Encode a value as compact JSON; equal values give equal bytes."""
    json_text = json.dumps(json_value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return json_text.encode("utf-8", "surrogatepass")


def build_manifest(
    format_version: int, header_fields: Mapping[str, Any], members: Mapping[str, bytes]
) -> bytes:
    """Return the manifest of an archive."""
    listed_files = {name: _describe_pieces([content]) for name, content in members.items()}
    return encode_json({"format": format_version, **header_fields, "files": listed_files})


def pack_members(members: Mapping[str, bytes]) -> bytes:
    """Return the bytes of an archive; equal members give equal bytes."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            _write_member(archive, name, content, 6)
    return buffer.getvalue()


def pack_in_turn(
    format_version: int,
    header_fields: Mapping[str, Any],
    members: Iterable[tuple[str, bytes]],
    compression_level: int,
) -> bytes:
    """Return the bytes of an archive with its manifest, without keeping all contents in memory.

    A thread compresses a member while the caller makes the next one.
    """
    # Imported late: reading an archive needs no thread.
    from concurrent.futures import Future, ThreadPoolExecutor

    buffer, listed_files = BytesIO(), dict[str, dict[str, Any]]()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:

        def add_member(name: str, content: bytes) -> None:
            listed_files[name] = _describe_pieces([content])
            _write_member(archive, name, content, compression_level)

        with ThreadPoolExecutor(1) as packer:
            last_work: Future[None] | None = None
            for name, content in members:
                if last_work is not None:
                    last_work.result()
                last_work = packer.submit(add_member, name, content)
            if last_work is not None:
                last_work.result()
        manifest = encode_json({"format": format_version, **header_fields, "files": listed_files})
        _write_member(archive, MANIFEST, manifest, compression_level)
    return buffer.getvalue()


def _write_member(archive: zipfile.ZipFile, name: str, content: bytes, compression_level: int) -> None:
    # A fixed time, so that equal contents give equal files.
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    archive.writestr(entry, content, zipfile.ZIP_DEFLATED, compression_level)


class VerifiedArchive:
    """An open archive. Close it, or use it as a context manager.

    Attributes:
        manifest: The manifest.
        manifest_bytes: The bytes of the manifest.
    """

    def __init__(
        self,
        archive_path: Path,
        archive_kind: str,
        format_version: int,
        error_type: type[InvalidArchiveError] = InvalidArchiveError,
        unlisted_names: frozenset[str] = frozenset(),
    ) -> None:
        self._archive_path, self._archive_kind = archive_path, archive_kind
        self._error_type, self._unlisted_names = error_type, unlisted_names
        try:
            self._archive = zipfile.ZipFile(archive_path)
        except _DAMAGE_ERRORS as error:
            raise self._damage_error(error) from None
        try:
            self._require_bounded()
            self.manifest_bytes = self._read_manifest_bytes()
            self.manifest = self._parse_manifest(format_version)
        except BaseException:
            self.close()
            raise

    def _require_bounded(self) -> None:
        """Refuse a file that would take much more memory than its size, and methods that can."""
        entries = self._archive.infolist()
        if any(entry.compress_type not in _READ_METHODS for entry in entries):
            raise self._damage_error("it is compressed with another method than deflate")
        max_bytes = max_inflated_bytes(os.path.getsize(self._archive_path))
        if sum(entry.file_size for entry in entries) > max_bytes:
            raise self._damage_error(f"it inflates to more than {max_bytes} bytes")

    def _read_manifest_bytes(self) -> bytes:
        if MANIFEST not in self._archive.NameToInfo:
            raise self._error_type(
                f"{self._archive_path} is not a {self._archive_kind} of nsadmin: it has no {MANIFEST}"
            )
        return self._read_raw(MANIFEST)

    def _parse_manifest(self, format_version: int) -> dict[str, Any]:
        try:
            manifest: dict[str, Any] = operator_files.parse_json(self.manifest_bytes)
            found_version, self._listed_files = manifest["format"], dict(manifest["files"])
        except (ValueError, TypeError, KeyError):
            raise self._error_type(f"{self._archive_path} is damaged: {MANIFEST} is not readable") from None
        if found_version != format_version:
            raise self._error_type(
                f"{self._archive_path} has the format {found_version}, but this nsadmin reads format "
                f"{format_version}: use the nsadmin that wrote it"
            )
        return manifest

    def list_names(self) -> list[str]:
        """Return the names of all members, also of those that the manifest does not list."""
        return self._archive.namelist()

    def read_member(self, name: str) -> bytes:
        """Read and verify a member that the manifest lists."""
        content = self._read_raw(name) if name in self._archive.NameToInfo else None
        if content is None or self._listed_files.get(name) != _describe_pieces([content]):
            raise self._change_error(name)
        return content

    def read_members(self) -> dict[str, bytes]:
        """Read and verify all members that the manifest lists, and refuse any other."""
        return {name: self.read_member(name) for name in self._list_expected_names()}

    def verify_members(self) -> None:
        """Verify as `read_members` does, without keeping the contents in memory."""
        for name in self._list_expected_names():
            is_stored = name in self._archive.NameToInfo
            if not is_stored or self._listed_files.get(name) != _describe_pieces(self._read_pieces(name)):
                raise self._change_error(name)

    def _list_expected_names(self) -> list[str]:
        stored_names = set(self.list_names()) - self._unlisted_names - {MANIFEST}
        return sorted(self._listed_files.keys() | stored_names)

    def read_unlisted(self, name: str) -> bytes | None:
        """Read a member that the manifest does not list, such as its signature; None if it is missing."""
        return self._read_raw(name) if name in self._archive.NameToInfo else None

    def _read_raw(self, name: str) -> bytes:
        return b"".join(self._read_pieces(name))

    def _read_pieces(self, name: str) -> Iterator[bytes]:
        try:
            with self._archive.open(name) as member:
                while piece := member.read(_PIECE_BYTES):
                    yield piece
        except _DAMAGE_ERRORS as error:
            raise self._damage_error(error) from None

    def _change_error(self, name: str) -> InvalidArchiveError:
        return self._error_type(f"{self._archive_path} was changed: {name} is not as its manifest says")

    def _damage_error(self, reason: object) -> InvalidArchiveError:
        return self._error_type(
            f"{self._archive_path} is damaged, or is not a {self._archive_kind} of nsadmin ({reason}): "
            "use another file"
        )

    def close(self) -> None:
        """Close the file."""
        self._archive.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception_info: object) -> None:
        self.close()


def _describe_pieces(content_pieces: Iterable[bytes]) -> dict[str, Any]:
    digest, size = hashlib.sha256(), 0
    for piece in content_pieces:
        digest.update(piece)
        size += len(piece)
    return {"bytes": size, "sha256": digest.hexdigest()}
