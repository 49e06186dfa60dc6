"""Arguments that the commands about backups share."""

import os
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from namesrv_core import operator_files
from nsadmin.command_line.declarations import Flags
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.session import Session
from nsadmin.operations.backups.archive import (
    NO_KEYS,
    BackupKeys,
    LoadedBackup,
    list_backup_files,
    load_backup,
)

PASSPHRASE_VARIABLE = "NSADMIN_BACKUP_PASSPHRASE"

BackupsArgument = Annotated[
    str,
    Argument(metavar="FILE", help="A file of `nsadmin backup create`, or the folder of its --dir."),
    Flags("--file"),
]
FolderClusterOption = Annotated[
    str | None,
    Option("-c", "--cluster", metavar="CLUSTER", help="Of a folder: only the backups of this cluster."),
]
PassphraseFileOption = Annotated[
    str | None,
    Option(
        "--passphrase-file",
        metavar="FILE",
        help=f"File with the passphrase of the passwords. Default: the variable {PASSPHRASE_VARIABLE}.",
    ),
]
VerifyKeyOption = Annotated[
    str | None,
    Option(
        "--verify-key",
        metavar="FILE",
        help="Refuse a backup that was not signed with this key: a public Ed25519 key in PEM form.",
    ),
]


def read_passphrase(passphrase_file: str | None) -> str | None:
    """Return the passphrase of the file, or else of the environment; None without both. Raises UsageError."""
    if passphrase_file is None:
        return os.environ.get(PASSPHRASE_VARIABLE) or None
    try:
        passphrase = operator_files.read_text(passphrase_file, max_characters=4096).strip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = operator_files.explain_unreadable(passphrase_file, error)
        raise UsageError(f"--passphrase-file: {reason}") from None
    if not passphrase:
        raise UsageError(f'the file "{passphrase_file}" for --passphrase-file is empty')
    return passphrase


def make_read_keys(passphrase_file: str | None, verify_key: str | None) -> BackupKeys:
    """Return the keys to read a backup with."""
    return BackupKeys(
        read_passphrase(passphrase_file), None, None if verify_key is None else Path(verify_key).expanduser()
    )


def open_backup(session: Session, file_name: str, keys: BackupKeys = NO_KEYS) -> LoadedBackup:
    """Load a backup, and write its remarks to stderr. Raises UsageError if the file cannot be read."""
    try:
        loaded_backup = load_backup(Path(file_name).expanduser(), keys)
    except OSError as error:
        raise UsageError(operator_files.explain_unreadable(file_name, error)) from None
    for remark in loaded_backup.backup.remarks:
        session.write_remark(f"{file_name}: {remark}")
    return loaded_backup


def find_newest(folder_name: str, cluster_name: str | None, count: int = 1) -> list[list[str]]:
    """Return the newest backups of each cluster in a folder, at most this number, the oldest first."""
    files_by_cluster: dict[str, list[str]] = {}
    for file in list_backup_files(Path(folder_name).expanduser(), cluster_name):
        files_by_cluster.setdefault(file.name.rpartition("-")[0], []).append(str(file))
    if not files_by_cluster:
        of_cluster = "" if cluster_name is None else f" of {cluster_name}"
        raise UsageError(f"{folder_name} has no backup{of_cluster}")
    return [files[-count:] for files in files_by_cluster.values()]
