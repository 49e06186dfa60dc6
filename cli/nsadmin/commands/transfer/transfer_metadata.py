"""Owns `transfer topics`, `transfer groups` and `transfer acl`, which copy items to another cluster."""

from collections.abc import Sequence
from typing import Annotated

from typer import Argument, Option

from nsadmin.client import NotApplied
from nsadmin.client.advised_command import quote_command
from nsadmin.command_line.argument_values import parse_name_list
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.access.enforcement import warn_of_restored_access
from nsadmin.commands.backups.backup_restore import outcome_columns, summarize_outcomes
from nsadmin.commands.transfer.cluster_ends import (
    SourceOption,
    TargetOption,
    open_clusters,
    refuse_cluster_names,
)
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRows
from nsadmin.console.phrases import abbreviate_names, count_noun
from nsadmin.console.session import Session
from nsadmin.operations.backups.records import Section
from nsadmin.operations.backups.restore_outcome import RestoreOutcome
from nsadmin.operations.transfer.metadata_plan import count_queues
from nsadmin.operations.transfer.metadata_transfer import MetadataScope, MetadataTransfer

SourceClusterOption = Annotated[
    str | None,
    Option("--from-cluster", metavar="CLUSTER", help="Cluster of the source. Default: its only one."),
    Values("clusters"),
]
TargetClusterOption = Annotated[
    str | None,
    Option("--to-cluster", metavar="CLUSTER", help="Cluster of the target. Default: its only one."),
    Values("clusters"),
]
BrokerMappingOption = Annotated[
    list[str] | None,
    Option("--map", metavar="OLD=NEW", help="Target broker NEW for source broker OLD. Repeatable."),
]
AllBrokersOption = Annotated[
    bool,
    Option(
        "--all-brokers",
        help="Every target broker gets the items of all source brokers. Default, if no name is in both.",
    ),
]
MissingOnlyOption = Annotated[
    bool, Option("--missing-only", help="Change no item that exists: create only those that are missing.")
]

TRANSFER_COLUMNS = outcome_columns(
    "kind of the item: topics, groups, orderConf, consumeModes, users, acls or accounts",
    "name of the target broker, or address of a name server",
    "the topic, group, user, subject or account",
    "why the target cannot have the item, or why it is kept; null for others",
    "done, dry-run, kept, unknown, failed, or left out (the target cannot have it)",
)


@command(
    columns=TRANSFER_COLUMNS,
    agent_refusal="it changes another cluster",
    examples=("elsewhere", "its source and its target are two clusters"),
)
def transfer_topics(
    session: Session,
    source_text: SourceOption,
    target_text: TargetOption,
    topics_text: Annotated[
        str | None,
        Argument(
            metavar="TOPICS",
            help="Topics or patterns such as 'test-*', separated by commas. Default: all topics of users.",
        ),
        Flags("-t", "--topic"),
        Values("topics"),
    ] = None,
    source_cluster: SourceClusterOption = None,
    target_cluster: TargetClusterOption = None,
    broker_mappings: BrokerMappingOption = None,
    on_all_brokers: AllBrokersOption = False,
    only_missing: MissingOnlyOption = False,
) -> ResultRows:
    """Create the topics of a cluster in another one, and read every change back.

    Topics get the queues, permissions and attributes of the source. An order configuration names the target
    brokers that get the topic. nsadmin deletes nothing. A topic that exists with other settings gets those of
    the source, unless you pass --missing-only: look at the preview. A topic that is equal gets no request, so
    run the command again at any time. System, retry, dead-letter and static topics are left out. Messages are
    copied by `nsadmin transfer messages`.

    A source broker goes to the target broker of the same name. If no name is in both clusters, every target
    broker gets all topics, as with --all-brokers. Otherwise pass --map for each broker with another name. If
    source brokers differ, --all-brokers takes the settings of the first one, and the largest number of
    queues.

    Examples:
        # Compare the topics of two clusters, such as test and production: a preview of the copies
        nsadmin transfer topics --from prod --to dr --dry-run
        # Create the topics that are missing, and overwrite no settings
        nsadmin transfer topics --from prod --to dr --missing-only --yes
        # Between two clusters of the same name servers: a preview
        nsadmin transfer topics --from all --from-cluster cluster-a --to all --to-cluster cluster-b --dry-run
        # One topic and those whose names match a pattern, on every broker of the target
        nsadmin transfer topics 'orders,pay*' --from prod --to dr --all-brokers --yes
    """
    sections = frozenset({Section.TOPICS, Section.STATIC_TOPICS, Section.ORDER_CONF})
    scope = _make_scope(
        "transfer topics",
        sections,
        source_cluster,
        target_cluster,
        broker_mappings,
        on_all_brokers,
        only_missing,
    )
    topics = frozenset(parse_name_list("TOPICS", topics_text))
    return _transfer(session, "transfer topics", source_text, target_text, scope._replace(topics=topics))


@command(
    columns=TRANSFER_COLUMNS,
    agent_refusal="it changes another cluster",
    examples=("elsewhere", "its source and its target are two clusters"),
)
def transfer_groups(
    session: Session,
    source_text: SourceOption,
    target_text: TargetOption,
    groups_text: Annotated[
        str | None,
        Argument(
            metavar="GROUPS",
            help="Groups or patterns such as 'test-*', separated by commas. Default: all groups of users.",
        ),
        Flags("-g", "--groupName"),
        Values("groups"),
    ] = None,
    source_cluster: SourceClusterOption = None,
    target_cluster: TargetClusterOption = None,
    broker_mappings: BrokerMappingOption = None,
    on_all_brokers: AllBrokersOption = False,
    only_missing: MissingOnlyOption = False,
) -> ResultRows:
    """Create the consumer groups of a cluster in another one, and read every change back.

    Groups get the settings of the source, and their consume modes (since 5.0). nsadmin deletes nothing. A
    group that is equal gets no request, so run the command again at any time. System groups are left out.
    Offsets are translated by `nsadmin transfer offsets`.

    Examples:
        # Preview the copies of all groups
        nsadmin transfer groups --from prod --to dr --dry-run
        # Create the groups that are missing, and overwrite no settings
        nsadmin transfer groups --from prod --to dr --missing-only --yes
        # One group
        nsadmin transfer groups payments-consumer --from prod --to dr --yes
    """
    sections = frozenset({Section.GROUPS, Section.CONSUME_MODES})
    scope = _make_scope(
        "transfer groups",
        sections,
        source_cluster,
        target_cluster,
        broker_mappings,
        on_all_brokers,
        only_missing,
    )
    groups = frozenset(parse_name_list("GROUPS", groups_text))
    return _transfer(session, "transfer groups", source_text, target_text, scope._replace(groups=groups))


@command(
    columns=TRANSFER_COLUMNS,
    agent_refusal="it changes another cluster",
    examples=("elsewhere", "its source and its target are two clusters"),
)
def transfer_acl(
    session: Session,
    source_text: SourceOption,
    target_text: TargetOption,
    source_cluster: SourceClusterOption = None,
    target_cluster: TargetClusterOption = None,
    broker_mappings: BrokerMappingOption = None,
    on_all_brokers: AllBrokersOption = False,
    only_missing: MissingOnlyOption = False,
) -> ResultRows:
    """Create the users and ACLs of a cluster in another one, with their passwords, and read them back.

    Brokers report passwords and secret keys to administrators, so nsadmin can copy them. Clients keep their
    credentials. Accounts of 4.x become users and ACLs on brokers since 5.3: an admin becomes a super user,
    and permissions become entries. 5.x has no trusted addresses: nsadmin lists each of them as left out.
    Accounts of 4.x stay accounts on 4.x brokers.

    nsadmin deletes nothing, and changes no password of a user that exists. It writes to masters: use
    `nsadmin copyUser` and `nsadmin copyAcl` for slaves.

    Examples:
        # Preview, with the rules that 5.x cannot express
        nsadmin transfer acl --from old --to new --dry-run
    """
    sections = frozenset({Section.USERS, Section.ACLS, Section.ACCOUNTS})
    scope = _make_scope(
        "transfer acl",
        sections,
        source_cluster,
        target_cluster,
        broker_mappings,
        on_all_brokers,
        only_missing,
    )
    return _transfer(session, "transfer acl", source_text, target_text, scope)


def _make_scope(
    command_name: str,
    sections: frozenset[Section],
    source_cluster: str | None,
    target_cluster: str | None,
    broker_mappings: Sequence[str] | None,
    on_all_brokers: bool,
    only_missing: bool,
) -> MetadataScope:
    broker_names: dict[str, str] = {}
    for mapping_text in broker_mappings or ():
        old_name, _, new_name = mapping_text.partition("=")
        if not (old_name and new_name):
            raise UsageError(f'{command_name}: invalid value "{mapping_text}" for --map: use OLD=NEW')
        broker_names[old_name] = new_name
    if broker_names and on_all_brokers:
        raise UsageError(f"{command_name}: --map and --all-brokers exclude each other: omit one of them")
    return MetadataScope(
        sections,
        source_cluster=source_cluster,
        target_cluster=target_cluster,
        broker_names=broker_names,
        on_all_brokers=on_all_brokers,
        only_missing=only_missing,
    )


def _transfer(
    session: Session, command_name: str, source_text: str, target_text: str, scope: MetadataScope
) -> ResultRows:
    words = command_name.split()
    if patterns := [*scope.topics, *scope.groups]:
        words.append(",".join(sorted(patterns)))
    words += [word for old, new in scope.broker_names.items() for word in ("--map", f"{old}={new}")]
    flags = {
        "--all-brokers": scope.on_all_brokers,
        "--missing-only": scope.only_missing,
        "--dry-run": session.is_dry_run,
    }
    words += [flag for flag, is_given in flags.items() if is_given]
    ends = (("--from", source_text), ("--to", target_text))
    refuse_cluster_names(session, words, ends, (scope.source_cluster, scope.target_cluster))
    with open_clusters(session, command_name, source_text, target_text) as clusters:
        transfer = MetadataTransfer(clusters.source, clusters.target, scope)
        warn_of_restored_access(session, clusters.target, transfer.selected)
        names = sorted([*transfer.scope.topics, *transfer.scope.groups])
        items_text = abbreviate_names(names, 5) if names else f"all {command_name.partition(' ')[2]}"
        if transfer.scope.on_all_brokers and not scope.on_all_brokers:
            session.write_remark(
                "no broker has the same name in both clusters: every target broker gets the items of all "
                "source brokers; --map OLD=NEW chooses otherwise"
            )
        verb = "Create" if scope.only_missing else "Create or change"
        session.confirm_change(f"{verb} {items_text} of {source_text} in {target_text}?")
        outcomes = list(transfer.run(is_dry_run=session.is_dry_run))
    shown = [outcome for outcome in outcomes if outcome.result != "unchanged"]
    shown += [
        RestoreOutcome(loss.section, loss.broker_name, loss.item_name, None, None, "left out", loss.reason)
        for loss in transfer.losses
    ]
    notes = [*transfer.source_backup.remarks, summarize_outcomes(outcomes, "nothing to change")]
    if any(outcome.result == "dry-run" and outcome.before is not None for outcome in outcomes):
        notes.append("--missing-only creates missing items, and changes none that exist")
    if command_name == "transfer topics" and not names:
        clusters_chosen = (("--from-cluster", scope.source_cluster), ("--to-cluster", scope.target_cluster))
        options = [word for flag, text in (*ends, *clusters_chosen) if text for word in (flag, text)]
        notes.append(f"for their consumer groups, run {quote_command('transfer', 'groups', *options)}")
    source_counts, counts = count_queues(transfer.source_backup), count_queues(transfer.selected)
    fewer = [
        f"{topic} {n} of {source_counts[topic]}" for topic, n in counts.items() if n < source_counts[topic]
    ]
    # Their names have the namespace, too.
    kept_confs = {
        outcome.item_name.rpartition(" ")[2]: outcome.after
        for outcome in outcomes
        if (outcome.section, outcome.result) == (Section.ORDER_CONF, "kept")
    }
    target_words = ("-n", target_text) if ":" in target_text else ("--context", target_text)
    notes += [
        f"the order configuration of {topic} is kept: clients that use it ignore the queues of new brokers; "
        f"to add them, run {quote_command('updateOrderConf', topic, 'put', conf, *target_words)}"
        for topic, conf in kept_confs.items()
    ]
    if fewer:
        notes.append(
            f"fewer queues than in the source: {abbreviate_names(fewer, 3)}: `transfer messages` "
            "refuses these without --merge-queues, which puts messages of several queues into one"
        )
    if transfer.losses:
        is_one = len(transfer.losses) == 1
        notes.append(
            f"{count_noun(len(transfer.losses), 'item')} {'was' if is_one else 'were'} left out: see "
            f"{'its reason' if is_one else 'their reasons'}"
        )
    errors = [
        None,
        *(outcome.error for outcome in outcomes),
        *map(NotApplied, transfer.source_backup.remarks),
    ]
    return ResultRows.from_records(TRANSFER_COLUMNS, shown, errors, notes)
