"""Owns getConsumerConfig, updateSubGroup and deleteSubGroup, which manage consumer groups on brokers."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, NamedTuple

from typer import Argument, Option

from namesrv_core import operator_files
from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.resource_attributes import format_changes, sign_changes
from namesrv_core.protocol.resource_names import GROUP_TOPIC_PREFIXES
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.consumers.committed_offsets import find_topics_with_offsets
from nsadmin.client.consumers.groups import GroupChange, is_system_group
from nsadmin.client.results import AlreadyRecreated, NotApplied, error_text, is_not_found
from nsadmin.command_line import argument_values
from nsadmin.command_line.broker_targets import (
    ClusterMastersOption,
    MasterAddrOption,
    describe_targets,
    leave_out_clusters,
    list_clusters,
    remark_other_clusters,
    select_masters,
)
from nsadmin.command_line.declarations import Each, Flags, command
from nsadmin.command_line.server_name_suggestions import remark_similar_name
from nsadmin.commands.columns.brokers import BROKER_ADDR, BROKER_NAME
from nsadmin.commands.columns.changes import (
    GROUP_MAIN_SETTINGS,
    ServerChange,
    broker_change_columns,
    describe_change,
    describe_removal,
    undo_on_brokers,
)
from nsadmin.commands.columns.consumers import GROUP
from nsadmin.commands.columns.servers import ERROR, ROLE, SERVER
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.procedures.attribute_warnings import warn_of_unknown_attributes
from nsadmin.commands.topics.topics import DELETION_COLUMNS, describe_deletion
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.phrases import abbreviate_names, count_noun, failed_on
from nsadmin.console.session import Session
from nsadmin.operations.name_patterns import expand_patterns


class GroupRow(NamedTuple):
    """The settings of the group on a broker, or why they are unknown."""

    broker: BrokerTarget
    settings: Mapping[str, Any]
    error: str | None = None


def _setting(key: str, meaning: str, wide: bool = False) -> Column[GroupRow]:
    return Column(key, meaning, lambda r: r.settings.get(key), wide)


CONFIG_COLUMNS: Columns[GroupRow] = (
    GROUP.in_wide(),
    *of_part(lambda r: r.broker, (BROKER_NAME, BROKER_ADDR.in_wide())),
    _setting("consumeEnable", "whether the group may consume"),
    _setting("consumeFromMinEnable", "whether the group reads a new queue from its oldest message"),
    _setting("consumeBroadcastEnable", "whether every client may receive every message"),
    _setting("consumeMessageOrderly", "whether the broker delivers messages in order; since 5.0"),
    _setting("retryQueueNums", "queues of the group's retry topic"),
    _setting("retryMaxTimes", "retries before a dead letter; clients that send their own limit ignore it"),
    _setting("groupRetryPolicy", "delays before retries; since 5.0", wide=True),
    _setting("consumeTimeoutMinute", "minutes after which a message counts as not consumed", wide=True),
    _setting("brokerId", "id of the broker that clients read from", wide=True),
    _setting(
        "whichBrokerWhenConsumeSlowly", "id of the broker to read from if the group is far behind", wide=True
    ),
    _setting(
        "notifyConsumerIdsChangedEnable", "whether the broker notifies clients of new clients", wide=True
    ),
    _setting("groupSysFlag", "flags of the group, as a number", wide=True),
    _setting("subscriptionDataSet", "subscriptions that the broker keeps for the group", wide=True),
    _setting("attributes", "attributes by name; brokers since 5.0"),
    ERROR.of(lambda r: r.error),
)
GROUP_CHANGE_COLUMNS: Columns[tuple[BrokerTarget, ServerChange]] = broker_change_columns(GROUP)
GROUP_DELETION_COLUMNS: Columns[tuple[str, ServerChange]] = (
    *of_part(lambda r: r[1], (SERVER, ROLE)),
    GROUP.of(lambda r: r[0]),
    *of_part(lambda r: r[1], (TOPIC.means("retry or dead-letter topic of the group"), *DELETION_COLUMNS[3:])),
)

GroupArgument = Annotated[
    str, Argument(metavar="GROUP", help="A consumer group."), Flags("-g", "--groupName")
]


@command(columns=CONFIG_COLUMNS)
def get_consumer_config(
    session: Session,
    group: Annotated[GroupArgument, Each("consumer group")],
    cluster_name: Annotated[
        str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Only the brokers of this cluster.")
    ] = None,
) -> ResultRows:
    """Show the settings of a consumer group on every broker.

    JSON has more columns than the table. A setting that the broker's version does not have is null, for
    example order, retry policy and attributes on 4.9. It is an error only if no broker has the group.

    Examples:
        # Settings of a group, such as its maximum of retries, on every broker of a cluster
        nsadmin getConsumerConfig warehouse -c cluster-a
    """
    rows, errors, notes = list[GroupRow](), list[RocketMQError | None](), []
    for broker, settings, error in session.admin.groups.get_settings(group, cluster_name):
        errors.append(error)
        if error is not None:
            notes.append(f"broker {broker.broker_name}: {error_text(error)}")
            rows.append(GroupRow(broker, {}, error_text(error)))
        elif settings is None:
            rows.append(GroupRow(broker, {}, "this broker does not have the group"))
        else:
            rows.append(GroupRow(broker, settings))
    return ResultRows.from_records(CONFIG_COLUMNS, rows, errors, notes, common={GROUP: group})


_GROUP_FLAGS = {
    "consumeEnable": "-s",
    "consumeFromMinEnable": "-m",
    "consumeBroadcastEnable": "-d",
    "consumeMessageOrderly": "-o",
    "retryQueueNums": "-q",
    "retryMaxTimes": "-r",
    "groupRetryPolicy": "-p",
    "brokerId": "-i",
    "whichBrokerWhenConsumeSlowly": "-w",
    "notifyConsumerIdsChangedEnable": "-a",
}


def _undo_group_change(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    return undo_on_brokers(rows, "brokerAddr", _find_former_settings)


def _find_former_settings(row: Mapping[str, Any]) -> list[str] | None:
    """The words that give a group its settings from before back; None for a group that was new."""
    before, after = row.get("before"), row.get("after")
    if not before or not after:
        return None
    words = ["updateSubGroup", row["group"]]
    for name, flag in _GROUP_FLAGS.items():
        if before.get(name) != after.get(name):
            if before.get(name) is None:
                return None
            # JSON writes booleans as the options take them.
            words += [flag, json.dumps(before[name], separators=(",", ":"))]
    former = sign_changes(after.get("attributes") or {}, before.get("attributes") or {})
    return [*words, *(["--attributes", format_changes(former)] if former else [])]


@command(columns=GROUP_CHANGE_COLUMNS, undo_lines=_undo_group_change)
def update_sub_group(
    session: Session,
    group: Annotated[
        str, Argument(metavar="GROUP", help="A consumer group."), Flags("-g", "--groupName", may_be_new=True)
    ],
    broker_text: MasterAddrOption = None,
    cluster_name: ClusterMastersOption = None,
    consume_enable: Annotated[
        str | None,
        Option("-s", "--consumeEnable", metavar="true|false", help="Whether the group may consume."),
    ] = None,
    consume_from_min: Annotated[
        str | None,
        Option(
            "-m",
            "--consumeFromMinEnable",
            metavar="true|false",
            help="Whether it starts at the oldest message.",
        ),
    ] = None,
    consume_broadcast: Annotated[
        str | None,
        Option("-d", "--consumeBroadcastEnable", metavar="true|false", help="Whether it may broadcast."),
    ] = None,
    consume_orderly: Annotated[
        str | None,
        Option(
            "-o", "--consumeMessageOrderly", metavar="true|false", help="Consume in order. 5.0 and later."
        ),
    ] = None,
    retry_queue_nums: Annotated[
        int | None, Option("-q", "--retryQueueNums", metavar="NUMBER", help="Queues of the retry topic.")
    ] = None,
    retry_max_times: Annotated[
        int | None,
        Option(
            "-r",
            "--retryMaxTimes",
            metavar="NUMBER",
            help="Retries before a dead letter, for clients without their own limit.",
        ),
    ] = None,
    retry_policy: Annotated[
        str | None,
        Option(
            "-p", "--groupRetryPolicy", metavar="JSON", help="Delays between retries, in JSON. 5.0 and later."
        ),
    ] = None,
    broker_id: Annotated[
        int | None, Option("-i", "--brokerId", metavar="ID", help="Id of the broker to consume from.")
    ] = None,
    slow_broker_id: Annotated[
        int | None,
        Option(
            "-w", "--whichBrokerWhenConsumeSlowly", metavar="ID", help="The same if the group is far behind."
        ),
    ] = None,
    notify_clients: Annotated[
        str | None,
        Option("-a", "--notifyConsumerIdsChanged", metavar="true|false", help="Notify clients of new ones."),
    ] = None,
    attribute_list: Annotated[
        str | None,
        Option(
            "--attributes", metavar="ATTRIBUTES", help="Attributes, as in +key=value,-other. 5.1.3 and later."
        ),
    ] = None,
) -> ResultRows:
    """Create a consumer group, or change only the settings that you pass.

    A new group may consume but not broadcast. It starts where its clients specify, and retries 16 times.
    nsadmin reads each master before and after, and each row shows the change there.

    With -c '*', nsadmin creates the group only if no cluster has it. Otherwise, clusters without it stay
    without it.

    Examples:
        # Create a group on every master of a cluster, if it does not exist; an existing one stays as it is
        nsadmin updateSubGroup reporting -c cluster-a --yes
        # Change the maximum of retries (max reconsume times), for clients that send no limit of their own
        nsadmin updateSubGroup warehouse -c '*' -r 5 --yes
        # Allow a group to broadcast: each of its clients gets every message
        nsadmin updateSubGroup warehouse -c cluster-a -d true --yes
        # Stop (pause, disable) a group now, in all clusters: no more consumption; -s true lets it go on
        nsadmin updateSubGroup warehouse -c '*' -s false --yes
    """
    settings_by_name = {
        "consumeEnable": argument_values.parse_boolean("-s", consume_enable),
        "consumeFromMinEnable": argument_values.parse_boolean("-m", consume_from_min),
        "consumeBroadcastEnable": argument_values.parse_boolean("-d", consume_broadcast),
        "consumeMessageOrderly": argument_values.parse_boolean("-o", consume_orderly),
        "retryQueueNums": retry_queue_nums,
        "retryMaxTimes": retry_max_times,
        "groupRetryPolicy": _parse_retry_policy(retry_policy),
        "brokerId": broker_id,
        "whichBrokerWhenConsumeSlowly": slow_broker_id,
        "notifyConsumerIdsChangedEnable": argument_values.parse_boolean("-a", notify_clients),
    }
    settings = {name: value for name, value in settings_by_name.items() if value is not None}
    attributes = argument_values.parse_attribute_changes("group", attribute_list)
    warn_of_unknown_attributes(session, [("group", attributes)])
    targets = select_masters(session, broker_text, cluster_name)
    targets = leave_out_clusters(
        session, group, cluster_name, targets, lambda: _find_brokers_without(session, group, targets)
    )
    if group not in (names := _list_group_names(session, targets)):
        argument_values.validate_group_name(group)
        # One broker alone does not tell whether the group exists elsewhere.
        if session.namesrv_addrs:
            with suppress(RocketMQError):
                names |= _list_group_names(session, session.admin.groups.list_targets())
                if group not in names:
                    remark_similar_name(session, group, names)
    _remark_on_other_clusters(session, [group], cluster_name, settings)
    session.confirm_change(f"Create or change the consumer group {group} on {describe_targets(targets)}?")
    groups = session.admin.groups
    update_group = groups.plan_update if session.is_dry_run else groups.update_group
    done = "dry-run" if session.is_dry_run else "done"
    changes = [
        (c.target, _describe_change(c, settings, done))
        for c in update_group(group, targets, settings, attributes)
    ]
    errors = [change.error for _, change in changes]
    notes = []
    if retry_max_times is not None and not all(errors):
        notes.append(
            "Java push consumers use the limit of their application (maxReconsumeTimes), not this one: 16 by "
            "default, and no limit if they consume in order"
        )
    if settings.get("consumeEnable") is False and not all(errors):
        if any(change.before for _, change in changes):
            notes.append("clients finish the messages that they have already fetched, then they get no more")
        else:
            all_groups = quote_command("consumerProgress")
            notes.append(f"{group} is a new group, so nothing is paused: run {all_groups} to list the groups")
    rows = ResultRows.from_records(GROUP_CHANGE_COLUMNS, changes, errors, common={GROUP: group})
    return rows.with_notes(*notes)


def _find_brokers_without(
    session: Session, group: str, targets: Sequence[BrokerTarget]
) -> list[BrokerTarget]:
    results = session.admin.groups.get_tables(targets)
    return [
        t for t, r in zip(targets, results, strict=True) if r.result is not None and group not in r.result
    ]


def _remark_on_other_clusters(
    session: Session, groups: Sequence[str], cluster_list: str | None, settings: Mapping[str, object] | None
) -> None:
    """Say which other clusters have the groups with other settings; None for groups that are deleted."""
    if cluster_list is None:
        return
    # The change itself tells what else is wrong.
    with suppress(RocketMQError):
        changed = list_clusters(session, cluster_list)
        admin = session.admin.groups
        tables = [
            (cluster, result.result)
            for cluster in session.admin.clusters.get_info().cluster_names
            if cluster not in changed
            for result in admin.get_tables(admin.list_masters(cluster))
            if result.result
        ]
        for group in groups:
            keeping = {
                cluster
                for cluster, table in tables
                if group in table
                and (settings is None or any(table[group].get(k) != value for k, value in settings.items()))
            }
            fact = f"{group} stays" if settings is None else f"{group} keeps its settings"
            remark_other_clusters(session, fact, keeping)


def _parse_retry_policy(policy_json: str | None) -> object:
    if policy_json is None:
        return None
    try:
        policy_record = operator_files.parse_json(policy_json)
    except ValueError:
        policy_record = None
    if not isinstance(policy_record, dict):
        raise UsageError('invalid value for -p: expected JSON such as {"type":"CUSTOMIZED"}')
    return policy_record


def _describe_change(change: GroupChange, named_settings: Iterable[str], done: str) -> ServerChange:
    """The row of a master; of a new group, the change in words has the main settings and those passed."""
    before, after = _without_group_name(change.before), _without_group_name(change.after)
    shown = {*GROUP_MAIN_SETTINGS, *named_settings}
    return ServerChange(
        change.target.broker_addr or change.target.broker_name,
        None if change.error or not change.before else change.before,
        None if change.error else change.after,
        change.error,
        done if before != after else "unchanged",
        words=describe_change(before, after)
        if before
        else describe_change(None, {name: value for name, value in after.items() if name in shown}),
    )


def _without_group_name(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings sorted by name, without the group's name, which has its own column."""
    return {name: settings[name] for name in sorted(settings) if name != "groupName"}


@command(columns=GROUP_DELETION_COLUMNS)
def delete_sub_group(
    session: Session,
    group: Annotated[
        str,
        Argument(metavar="GROUP", help="A group, several as a,b or a pattern such as 'test-*'."),
        Flags("-g", "--groupName"),
    ],
    broker_text: MasterAddrOption = None,
    cluster_name: ClusterMastersOption = None,
    remove_offset: Annotated[
        str | None,
        Option("-r", "--removeOffset", metavar="true|false", help="Also delete the group's offsets."),
    ] = None,
    keep_topics: Annotated[
        bool, Option("--keep-topics", help="With -c: keep the group's retry and dead-letter topics.")
    ] = False,
    requires_unused: Annotated[
        bool, Option("--if-unused", help="Delete nothing if clients of a group are connected (exit code 1).")
    ] = False,
) -> ResultRows:
    """Delete consumer groups from one master, or from a cluster with their retry and dead-letter topics.

    With -c, nsadmin deletes %RETRY%GROUP and %DLQ%GROUP with their messages from every master and name
    server. Without -r true, the offsets stay, and a new group of the same name continues at them. With it,
    nsadmin also deletes offsets of a group whose settings are gone.

    If a broker creates groups automatically, connected clients recreate the group immediately. A 5.5 broker
    does the same if it still has offsets of the group. Then a row reports it, nsadmin restores the group's
    settings, and its topics stay. A master without the group reports "not found". That is an error only if no
    master has it. A pattern matches no system groups. Brokers since 5.5.1 delete a list of groups with one
    request.

    Examples:
        # Preview the deletion
        nsadmin deleteSubGroup ledger -c cluster-a --dry-run
        # Preview the deletion of several groups
        nsadmin deleteSubGroup 'led*,warehouse' -c cluster-a --dry-run
        # Delete a group with its offsets only if nobody uses it: this one has connected clients (exit code 1)
        nsadmin deleteSubGroup ledger -c cluster-a --if-unused -r true --yes
        # Delete a group, its retry and dead-letter topics and its offsets
        nsadmin deleteSubGroup ledger -c cluster-a -r true --yes
    """
    removes_offsets = argument_values.parse_boolean("-r", remove_offset) or False
    master_targets = select_masters(session, broker_text, cluster_name)
    words = argument_values.parse_name_list("GROUP", group)
    groups = expand_patterns("consumer group", words, lambda: _list_group_names(session, master_targets))
    clusters = [] if cluster_name is None else list_clusters(session, cluster_name)
    topic_prefixes = () if cluster_name is None or keep_topics else GROUP_TOPIC_PREFIXES
    deleted_things = [
        f"the consumer group {groups[0]}"
        if len(groups) == 1
        else f"{count_noun(len(groups), 'consumer group')} ({abbreviate_names(groups, 10)})",
        *(["the offsets"] if removes_offsets else []),
        *(f"{prefix}{groups[0] if len(groups) == 1 else '...'}" for prefix in topic_prefixes),
    ]
    master_addrs = [target.broker_addr for target in master_targets if target.broker_addr]
    connections = session.admin.consumers.get_group_connections(groups, master_addrs)
    clients = {name: sorted({c.client_id for c in connections[name].clients}) for name in groups}
    client_notes = [
        f"the group {name} has {count_noun(len(ids), 'connected client')}: stop {_name_clients(ids)} first"
        for name, ids in clients.items()
        if ids
    ]
    if requires_unused:
        unknown_notes = [
            f"the clients of {name} are unknown: {addr}: {error}"
            for name in groups
            for addr, error in {**connections[name].errors, **connections[name].proxy_errors}.items()
            if error is not None
        ]
        if client_notes or unknown_notes:
            raise NotApplied(f"nothing is deleted: {'; '.join([*client_notes, *unknown_notes])}")
    _remark_on_other_clusters(session, groups, cluster_name, None)
    if not removes_offsets:
        offset_tables = session.admin.consumers.get_committed_each(master_addrs)
        for name in groups:
            if any(find_topics_with_offsets(r.result or {}, name) for r in offset_tables):
                session.write_remark(
                    f"the offsets of {name} stay, and a new group of this name continues at them: "
                    "-r true also deletes them"
                )
    for client_note in client_notes if session.can_ask else ():
        session.write_remark(client_note)
    session.confirm_change(f"Delete {', '.join(deleted_things)} on {describe_targets(master_targets)}?")
    group_admin = session.admin.groups
    result_lists = (
        [group_admin.find_holders(name, master_targets, includes_offsets=removes_offsets) for name in groups]
        if session.is_dry_run
        else group_admin.delete_groups(groups, master_targets, clean_offset=removes_offsets)
    )
    changes: list[tuple[str, ServerChange]] = []
    errors: list[RocketMQError | None] = []
    notes = client_notes if session.is_dry_run else []
    for name, holder_results in zip(groups, result_lists, strict=True):
        group_changes = [
            ServerChange(
                target.broker_addr or target.broker_name,
                before,
                None,
                error,
                "dry-run" if session.is_dry_run else "done",
                "master",
                words="removed: offsets" if before == {} else describe_removal(before, GROUP_MAIN_SETTINGS),
            )
            for target, (_, before, error) in zip(master_targets, holder_results, strict=True)
        ]
        group_errors = [change.error for change in group_changes]
        if None in group_errors:
            group_errors = [None if is_not_found(error) else error for error in group_errors]
        # A group that still exists on one master would lose the messages that wait in its topics.
        still_exists = any(isinstance(error, AlreadyRecreated) for error in group_errors)
        group_topics = [f"{prefix}{name}" for prefix in topic_prefixes]
        if still_exists and group_topics:
            notes.append(f"{' and '.join(group_topics)} stay, because the group still exists")
        if None in group_errors and not still_exists and clients[name] and not session.is_dry_run:
            notes.append(
                f"stop {_name_clients(clients[name])}: connected clients of the deleted group {name} get no "
                "messages, or make brokers create it again"
            )
        for group_topic in group_topics if None in group_errors and not still_exists else ():
            topic_changes = [
                c for cluster in clusters for c in _delete_group_topic(session, group_topic, cluster)
            ]
            group_changes += topic_changes
            group_errors += [change.error for change in topic_changes if change.done != "skipped"]
        changes += [(name, change) for change in group_changes]
        errors += group_errors
    return ResultRows.from_records(
        GROUP_DELETION_COLUMNS, changes, errors, [*notes, *failed_on(errors, "step")]
    )


def _list_group_names(session: Session, masters: Sequence[BrokerTarget]) -> set[str]:
    """The users' groups of all masters. A master that does not answer is reported by the deletion."""
    return {
        name
        for result in session.admin.groups.get_tables(masters)
        for name in result.result or ()
        if not is_system_group(name)
    }


def _name_clients(client_ids: Sequence[str]) -> str:
    return abbreviate_names(client_ids, 3)


def _delete_group_topic(session: Session, topic: str, cluster_name: str) -> list[ServerChange]:
    """Delete a topic of the group; a missing topic is not an error."""
    try:
        deletion = session.admin.topics.plan_deletion(topic, cluster_name)
    except RocketMQError as error:
        return [] if is_not_found(error) else [ServerChange(None, None, None, error, topic=topic)]
    steps = deletion.list_planned_steps() if session.is_dry_run else deletion.run_deletion()
    return [describe_deletion(step, topic) for step in steps]
