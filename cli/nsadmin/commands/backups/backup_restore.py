"""Owns backup restore, which creates the items of a backup in a cluster again."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from typer import Option

from nsadmin.client.advised_command import quote_command
from nsadmin.client.did_you_mean import did_you_mean, find_similar_names
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.command_line.declarations import Values, command
from nsadmin.commands.access.enforcement import warn_of_restored_access
from nsadmin.commands.backups.backup_arguments import (
    BackupsArgument,
    PassphraseFileOption,
    VerifyKeyOption,
    find_newest,
    make_read_keys,
    open_backup,
)
from nsadmin.commands.backups.backup_contents import ITEM_NAME_MEANING, SECTION_MEANING
from nsadmin.commands.columns.changes import (
    AFTER,
    BEFORE,
    CHANGES,
    RESULT,
    describe_change,
    describe_item_change,
)
from nsadmin.commands.columns.servers import ERROR
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.phrases import abbreviate_names, count_noun
from nsadmin.console.session import Session
from nsadmin.operations.backups.offset_restore import HAS_OTHER_OFFSET
from nsadmin.operations.backups.records import ClusterBackup, Section
from nsadmin.operations.backups.restore_outcome import RestoreOutcome
from nsadmin.operations.backups.restore_run import RestoreRun
from nsadmin.operations.backups.restore_scope import RestoreScope, select_backup
from nsadmin.operations.plans.settings import SpreadKind


def _describe_outcome(outcome: RestoreOutcome) -> str | None:
    if outcome.section is Section.OFFSETS and outcome.before is not None:
        queue_count = len(outcome.before)
        return f"{queue_count} queue{'' if queue_count == 1 else 's'}"
    if outcome.section in (Section.TOPICS, Section.GROUPS) and outcome.before is None:
        kind: SpreadKind = "topic" if outcome.section is Section.TOPICS else "group"
        return describe_item_change(kind, outcome.before, outcome.after)
    return describe_change(outcome.before, outcome.after)


def outcome_columns(
    section: str,
    server: str,
    name: str,
    reason: str,
    result: str,
    before: str = BEFORE.meaning,
    after: str = AFTER.meaning,
) -> Columns[RestoreOutcome]:
    """The columns of outcomes, with these meanings."""
    return (
        Column("section", section, lambda o: o.section.value),
        Column("server", server, lambda o: o.server_name),
        Column("name", name, lambda o: o.item_name or None),
        CHANGES.of(_describe_outcome),
        Column("reason", reason, lambda o: o.reason or None),
        BEFORE.means(before),
        AFTER.means(after),
        RESULT.means(result),
        ERROR,
    )


RESTORE_COLUMNS = outcome_columns(
    SECTION_MEANING,
    "name of the broker, or address of the name server",
    ITEM_NAME_MEANING,
    "for offsets: position or time, or why the offset was kept",
    "done, dry-run, kept, unknown, skipped or failed",
    "the state before, null for none; for offsets, the consumer offset by queue",
    "the state after the restore; for offsets, the new offset by queue",
)
_RESTORED_SECTIONS = [section for section in Section if section is not Section.SETTINGS]


@command(columns=RESTORE_COLUMNS)
def backup_restore(
    session: Session,
    file_name: BackupsArgument,
    cluster_name: Annotated[
        str | None,
        Option("-c", "--clusterName", metavar="CLUSTER", help="Restore into this cluster. Default: its own."),
    ] = None,
    broker_mappings: Annotated[
        list[str] | None,
        Option("--map", metavar="OLD=NEW", help="Restore a broker of the backup to another one. Repeatable."),
    ] = None,
    section_names: Annotated[
        list[str] | None,
        Option("--section", metavar="SECTION", help="Restore only this section. Repeatable, or a list: A,B."),
        Values("|".join(_RESTORED_SECTIONS)),
    ] = None,
    topic_names: Annotated[
        list[str] | None,
        Option(
            "-t",
            "--topic",
            metavar="TOPIC",
            help="Restore only this topic and its offsets. Repeatable, or a list: A,B.",
        ),
    ] = None,
    group_names: Annotated[
        list[str] | None,
        Option(
            "-g",
            "--groupName",
            metavar="GROUP",
            help="Restore only this group and its offsets. Repeatable, or a list: A,B.",
        ),
    ] = None,
    overwrites_offsets: Annotated[
        bool,
        Option("--overwrite-offsets", help="Move groups that have another offset, also backward."),
    ] = False,
    passphrase_file: PassphraseFileOption = None,
    verify_key: VerifyKeyOption = None,
) -> ResultRows:
    """Create the items of a backup in a cluster again, and read every change back.

    nsadmin creates and changes topics, static topics, groups, order configurations, KV config, consume modes,
    offsets, users, ACLs and 4.x accounts. It deletes nothing. It does not restore settings: see
    `nsadmin backup diff`. A static topic keeps a mapping that was changed after the backup, as a failure.

    An offset is restored by position if the queue still has the same message before it, otherwise by the time
    of that message. A group then repeats messages, and misses none. A group with an offset keeps it, unless
    you pass --overwrite-offsets. Stop its consumers first, because running consumers commit their own.

    To restore into another cluster, pass its name with -c, and the new name of each broker with --map.
    Offsets make sense there only after you copied the messages: they are then restored by time. Safe to
    interrupt. Run the same command to resume. Of a folder, nsadmin restores the newest backup.

    Examples:
        # Preview: all topics, groups, offsets and users that would be created or changed
        nsadmin backup restore cluster-a.nsbackup.zip --dry-run
        # One topic that was deleted, with the offsets of its groups
        nsadmin backup restore cluster-a.nsbackup.zip -t orders --yes
        # Topics and groups into another cluster, whose brokers have other names: asks for --map (exit code 3)
        nsadmin backup restore cluster-a.nsbackup.zip -c cluster-b --section topics,groups --dry-run
        # Offsets only, also of groups that have another one
        nsadmin backup restore cluster-a.nsbackup.zip --section offsets --overwrite-offsets --dry-run
    """
    if Path(file_name).expanduser().is_dir():
        newest = [name for [name] in find_newest(file_name, None)]
        if len(newest) > 1:
            raise UsageError(
                f"{file_name} has backups of several clusters: name a file, {' or '.join(newest)}"
            )
        file_name = newest[0]
        session.write_remark(f"the newest backup is {file_name}")
    loaded_backup = open_backup(session, file_name, make_read_keys(passphrase_file, verify_key))
    backup = loaded_backup.backup
    scope = RestoreScope(
        cluster_name or backup.cluster_name,
        _parse_sections(section_names or ()),
        frozenset(topic_names or ()),
        frozenset(group_names or ()),
        _parse_mappings(broker_mappings or (), backup),
        overwrites_offsets,
    )
    _require_known_names(backup, scope, file_name)
    selected_backup = select_backup(backup, scope)
    restore_run = RestoreRun(
        session.admin, selected_backup, is_dry_run=session.is_dry_run, overwrites_offsets=overwrites_offsets
    )
    for remark in _list_order_remarks(session, selected_backup):
        session.write_remark(remark)
    warn_of_restored_access(session, session.admin, selected_backup)
    if overwrites_offsets:
        _remark_consumers(session, selected_backup)
    session.confirm_change(_describe_restore(file_name, selected_backup, scope))
    outcomes = list(restore_run.restore_all())
    notes = _list_static_notes(selected_backup)
    shown = [outcome for outcome in outcomes if outcome.reason != HAS_OTHER_OFFSET]
    hidden_count = len(outcomes) - len(shown)
    if shown or not hidden_count:
        notes.append(summarize_outcomes(shown))
    if hidden_count:
        verbs = (
            "differs from the backup and stays" if hidden_count == 1 else "differ from the backup and stay"
        )
        notes.append(
            f"{count_noun(hidden_count, 'offset')} {verbs}: --overwrite-offsets moves such offsets back"
        )
    return ResultRows.from_records(
        RESTORE_COLUMNS,
        [outcome for outcome in shown if outcome.result != "unchanged"],
        [None, *(outcome.error for outcome in outcomes)],
        notes,
    )


def _parse_sections(section_names: Sequence[str]) -> frozenset[Section]:
    for section_name in section_names:
        if section_name not in [section.value for section in _RESTORED_SECTIONS]:
            raise UsageError(
                f'unknown section "{section_name}" for --section: use '
                f"{', '.join(section.value for section in _RESTORED_SECTIONS)}"
            )
    return frozenset(map(Section, section_names)) or frozenset(_RESTORED_SECTIONS)


def _parse_mappings(mapping_texts: Sequence[str], backup: ClusterBackup) -> dict[str, str]:
    broker_names: dict[str, str] = {}
    for mapping_text in mapping_texts:
        old_name, equals, new_name = mapping_text.partition("=")
        if not (equals and old_name and new_name):
            raise UsageError(
                f'invalid value "{mapping_text}" for --map: use OLD=NEW, such as broker-a=broker-b'
            )
        if old_name not in backup.brokers:
            raise UsageError(
                f'the backup has no broker "{old_name}" (--map): it has {", ".join(sorted(backup.brokers))}'
            )
        broker_names[old_name] = new_name
    new_names = [broker_names.get(name, name) for name in backup.brokers]
    if len(set(new_names)) < len(new_names):
        [same_name, *_] = [name for name, count in Counter(new_names).items() if count > 1]
        raise UsageError(
            f'--map: two brokers of the backup would go to "{same_name}": map each to another one'
        )
    return broker_names


def _require_known_names(backup: ClusterBackup, scope: RestoreScope, file_name: str) -> None:
    known_topics = {
        topic for broker in backup.brokers.values() for topic in (*broker.topics, *broker.static_topics)
    }
    known_groups = {group for broker in backup.brokers.values() for group in broker.groups}
    for kind, wanted_names, known_names in (
        ("topic", scope.topics, known_topics),
        ("group", scope.groups, known_groups),
    ):
        for unknown_name in sorted(wanted_names - known_names):
            near_names = find_similar_names(unknown_name, known_names)
            see = f"see `{quote_command('backup', 'show', file_name)}`"
            advice = did_you_mean(near_names) if near_names else see
            raise UsageError(f'the backup has no {kind} "{unknown_name}": {advice}')


def _describe_restore(file_name: str, selected_backup: ClusterBackup, scope: RestoreScope) -> str:
    names = sorted([*scope.topics, *scope.groups])
    scope_text = (
        abbreviate_names(names, 5)
        if names
        else ", ".join(section.value for section in Section if section in scope.sections)
    )
    return f"Restore {scope_text} of {file_name} into {selected_backup.cluster_name}?"


def _list_static_notes(selected_backup: ClusterBackup) -> list[str]:
    """Return a note about static topics. Old backups have only their names."""
    topics = {
        topic
        for broker in selected_backup.brokers.values()
        for topic, share in broker.static_topics.items()
        if share is None
    }
    if not topics:
        return []
    return [
        f"not restored: the static topics {abbreviate_names(sorted(topics), 5)}: this backup has only their "
        "names: use `nsadmin updateStaticTopic`"
    ]


def _remark_consumers(session: Session, selected_backup: ClusterBackup) -> None:
    groups = {group for broker in selected_backup.brokers.values() for _, group in broker.offsets}
    addrs = [g.master_addr for g in session.admin.clusters.get_info().broker_groups if g.master_addr]
    connections = session.admin.consumers.get_group_connections(sorted(groups), addrs)
    connected = [group for group, found in connections.items() if found.clients]
    if connected:
        session.write_remark(
            f"consumers of {abbreviate_names(connected, 5)} are connected, and commit their own offsets: "
            "stop them first, or the restored offsets are lost"
        )


def _list_order_remarks(session: Session, selected_backup: ClusterBackup) -> list[str]:
    """Return a line about each order configuration that names brokers which are not registered now."""
    registered = {group.broker_name for group in session.admin.clusters.get_info().broker_groups}
    missing_by_topic = {
        topic: sorted({entry.partition(":")[0] for entry in conf_text.split(";") if entry} - registered)
        for topic, conf_text in selected_backup.kv.get(ORDER_CONF_NAMESPACE, {}).items()
    }
    return [
        f"the order configuration of {topic} names {abbreviate_names(brokers, 5)}, not registered now: see "
        f"`{quote_command('orderConfCheck', topic)}`"
        for topic, brokers in missing_by_topic.items()
        if brokers
    ]


def summarize_outcomes(outcomes: Sequence[RestoreOutcome], empty_text: str = "nothing to restore") -> str:
    """Return the number of outcomes of each result as text: "3 items created, 33 unchanged".

    A server that got nothing is named.
    """
    words = {
        ("dry-run", True): "would be created",
        ("dry-run", False): "would change",
        ("done", True): "created",
        ("done", False): "changed",
    }
    counts = Counter(words.get((o.result, o.before is None), o.result) for o in outcomes if o.item_name)
    servers = [o.server_name for o in outcomes if not o.item_name]
    texts = [
        f"{count if position else count_noun(count, 'item')} {word}"
        for position, (word, count) in enumerate(sorted(counts.items()))
    ]
    if servers:
        texts.append(f"failed on {abbreviate_names(servers, 5)}")
    return ", ".join(texts) or empty_text
