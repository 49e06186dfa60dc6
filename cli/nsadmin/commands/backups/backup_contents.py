"""Owns backup show and backup diff, which read backups."""

from operator import itemgetter
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client.wall_clock import time
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.backups.backup_arguments import (
    BackupsArgument,
    FolderClusterOption,
    PassphraseFileOption,
    VerifyKeyOption,
    find_newest,
    make_read_keys,
    open_backup,
)
from nsadmin.commands.columns.brokers import BROKER_NAME, CLUSTER_NAME
from nsadmin.commands.columns.changes import difference_columns, plain_value
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import AnyColumn, Column, Columns, ResultRows, of_part
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.backups.comparison import NamedItemDifference, compare_backups
from nsadmin.operations.backups.observer import observe_backup
from nsadmin.operations.backups.records import BackupItem, BackupSettings, ClusterBackup, Section, list_items

SECTION_MEANING = (
    "topics, staticTopics, groups, orderConf, kv, consumeModes, offsets, users, acls, accounts or settings"
)
ITEM_NAME_MEANING = "name of the item; offsets and consume modes have TOPIC GROUP"
BROKER_MEANING = "name of the broker; null for order configurations and KV config"
_BACKUP_CLUSTER: AnyColumn = CLUSTER_NAME.of(itemgetter(0))
BACKUP_ITEM_COLUMNS: Columns[tuple[str, BackupItem, BackupSettings]] = (
    _BACKUP_CLUSTER,
    Column("section", SECTION_MEANING, lambda r: r[1].section.value),
    BROKER_NAME.means(BROKER_MEANING).of(lambda r: r[1].parent_name or None),
    Column("name", ITEM_NAME_MEANING, lambda r: r[1].name),
    Column("value", "the fields of the item", lambda r: plain_value(r[2])),
)
BACKUP_DIFFERENCE_COLUMNS: Columns[tuple[str, NamedItemDifference]] = (
    _BACKUP_CLUSTER,
    *of_part(
        itemgetter(1),
        difference_columns(
            SECTION_MEANING,
            BROKER_MEANING,
            ITEM_NAME_MEANING,
            "the item in the first backup; null for none",
            "the item in the later backup, or now; null for none",
        ),
    ),
)


class BackupDiffersError(RocketMQError):
    """The backups, or the backup and the cluster, differ."""


@command(columns=BACKUP_ITEM_COLUMNS)
def backup_show(
    session: Session,
    file_name: BackupsArgument,
    cluster_name: FolderClusterOption = None,
    passphrase_file: PassphraseFileOption = None,
    verify_key: VerifyKeyOption = None,
) -> ResultRows:
    """Verify a backup, and list its items.

    nsadmin verifies the checksum of every part, and the signature if you pass the key. Passwords are never
    shown. A line on stderr has the cluster, the time and the version of nsadmin. Of a folder, nsadmin shows
    the newest backup of each cluster.

    Examples:
        # Is the file complete? All its items
        nsadmin backup show cluster-a.nsbackup.zip
        # Every night into git, after nsadmin backup create '*' --dir backups: the configuration as text
        nsadmin backup show backups --filter 'section!=offsets' --output jsonl
        # The topics of one broker
        nsadmin backup show cluster-a.nsbackup.zip --filter section=topics --filter brokerName=broker-a-0
    """
    file_names = [file_name]
    if _is_folder(file_name, cluster_name):
        file_names = [newest for [newest] in find_newest(file_name, cluster_name)]
    keys = make_read_keys(passphrase_file, verify_key)
    records, notes = list[tuple[str, BackupItem, BackupSettings]](), list[str]()
    for name in file_names:
        loaded_backup = open_backup(session, name, keys)
        backup = loaded_backup.backup
        signature_text = "signed" if loaded_backup.is_signed else "not signed"
        secrets_text = ", with encrypted passwords" if loaded_backup.has_secrets else ""
        notes.append(
            f"{backup.cluster_name} at {format_utc(backup.created_ms)}, "
            f"{count_noun(len(backup.brokers), 'broker')}, by nsadmin {backup.tool_version}, "
            f"{signature_text}{secrets_text}"
        )
        records += [(backup.cluster_name, item, fields) for item, fields in list_items(backup).items()]
    table = BACKUP_ITEM_COLUMNS[1:] if len(file_names) == 1 else ()
    return ResultRows.from_records(BACKUP_ITEM_COLUMNS, records, [], notes, table=table)


@command(columns=BACKUP_DIFFERENCE_COLUMNS)
def backup_diff(
    session: Session,
    file_name: BackupsArgument,
    other_file: Annotated[
        str | None,
        Argument(metavar="OTHER", help="A later backup. Default: the cluster as it is now."),
        Flags("--with"),
    ],
    cluster_name: FolderClusterOption = None,
    include_offsets: Annotated[
        bool, Option("--offsets", help="Also compare offsets, which move while consumers run.")
    ] = False,
) -> ResultRows:
    """Compare a backup with a later one, or with the cluster as it is now.

    nsadmin skips settings that name a server or its folders. A backup has no settings of slaves and name
    servers, and passwords are not compared. The exit code is 1 if an item differs, and 3 if a server does not
    answer. Of a folder, nsadmin compares the newest two backups of each cluster. An only backup is compared
    with the cluster as it is now.

    Examples:
        # Changes since the backup (exit code 1)
        nsadmin backup diff cluster-a.nsbackup.zip
        # Changes between two backups (exit code 1)
        nsadmin backup diff monday.nsbackup.zip tuesday.nsbackup.zip
        # For cron, after a nightly backup create --dir backups: changes since the night before (exit code 1)
        nsadmin backup diff backups
    """
    pairs: list[tuple[str, str | None]] = [(file_name, other_file)]
    if _is_folder(file_name, cluster_name):
        if other_file is not None:
            raise UsageError(f"{file_name} is a folder: name a file in it, or only the folder")
        newest = find_newest(file_name, cluster_name, count=2)
        pairs = [(first, others[0] if others else None) for first, *others in newest]
    records, notes = list[tuple[str, NamedItemDifference]](), list[str]()
    errors: list[RocketMQError | None] = [None]
    for first, second in pairs:
        before = open_backup(session, first).backup
        after = _observe_now(session, before) if second is None else open_backup(session, second).backup
        differences = [
            d for d in compare_backups(before, after) if include_offsets or d.item.section != Section.OFFSETS
        ]
        if second is None and after.remarks:
            errors += [BackupDiffersError(remark) for remark in after.remarks]
        elif differences:
            errors = [BackupDiffersError("the backup differs")]
        count = count_noun(len(differences), "difference") if differences else "no differences"
        summary = f"{count} ({first} -> {second or 'the cluster now'})"
        notes += [*(after.remarks if second is None else ()), summary]
        records += [(before.cluster_name, difference) for difference in differences]
    table = BACKUP_DIFFERENCE_COLUMNS[1:] if len(pairs) == 1 else ()
    return ResultRows.from_records(BACKUP_DIFFERENCE_COLUMNS, records, errors, notes, table=table)


def _is_folder(file_name: str, cluster_name: str | None) -> bool:
    is_folder = Path(file_name).expanduser().is_dir()
    if cluster_name is not None and not is_folder:
        raise UsageError(f"--cluster chooses backups of a folder, and {file_name} is none")
    return is_folder


def _observe_now(session: Session, before: ClusterBackup) -> ClusterBackup:
    from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE

    namespaces = [namespace for namespace in before.kv if namespace != ORDER_CONF_NAMESPACE]
    return observe_backup(session.admin, before.cluster_name, int(time() * 1000), namespaces)
