"""The file of a backup: a ZIP archive with a manifest of checksums.

Rule: a file that was cut off, changed, or written by another program is refused as a whole.
"""

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from namesrv_core.errors import BadSettings
from namesrv_core.storage import atomic_write
from nsadmin.client.access.users import User
from nsadmin.operations.backups import json_form, signatures
from nsadmin.operations.backups.records import ClusterBackup
from nsadmin.operations.state_folder import escape_file_name

FORMAT_VERSION = 1
MAX_MEMBER_BYTES = 1 << 30
_MANIFEST, _SIGNATURE, _CLUSTER, _SECRETS = "manifest.json", "manifest.sig", "cluster.json", "secrets.bin"


class InvalidBackupError(BadSettings):
    """The file is not a backup, is damaged, or was changed."""


class BackupKeys(NamedTuple):
    """The keys of a backup: the passphrase of its secrets, and the files of its signature; None for none."""

    passphrase: str | None = None
    sign_key: Path | None = None
    verify_key: Path | None = None


NO_KEYS = BackupKeys()


class LoadedBackup(NamedTuple):
    """A backup read from a file. `has_secrets` says whether the file contains passwords."""

    backup: ClusterBackup
    is_signed: bool
    has_secrets: bool
    size_bytes: int


def save_backup(backup_path: Path, backup: ClusterBackup, keys: BackupKeys = NO_KEYS) -> int:
    """Write a backup atomically, readable only by its owner; return its size in bytes.

    Passwords are written only with a passphrase, and encrypted. Raises OSError and InvalidKeyError.
    """
    members = {_CLUSTER: _encode(json_form.cluster_record(backup))}
    for broker_name, broker in backup.brokers.items():
        members[f"brokers/{escape_file_name(broker_name)}.json"] = _encode(json_form.broker_record(broker))
    if keys.passphrase is not None:
        members[_SECRETS] = signatures.encrypt_secrets(_encode(_list_passwords(backup)), keys.passphrase)
    manifest = _encode(
        {
            "format": FORMAT_VERSION,
            "nsadmin": backup.tool_version,
            "cluster": backup.cluster_name,
            "createdMs": backup.created_ms,
            "files": {
                name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
                for name, content in members.items()
            },
        }
    )
    signed = {} if keys.sign_key is None else {_SIGNATURE: signatures.sign_bytes(manifest, keys.sign_key)}
    return _write_archive(backup_path, {_MANIFEST: manifest, **signed, **members})


def load_backup(backup_path: Path, keys: BackupKeys = NO_KEYS) -> LoadedBackup:
    """Read and verify a backup. Users have passwords only with the passphrase.

    Raises:
        OSError: The file cannot be read.
        InvalidBackupError: The file is not a backup, is damaged or was changed.
        InvalidKeyError: The passphrase or the key is wrong, or the signature is missing.
    """
    try:
        with zipfile.ZipFile(backup_path) as archive:
            members = _read_members(archive)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, zlib.error) as error:
        raise InvalidBackupError(
            f"{backup_path} is damaged, or is not a backup of nsadmin ({error}): use another file"
        ) from None
    manifest_bytes = members.pop(_MANIFEST, None)
    signature = members.pop(_SIGNATURE, None)
    _verify_members(backup_path, manifest_bytes, members)
    assert manifest_bytes is not None
    if keys.verify_key is not None:
        signatures.verify_signature(manifest_bytes, signature, keys.verify_key)
    try:
        backup = json_form.parse_backup(
            json.loads(members[_CLUSTER]),
            [json.loads(content) for name, content in sorted(members.items()) if name.startswith("brokers/")],
        )
        if keys.passphrase is not None and _SECRETS in members:
            passwords = json.loads(signatures.decrypt_secrets(members[_SECRETS], keys.passphrase))
            backup = _add_passwords(backup, passwords)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise InvalidBackupError(f"{backup_path} has unexpected contents ({error})") from None
    return LoadedBackup(backup, signature is not None, _SECRETS in members, backup_path.stat().st_size)


def _write_archive(backup_path: Path, members: Mapping[str, bytes]) -> int:
    from io import BytesIO

    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            # A fixed time, so that equal contents give equal files.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    atomic_write.replace_file(backup_path, buffer.getvalue(), keeps_backup=False)
    return len(buffer.getvalue())


def _read_members(archive: zipfile.ZipFile) -> dict[str, bytes]:
    for member in archive.infolist():
        if member.file_size > MAX_MEMBER_BYTES:
            raise zipfile.BadZipFile(f"{member.filename} is larger than {MAX_MEMBER_BYTES} bytes")
    return {member.filename: archive.read(member) for member in archive.infolist()}


def _verify_members(backup_path: Path, manifest_bytes: bytes | None, members: Mapping[str, bytes]) -> None:
    if manifest_bytes is None:
        raise InvalidBackupError(f"{backup_path} is not a backup of nsadmin: it has no {_MANIFEST}")
    try:
        manifest = json.loads(manifest_bytes)
        format_version, listed_files = manifest["format"], dict(manifest["files"])
    except (ValueError, TypeError, KeyError):
        raise InvalidBackupError(f"{backup_path} is damaged: {_MANIFEST} is not readable") from None
    if format_version != FORMAT_VERSION:
        raise InvalidBackupError(
            f"{backup_path} has the format {format_version}, but this nsadmin reads format {FORMAT_VERSION}: "
            "use the nsadmin that wrote it"
        )
    for name in sorted(listed_files.keys() | members.keys()):
        is_intact = name in members and listed_files.get(name) == {
            "bytes": len(members[name]),
            "sha256": hashlib.sha256(members[name]).hexdigest(),
        }
        if not is_intact:
            raise InvalidBackupError(f"{backup_path} was changed: {name} is not as its manifest says")


def _list_passwords(backup: ClusterBackup) -> dict[str, dict[str, str]]:
    return {
        broker_name: {user.username: user.password for user in broker.users if user.password is not None}
        for broker_name, broker in backup.brokers.items()
    }


def _add_passwords(backup: ClusterBackup, passwords: Mapping[str, Mapping[str, str]]) -> ClusterBackup:
    def add_password(broker_name: str, user: User) -> User:
        return user._replace(password=passwords.get(broker_name, {}).get(user.username))

    return backup._replace(
        brokers={
            broker_name: broker._replace(users=[add_password(broker_name, user) for user in broker.users])
            for broker_name, broker in backup.brokers.items()
        }
    )


def _encode(json_value: Any) -> bytes:
    json_text = json.dumps(json_value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return json_text.encode("utf-8", "surrogatepass")


def list_backup_files(backup_folder: Path, cluster_name: str | None = None) -> list[Path]:
    """Return the backups of a folder, the oldest first. Their names begin with cluster and time."""
    prefix = "" if cluster_name is None else f"{escape_file_name(cluster_name)}-"
    with os.scandir(backup_folder) as entries:
        names = [entry.name for entry in entries if entry.name.endswith(BACKUP_SUFFIX)]
    return [backup_folder / name for name in sorted(names) if name.startswith(prefix)]


BACKUP_SUFFIX = ".nsbackup.zip"


def name_backup_file(backup: ClusterBackup) -> str:
    """Return the name of a backup in a folder: CLUSTER-20261124T140000Z.nsbackup.zip."""
    from datetime import UTC, datetime

    created = datetime.fromtimestamp(backup.created_ms / 1000, UTC)
    return f"{escape_file_name(backup.cluster_name)}-{created:%Y%m%dT%H%M%SZ}{BACKUP_SUFFIX}"
