"""Owns backup create, which saves a cluster in one file, once or regularly."""

from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from time import time
from typing import Annotated, NamedTuple

from typer import Argument, Option

from namesrv_core import private_files
from namesrv_core.errors import RocketMQError
from nsadmin.client.advised_command import quote_command
from nsadmin.command_line.argument_values import parse_duration_seconds
from nsadmin.command_line.broker_targets import list_clusters, remark_missing
from nsadmin.command_line.declarations import Flags, command
from nsadmin.command_line.namespace_options import IncludedNamespacesOption
from nsadmin.commands.backups.backup_arguments import (
    PASSPHRASE_VARIABLE,
    PassphraseFileOption,
    read_passphrase,
)
from nsadmin.commands.columns.brokers import CLUSTER_NAME
from nsadmin.commands.columns.files import FILE, SIZE
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.backups.archive import (
    BackupKeys,
    list_backup_files,
    name_backup_file,
    save_backup,
)
from nsadmin.operations.backups.observer import observe_backup
from nsadmin.operations.backups.records import ClusterBackup, Section, list_items
from nsadmin.operations.broker_identity import remark_twins


class CreatedBackup(NamedTuple):
    """A backup that was written, with the distinct names in each section."""

    path: str
    size_bytes: int
    backup: ClusterBackup
    names_by_section: Mapping[Section, Set[str]]


def _count(key: str, section: Section, meaning: str) -> Column[CreatedBackup]:
    return Column(key, meaning, lambda b: len(b.names_by_section[section]))


BACKUP_COLUMNS: Columns[CreatedBackup] = (
    FILE.means("the backup"),
    CLUSTER_NAME.of(lambda b: b.backup.cluster_name),
    Column("time", "when the backup began (UTC)", lambda b: format_utc(b.backup.created_ms)),
    Column("brokers", "number of brokers in the backup", lambda b: len(b.backup.brokers)),
    _count("topics", Section.TOPICS, "number of topics"),
    _count("groups", Section.GROUPS, "number of consumer groups"),
    _count("offsets", Section.OFFSETS, "number of pairs of topic and group with consumer offsets"),
    _count("users", Section.USERS, "number of users"),
    SIZE.means("size of the file, in bytes"),
    Column(
        "missing", "number of servers and sections that the backup lacks", lambda b: len(b.backup.remarks)
    ),
)
_MIN_EVERY_SECONDS, _MAX_EVERY_SECONDS = 1.0, 30 * 86_400.0


class IncompleteBackupError(RocketMQError):
    """A server did not answer, so the backup lacks its items."""


@command(columns=BACKUP_COLUMNS, agent_refusal="it writes local files")
def backup_create(
    session: Session,
    cluster_name: Annotated[
        str,
        Argument(metavar="CLUSTER", help="Name of a cluster; with --dir also a,b for several, '*' for all."),
        Flags("-c", "--clusterName"),
    ],
    file_name: Annotated[
        str | None, Option("--out", "--file", metavar="FILE", help="File to write. It is replaced.")
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
        Option("--every", metavar="DURATION", help="Repeat after this time, such as 1h. Needs --dir."),
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

    For several clusters, --dir gets a file of each.

    Examples:
        # Topics, groups, offsets, users and settings of a cluster
        nsadmin backup create cluster-a --file cluster-a.nsbackup.zip
        # Before a deployment or an upgrade; nsadmin backup diff compares the cluster with it afterwards
        nsadmin backup create cluster-a --file before.nsbackup.zip
        # A backup in a folder every hour or night, for cron; the last 48 are kept
        nsadmin backup create cluster-a --dir backups --keep 48
        # Each cluster in a file of its own
        nsadmin backup create '*' --dir backups
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
        clusters = list_clusters(session, cluster_name)
        if file_name is not None and len(clusters) > 1:
            raise UsageError("--file is for one cluster: pass --dir DIR, which gets a file of each")
        remark_twins(session)
        created, errors, notes = list[CreatedBackup](), list[RocketMQError | None](), list[str]()
        for cluster in clusters:
            backup = observe_backup(
                session.admin,
                cluster,
                int(time() * 1000),
                tuple(dict.fromkeys(namespaces or ())),
                with_secrets=with_secrets,
            )
            remark_missing(session, cluster, "the backup lacks what only this broker has")
            backup_path = _write_backup(backup, file_name, folder_name, keys)
            created.append(describe_backup(str(backup_path), backup, backup_path.stat().st_size))
            errors += [None, *map(IncompleteBackupError, backup.remarks)]
            notes += backup.remarks
            if keep_count is not None and folder_name is not None:
                notes += _delete_old_backups(Path(folder_name).expanduser(), cluster, keep_count)
        if file_name is not None:
            notes.append(f"{quote_command('backup', 'diff', file_name)} shows what changed after it")
        return ResultRows.from_records(BACKUP_COLUMNS, created, errors, notes)

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


def describe_backup(path: str, backup: ClusterBackup, size_bytes: int) -> CreatedBackup:
    names_by_section: dict[Section, set[str]] = {section: set() for section in Section}
    for item in list_items(backup):
        names_by_section[item.section].add(item.name)
    return CreatedBackup(path, size_bytes, backup, names_by_section)
