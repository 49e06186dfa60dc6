"""The file of a backup: a verified archive, with a signature and encrypted passwords on request.

Rule: a file that was cut off, changed, or written by another program is refused as a whole.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from namesrv_core import operator_files
from namesrv_core.storage import atomic_write
from nsadmin.client.verified_archive import (
    MANIFEST,
    InvalidArchiveError,
    VerifiedArchive,
    build_manifest,
    encode_json,
    pack_members,
)
from nsadmin.operations.backups import json_form, signatures
from nsadmin.operations.backups.records import ClusterBackup
from nsadmin.operations.state_folder import escape_file_name

FORMAT_VERSION = 1
_SIGNATURE, _CLUSTER, _SECRETS = "manifest.sig", "cluster.json", "secrets.bin"


class InvalidBackupError(InvalidArchiveError):
    """The file is not a backup, is damaged, or was changed."""


class BackupKeys(NamedTuple):
    """The keys of a backup: the passphrase of its secrets, and the files of its signature; None for none."""

    passphrase: str | None = None
    sign_key: Path | None = None
    verify_key: Path | None = None


NO_KEYS = BackupKeys()


class LoadedBackup(NamedTuple):
    """A backup read from a file. `has_secrets` says whether the file contains secrets."""

    backup: ClusterBackup
    is_signed: bool
    has_secrets: bool
    size_bytes: int


def save_backup(path: Path, backup: ClusterBackup, keys: BackupKeys = NO_KEYS) -> int:
    """Write a backup atomically, readable only by its owner; return its size in bytes.

    Passwords and secret keys are written only with a passphrase, and encrypted. Raises OSError and
    InvalidKeyError.
    """
    members = {_CLUSTER: encode_json(json_form.cluster_record(backup))}
    for name, broker in backup.brokers.items():
        members[f"brokers/{escape_file_name(name)}.json"] = encode_json(json_form.broker_record(broker))
    if keys.passphrase is not None:
        members[_SECRETS] = signatures.encrypt_secrets(encode_json(_list_secrets(backup)), keys.passphrase)
    manifest = build_manifest(
        FORMAT_VERSION,
        {"nsadmin": backup.tool_version, "cluster": backup.cluster_name, "createdMs": backup.created_ms},
        members,
    )
    signed = {} if keys.sign_key is None else {_SIGNATURE: signatures.sign_bytes(manifest, keys.sign_key)}
    archive_bytes = pack_members({MANIFEST: manifest, **signed, **members})
    atomic_write.replace_file(path, archive_bytes, keeps_backup=False)
    return len(archive_bytes)


def load_backup(path: Path, keys: BackupKeys = NO_KEYS) -> LoadedBackup:
    """Read and verify a backup. Users and accounts have secrets only with the passphrase.

    Raises:
        OSError: The file cannot be read.
        InvalidBackupError: The file is not a backup, is damaged or was changed.
        InvalidKeyError: The passphrase or the key is wrong, or the signature is missing.
    """
    with VerifiedArchive(
        path, "backup", FORMAT_VERSION, InvalidBackupError, frozenset({_SIGNATURE})
    ) as archive:
        members, signature = archive.read_members(), archive.read_unlisted(_SIGNATURE)
        if keys.verify_key is not None:
            signatures.verify_signature(archive.manifest_bytes, signature, keys.verify_key)
    try:
        backup = json_form.parse_backup(
            operator_files.parse_json(members[_CLUSTER]),
            [
                operator_files.parse_json(member)
                for name, member in sorted(members.items())
                if name.startswith("brokers/")
            ],
        )
        if keys.passphrase is not None and _SECRETS in members:
            secrets = operator_files.parse_json(
                signatures.decrypt_secrets(members[_SECRETS], keys.passphrase)
            )
            backup = _add_secrets(backup, secrets)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise InvalidBackupError(f"{path} has unexpected contents ({error})") from None
    return LoadedBackup(backup, signature is not None, _SECRETS in members, path.stat().st_size)


def _list_secrets(backup: ClusterBackup) -> dict[str, dict[str, dict[str, str]]]:
    """The passwords of users and the secret keys of accounts, by kind, broker name and name."""
    return {
        "users": {
            name: {user.username: user.password for user in broker.users if user.password is not None}
            for name, broker in backup.brokers.items()
        },
        "accounts": {
            name: {
                account.access_key: account.secret_key
                for account in broker.accounts
                if account.secret_key is not None
            }
            for name, broker in backup.brokers.items()
        },
    }


def _add_secrets(
    backup: ClusterBackup, secrets: Mapping[str, Mapping[str, Mapping[str, str]]]
) -> ClusterBackup:
    brokers = {}
    for broker_name, broker in backup.brokers.items():
        passwords = secrets["users"].get(broker_name, {})
        secret_keys = secrets["accounts"].get(broker_name, {})
        brokers[broker_name] = broker._replace(
            users=[user._replace(password=passwords.get(user.username)) for user in broker.users],
            accounts=[
                account._replace(secret_key=secret_keys.get(account.access_key))
                for account in broker.accounts
            ],
        )
    return backup._replace(brokers=brokers)


def list_backup_files(backup_folder: Path, cluster: str | None = None) -> list[Path]:
    """Return the backups of a folder, the oldest first. Their names are those of `name_backup_file`."""
    prefix = None if cluster is None else escape_file_name(cluster)
    with os.scandir(backup_folder) as entries:
        names = [entry.name for entry in entries if entry.name.endswith(BACKUP_SUFFIX)]
    return [backup_folder / name for name in sorted(names) if prefix in (None, name.rpartition("-")[0])]


BACKUP_SUFFIX = ".nsbackup.zip"


def name_backup_file(backup: ClusterBackup) -> str:
    """Return the name of a backup in a folder: CLUSTER-20261124T140000Z.nsbackup.zip."""
    from datetime import UTC, datetime

    created = datetime.fromtimestamp(backup.created_ms / 1000, UTC)
    return f"{escape_file_name(backup.cluster_name)}-{created:%Y%m%dT%H%M%SZ}{BACKUP_SUFFIX}"
