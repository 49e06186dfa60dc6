"""Owns getConsumerConfig, updateSubGroup and deleteSubGroup, which manage consumer groups on brokers."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from namesrv_core.errors import RocketMQError
from nsadmin.client.groups import GroupChange
from nsadmin.client.results import MadeAnew, error_text, is_not_found
from nsadmin.commands import values
from nsadmin.commands.changes import CHANGE, CHANGE_IN_TABLE, gone, words
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.results import outcome
from nsadmin.commands.targets import MasterOption, MastersOption, masters_at, places
from nsadmin.commands.topics import deletion_row
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

SETTINGS = (
    "consumeEnable",
    "consumeFromMinEnable",
    "consumeBroadcastEnable",
    "consumeMessageOrderly",
    "retryQueueNums",
    "retryMaxTimes",
    "groupRetryPolicy",
    "consumeTimeoutMinute",
    "brokerId",
    "whichBrokerWhenConsumeSlowly",
    "notifyConsumerIdsChangedEnable",
    "groupSysFlag",
    "subscriptionDataSet",
    "attributes",
)
CONFIG_COLUMNS = ("group", "brokerName", "brokerAddr", *SETTINGS, "error")
CONFIG_IN_TABLE = (
    "brokerName", "consumeEnable", "consumeFromMinEnable", "consumeBroadcastEnable", "consumeMessageOrderly",
    "retryQueueNums", "retryMaxTimes", "attributes", "error",
)  # fmt: skip
CHANGE_COLUMNS = ("target", "brokerName", "group", *CHANGE)
CHANGED_IN_TABLE = ("target", "brokerName", "group", *CHANGE_IN_TABLE)
MAIN_SETTINGS = ("consumeEnable", "retryQueueNums", "retryMaxTimes")
"""The settings that a table shows of a created or deleted group; JSON has all of them."""
DELETION_COLUMNS = ("target", "role", "group", "topic", *CHANGE)
DELETION_IN_TABLE = ("target", "role", "group", "topic", *CHANGE_IN_TABLE)

Group = Annotated[str, Word(("-g", "--groupName"), "GROUP", "A consumer group.")]


@shows(CONFIG_COLUMNS)
def get_consumer_config(
    session: Session,
    group: Group,
    cluster: Annotated[
        str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Only the brokers of this cluster.")
    ] = None,
) -> Rows:
    """Show the settings of a consumer group on every broker.

    JSON has more columns than the table. What a release does not know (4.9 knows no order, retry policy
    and attributes) is null. A broker that does not know the group says so, which is an error only if no
    broker knows it.

    Examples:
        # Settings of a group on every broker of a cluster
        nsadmin getConsumerConfig warehouse -c cluster-a
    """
    rows: list[Row] = []
    errors: list[RocketMQError | None] = []
    notes = []
    for target, settings, error in session.admin.groups.settings(group, cluster):
        row: Row = {"group": group, "brokerName": target.broker_name, "brokerAddr": target.broker_addr}
        errors.append(error)
        if error is not None:
            notes.append(f"broker {target.broker_name}: {error_text(error)}")
            rows.append({**row, "error": error_text(error)})
        elif settings is None:
            rows.append({**row, "error": "this broker does not know the group"})
        else:
            rows.append({**row, **{name: settings.get(name) for name in SETTINGS}})
    return Rows(CONFIG_COLUMNS, rows, errors, notes, CONFIG_IN_TABLE)


@shows(CHANGE_COLUMNS)
def update_sub_group(
    session: Session,
    group: Group,
    broker: MasterOption = None,
    cluster: MastersOption = None,
    consume_enable: Annotated[
        str | None, Option("-s", "--consumeEnable", metavar="true|false", help="Whether it may consume.")
    ] = None,
    from_min: Annotated[
        str | None,
        Option("-m", "--consumeFromMinEnable", metavar="true|false", help="Start at the oldest message."),
    ] = None,
    broadcast: Annotated[
        str | None,
        Option("-d", "--consumeBroadcastEnable", metavar="true|false", help="Whether it may broadcast."),
    ] = None,
    orderly: Annotated[
        str | None,
        Option("-o", "--consumeMessageOrderly", metavar="true|false", help="In order; 5.0 and later."),
    ] = None,
    retry_queue_nums: Annotated[
        int | None, Option("-q", "--retryQueueNums", metavar="NUMBER", help="Queues of its retry topic.")
    ] = None,
    retry_max_times: Annotated[
        int | None, Option("-r", "--retryMaxTimes", metavar="NUMBER", help="Retries before a dead letter.")
    ] = None,
    retry_policy: Annotated[
        str | None, Option("-p", "--groupRetryPolicy", metavar="JSON", help="Its waits; 5.0 and later.")
    ] = None,
    broker_id: Annotated[
        int | None, Option("-i", "--brokerId", metavar="ID", help="Broker id to consume from.")
    ] = None,
    when_slow: Annotated[
        int | None,
        Option("-w", "--whichBrokerWhenConsumeSlowly", metavar="ID", help="Broker id when it is behind."),
    ] = None,
    notify: Annotated[
        str | None,
        Option("-a", "--notifyConsumerIdsChanged", metavar="true|false", help="Tell clients of new clients."),
    ] = None,
    attributes: Annotated[
        str | None, Option("--attributes", metavar="LIST", help="As in +key=value,-other; 5.1.3 and later.")
    ] = None,
) -> Rows:
    """Create a consumer group, or change one: what is not named stays as each broker has it.

    A new group may consume, not broadcast, and starts where its clients say; it retries 16 times. Each
    master is read before and after, and a row says what changed there.

    Examples:
        # Create a group on every master of a cluster
        nsadmin updateSubGroup reporting -c cluster-a --yes
        # Change how often a group retries, and nothing else
        nsadmin updateSubGroup warehouse -c cluster-a -r 5 --yes
        # What would change if it stopped consuming
        nsadmin updateSubGroup warehouse -c cluster-a -s false --dry-run
    """
    command = "updateSubGroup"
    named = {
        "consumeEnable": values.flag(command, "-s", consume_enable),
        "consumeFromMinEnable": values.flag(command, "-m", from_min),
        "consumeBroadcastEnable": values.flag(command, "-d", broadcast),
        "consumeMessageOrderly": values.flag(command, "-o", orderly),
        "retryQueueNums": retry_queue_nums,
        "retryMaxTimes": retry_max_times,
        "groupRetryPolicy": _policy(retry_policy),
        "brokerId": broker_id,
        "whichBrokerWhenConsumeSlowly": when_slow,
        "notifyConsumerIdsChangedEnable": values.flag(command, "-a", notify),
    }
    changes = {name: value for name, value in named.items() if value is not None}
    signed = _signed(attributes)
    targets = masters_at(session, command, broker, cluster)
    session.confirm(f"Create or change the consumer group {group} on {places(targets)}?")
    groups = session.admin.groups
    if session.dry_run:
        return _changes(group, groups.planned(group, targets, changes, signed), changes, "dry-run")
    return _changes(group, groups.update(group, targets, changes, signed), changes, "done")


def _policy(text: str | None) -> object:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise UsageError('updateSubGroup: -p wants JSON such as {"type":"CUSTOMIZED"}')
    return value


def _signed(text: str | None) -> dict[str, str]:
    """Split "+a=1,-b" into values by signed key: {"+a": "1", "-b": ""}."""
    signed = {}
    for item in (text or "").split(","):
        key, _, value = item.strip().partition("=")
        if key and (key[0] not in "+-" or len(key) < 2 or (key[0] == "+" and not value)):
            raise UsageError(f"updateSubGroup: --attributes {item}: write +key=value or -key")
        if key:
            signed[key] = value
    return signed


def _changes(group: str, changes: Sequence[GroupChange], named: Iterable[str], done: str) -> Rows:
    rows: list[Row] = []
    for target, before, after, error in changes:
        was, is_now = (_unnamed(settings) for settings in (before, after))
        word = done if was != is_now else "unchanged"
        rows.append(
            {
                "target": target.broker_addr or target.broker_name,
                "brokerName": target.broker_name,
                "group": group,
                "changes": None if error else _words(was, is_now, named),
                "before": None if error or not before else before,
                "after": None if error else after,
                **outcome(error, word),
            }
        )
    return Rows(CHANGE_COLUMNS, rows, [change.error for change in changes], (), CHANGED_IN_TABLE)


def _words(before: Mapping[str, Any], after: Mapping[str, Any], named: Iterable[str]) -> str | None:
    if before:
        return words(before, after)
    return words(None, {name: after[name] for name in after if name in {*MAIN_SETTINGS, *named}})


def _unnamed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings sorted by name, without the group's name, which has a column of its own."""
    return {name: settings[name] for name in sorted(settings) if name != "groupName"}


@shows(DELETION_COLUMNS)
def delete_sub_group(
    session: Session,
    group: Group,
    broker: MasterOption = None,
    cluster: MastersOption = None,
    remove_offset: Annotated[
        str | None,
        Option("-r", "--removeOffset", metavar="true|false", help="Forget how far it has consumed, too."),
    ] = None,
    keep_topics: Annotated[
        bool, Option("--keep-topics", help="With -c: leave its retry and dead-letter topics.")
    ] = False,
) -> Rows:
    """Delete a consumer group from one master, or from a cluster with its retry and dead-letter topics.

    With -c, %RETRY%GROUP and %DLQ%GROUP go from every master and every name server, with the messages in
    them. Without -r true the offsets stay, and a group of the same name would go on where this one was.
    Where brokers create groups by themselves, clients that are still connected make the group anew, and so
    does a broker of 5.5 whose offsets of it stay; a row then says so. A master that does not know the group
    says "not found", which is an error only if none of them knows it.

    Examples:
        # What would be deleted, and where
        nsadmin deleteSubGroup ledger -c cluster-a --dry-run
        # Delete a group, its retry and dead-letter topics and its offsets
        nsadmin deleteSubGroup ledger -c cluster-a -r true --yes
    """
    removes = values.flag("deleteSubGroup", "-r", remove_offset) or False
    targets = masters_at(session, "deleteSubGroup", broker, cluster)
    topics = [] if cluster is None or keep_topics else [f"%RETRY%{group}", f"%DLQ%{group}"]
    what = [f"the consumer group {group}", *(["its offsets"] if removes else []), *topics]
    session.confirm(f"Delete {', '.join(what)} on {places(targets)}?")
    groups = session.admin.groups
    if session.dry_run:
        results, done = groups.holders(group, targets), "dry-run"
    else:
        results, done = groups.delete(group, targets, clean_offset=removes), "done"
    rows: list[Row] = [
        {
            "target": target.broker_addr or target.broker_name,
            "role": "master",
            "group": group,
            "changes": gone(before, MAIN_SETTINGS),
            "before": before,
            **outcome(error, done),
        }
        for target, (_, before, error) in zip(targets, results, strict=True)
    ]
    errors = [result.error for result in results]
    if None in errors:
        errors = [None if is_not_found(error) else error for error in errors]
    # AlreadyRecreated means that the delete worked, and that a client created the group again.
    is_deleted = any(error is None or isinstance(error, MadeAnew) for error in errors)
    for topic in topics if cluster is not None and is_deleted else ():
        topic_rows, topic_errors = _without_topic(session, group, topic, cluster)
        rows += topic_rows
        errors += topic_errors
    return Rows(DELETION_COLUMNS, rows, errors, (), DELETION_IN_TABLE)


def _without_topic(
    session: Session, group: str, topic: str, cluster: str | None
) -> tuple[list[Row], list[RocketMQError | None]]:
    """Delete a topic of the group; a topic that does not exist is no error."""
    try:
        deletion = session.admin.topics.deletion(topic, cluster or "")
    except RocketMQError as error:
        if is_not_found(error):
            return [], []
        return [{"group": group, "topic": topic, **outcome(error)}], [error]
    steps = deletion.planned() if session.dry_run else deletion.run()
    rows: list[Row] = [{**deletion_row(step), "group": group, "topic": topic} for step in steps]
    return rows, [step.error for step in steps if step.result != "skipped"]
