"""Owns backup create, which saves a cluster in one file, once or regularly."""

from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import Annotated

from typer import Argument, Option

from namesrv_core import private_files
from namesrv_core.errors import RocketMQError
from nsadmin.command_line.argument_values import parse_duration_seconds
from nsadmin.command_line.declarations import Flags, command
from nsadmin.command_line.namespace_options import IncludedNamespacesOption
from nsadmin.commands.backups.backup_arguments import (
    PASSPHRASE_VARIABLE,
    PassphraseFileOption,
    read_passphrase,
)
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.quantities import count_noun, to_bytes
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session
from nsadmin.operations.backups.archive import (
    BackupKeys,
    list_backup_files,
    name_backup_file,
    save_backup,
)
from nsadmin.operations.backups.observer import observe_backup
from nsadmin.operations.backups.records import ClusterBackup, Section, list_items

BACKUP_COLUMNS = (
    "file", "clusterName", "time", "brokers", "topics", "groups", "offsets", "users", "size", "missing",
)  # fmt: skip
_MIN_EVERY_SECONDS, _MAX_EVERY_SECONDS = 1.0, 30 * 86_400.0


class IncompleteBackupError(RocketMQError):
    """A server did not answer, so the backup lacks its items."""


@command(columns=BACKUP_COLUMNS, agent_refusal="it writes local files")
def backup_create(
    session: Session,
    cluster_name: Annotated[
        str, Argument(metavar="CLUSTER", help="Name of a cluster."), Flags("-c", "--clusterName")
    ],
    file_name: Annotated[
        str | None, Option("--file", metavar="FILE", help="File to write. It is replaced.")
    ] = None,
    folder_name: Annotated[
        str | None,
        Option("--dir", metavar="DIR", help="Folder to write to. The file is named by cluster and time."),
    ] = None,
    namespaces: IncludedNamespacesOption = None,
    with_secrets: Annotated[
        bool,
        Option("--with-secrets", help="Include passwords and secret keys, encrypted with a passphrase."),
    ] = False,
    passphrase_file: PassphraseFileOption = None,
    sign_key: Annotated[
        str | None,
        Option("--sign-key", metavar="FILE", help="Sign the backup with a private Ed25519 key in PEM form."),
    ] = None,
    every_text: Annotated[
        str | None,
        Option("--every", metavar="TIME", help="Repeat after this time, such as 1h. Needs --dir."),
    ] = None,
    keep_count: Annotated[
        int | None,
        Option(
            "--keep",
            metavar="N",
            help="Keep this number of backups of the cluster in --dir, and delete older ones.",
            min=1,
        ),
    ] = None,
) -> ResultRows | Iterator[ResultRows]:
    """Save a cluster in one file: topics, groups, offsets, users, ACLs, accounts, settings, KV config.

    nsadmin asks the masters and the name servers. The file has no system topics, no retry and dead-letter
    topics, and no settings with secrets. Each offset has the store time of its message, so that a restore
    knows whether the queue still has the same messages. Only the owner can read the file.

    If a server does not answer, the backup lacks its items, a line on stderr names it, and the exit code
    is 3. Ctrl-C stops --every. The same command goes on.

    Examples:
        # One backup
        nsadmin backup create cluster-a --file cluster-a.nsbackup.zip
        # One backup in a folder, for cron; the last 48 are kept
        nsadmin backup create cluster-a --dir backups --keep 48
    """
    if (file_name is None) == (folder_name is None):
        raise UsageError("pass either --file FILE or --dir DIR")
    if folder_name is None and (every_text or keep_count):
        raise UsageError("--every and --keep need --dir DIR")
    passphrase = read_passphrase(passphrase_file) if with_secrets else None
    if with_secrets and passphrase is None:
        raise UsageError(
            f"--with-secrets needs a passphrase: pass --passphrase-file, or set {PASSPHRASE_VARIABLE}"
        )
    keys = BackupKeys(passphrase, None if sign_key is None else Path(sign_key).expanduser())

    def create_backup() -> ResultRows:
        backup = observe_backup(
            session.admin,
            cluster_name,
            int(time() * 1000),
            tuple(dict.fromkeys(namespaces or ())),
            with_secrets=with_secrets,
        )
        backup_path = _write_backup(backup, file_name, folder_name, keys)
        notes = [*backup.remarks]
        if keep_count is not None and folder_name is not None:
            notes += _delete_old_backups(Path(folder_name).expanduser(), backup.cluster_name, keep_count)
        errors = [IncompleteBackupError(remark) for remark in backup.remarks]
        return ResultRows(
            BACKUP_COLUMNS,
            [make_backup_row(str(backup_path), backup, backup_path.stat().st_size)],
            [None, *errors],
            notes,
        )

    if every_text is None:
        return create_backup()
    every_seconds = parse_duration_seconds("--every", every_text, _MIN_EVERY_SECONDS, _MAX_EVERY_SECONDS)
    return session.repeat_every(every_seconds, create_backup)


def _write_backup(
    backup: ClusterBackup, file_name: str | None, folder_name: str | None, keys: BackupKeys
) -> Path:
    backup_path = (
        Path(file_name).expanduser()
        if file_name is not None
        else Path(folder_name or "").expanduser() / name_backup_file(backup)
    )
    try:
        if folder_name is not None:
            private_files.make_folder(backup_path.parent)
        save_backup(backup_path, backup, keys)
    except OSError as error:
        raise UsageError(
            f'cannot write the backup "{error.filename or backup_path}": {error.strerror}'
        ) from None
    return backup_path


def _delete_old_backups(backup_folder: Path, cluster_name: str, keep_count: int) -> list[str]:
    old_files = list_backup_files(backup_folder, cluster_name)[:-keep_count]
    for old_file in old_files:
        old_file.unlink(missing_ok=True)
    return [f"deleted {count_noun(len(old_files), 'older backup')}"] if old_files else []


def make_backup_row(file_name: str, backup: ClusterBackup, size_bytes: int) -> ResultRow:
    """Return a row about a backup, with the distinct names in each section."""
    names_by_section: dict[Section, set[str]] = {section: set() for section in Section}
    for item in list_items(backup):
        names_by_section[item.section].add(item.name)
    return {
        "file": file_name,
        "clusterName": backup.cluster_name,
        "time": format_utc(backup.created_ms),
        "brokers": len(backup.brokers),
        "topics": len(names_by_section[Section.TOPICS]),
        "groups": len(names_by_section[Section.GROUPS]),
        "offsets": len(names_by_section[Section.OFFSETS]),
        "users": len(names_by_section[Section.USERS]),
        "size": to_bytes(size_bytes),
        "missing": len(backup.remarks),
    }
