"""Owns updateTopic and updateTopicPerm, which change only the named settings of a topic on brokers."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from typer import Argument, Option

from namesrv_core.errors import RocketMQError, TopicNotExist
from namesrv_core.protocol.codes import perm_text
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.results import ServerResult
from nsadmin.client.topics.topic_configs import BrokerTopicConfig, TopicConfigChange, TopicPatch
from nsadmin.command_line import argument_values
from nsadmin.command_line.broker_targets import (
    ClusterMastersOption,
    MasterAddrOption,
    distinct_addrs,
    match_results,
    select_masters,
)
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.changes import CHANGE_RESULT_COLUMNS, CHANGE_RESULT_IN_TABLE, change_cells
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.commands.procedures.drain_warnings import warn_of_drains
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.quantities import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.awaited_name_servers import find_awaited_name_servers

TOPIC_CHANGE_COLUMNS = ("target", "role", "brokerName", "topic", *CHANGE_RESULT_COLUMNS)
TOPIC_CHANGE_TABLE_COLUMNS = ("target", "role", "brokerName", "topic", *CHANGE_RESULT_IN_TABLE)

ChangedTopicArgument = Annotated[
    str, Argument(metavar="TOPIC", help="Name of a topic."), Flags("-t", "--topic")
]


@command(columns=TOPIC_CHANGE_COLUMNS)
def update_topic(
    session: Session,
    topic: ChangedTopicArgument,
    broker_text: MasterAddrOption = None,
    cluster_name: ClusterMastersOption = None,
    read_queue_nums: Annotated[
        int | None, Option("-r", "--readQueueNums", metavar="NUMBER", help="Number of read queues.")
    ] = None,
    write_queue_nums: Annotated[
        int | None, Option("-w", "--writeQueueNums", metavar="NUMBER", help="Number of write queues.")
    ] = None,
    perm_bits: Annotated[
        int | None, Option("-p", "--perm", metavar="2|4|6", help="6 (read and write), 4 (read) or 2 (write).")
    ] = None,
    order_text: Annotated[
        str | None,
        Option(
            "-o",
            "--order",
            metavar="true|false",
            help="Ordered messages. true also writes the order configuration.",
        ),
    ] = None,
    unit_text: Annotated[
        str | None, Option("-u", "--unit", metavar="true|false", help="Whether the topic belongs to a unit.")
    ] = None,
    unit_sub_text: Annotated[
        str | None,
        Option("-s", "--hasUnitSub", metavar="true|false", help="Whether units subscribe to the topic."),
    ] = None,
    attribute_changes: Annotated[
        str | None,
        Option(
            "-a", "--attributes", metavar="LIST", help="Attributes: +message.type=FIFO,-other. 5.0 and later."
        ),
    ] = None,
) -> ResultRows:
    """Create a topic, or change only the settings that you pass.

    A broker without the topic creates it, by default with 8 queues and the permission rw- (6). nsadmin reads
    the topic from each master before and after the change. Each row shows the change on one master. In a
    script without a terminal, pass --yes to confirm a change that makes messages unreadable.

    With -o true, nsadmin also adds these brokers to the topic's order configuration on each name server. -o
    false does not change the order configuration: use updateOrderConf.

    Examples:
        # Create a topic with 4 queues on every master of a cluster
        nsadmin updateTopic vouchers -c cluster-a -r 4 -w 4 --yes
        # Preview a change on one master
        nsadmin updateTopic payments -b 127.0.0.1:10911 -w 32 -r 32 --dry-run
        # Make a topic ordered, with its order configuration
        nsadmin updateTopic orders -c cluster-a -o true --yes
    """
    command_name = "updateTopic"
    topic_patch = TopicPatch(
        argument_values.validate_queue_count("-r", read_queue_nums),
        argument_values.validate_queue_count("-w", write_queue_nums),
        argument_values.validate_perm(perm_bits),
        argument_values.parse_boolean("-o", order_text),
        argument_values.parse_boolean("-u", unit_text),
        argument_values.parse_boolean("-s", unit_sub_text),
        attribute_changes,
    )
    master_targets = select_masters(session, broker_text, cluster_name)
    change_rows = _apply_topic_patch(
        session, command_name, master_targets, topic, topic_patch, create_missing=True
    )
    return _add_order_conf_rows(session, change_rows, topic) if topic_patch.order else change_rows


@command(columns=TOPIC_CHANGE_COLUMNS)
def update_topic_perm(
    session: Session,
    topic: ChangedTopicArgument,
    perm_text: Annotated[
        str,
        Argument(metavar="PERM", help="6 (read and write), 4 (read) or 2 (write)."),
        Flags("-p", "--perm"),
        Values("2|4|6"),
    ],
    broker_text: MasterAddrOption = None,
    cluster_name: ClusterMastersOption = None,
) -> ResultRows:
    """Change the permission of a topic on one master, or on every master of a cluster.

    Other settings of the topic do not change. A broker of the cluster without the topic reports "not found".
    That is an error only if no broker has it.

    Examples:
        # Stop writes to a topic in one cluster
        nsadmin updateTopicPerm payments 4 -c cluster-a --yes
        # Preview a change on one master
        nsadmin updateTopicPerm payments 4 -b 127.0.0.1:10911 --dry-run
    """
    topic_patch = TopicPatch(perm=argument_values.parse_perm(perm_text))
    master_targets = select_masters(session, broker_text, cluster_name)
    change_rows = _apply_topic_patch(
        session, "updateTopicPerm", master_targets, topic, topic_patch, create_missing=False
    )
    if None in change_rows.errors:
        change_rows = change_rows._replace(
            errors=[
                None if _is_missing_topic(broker_error) else broker_error
                for broker_error in change_rows.errors
            ]
        )
    return change_rows


def _is_missing_topic(error: object) -> bool:
    return isinstance(error, TopicNotExist)


def _apply_topic_patch(
    session: Session,
    command_name: str,
    master_targets: Sequence[BrokerTarget],
    topic: str,
    topic_patch: TopicPatch,
    *,
    create_missing: bool,
) -> ResultRows:
    """Plan the change, ask with the plan in the question, apply it; return a row for each broker."""
    config_admin = session.admin.topic_configs
    planned_changes = config_admin.plan_update(
        distinct_addrs(master_targets), topic, topic_patch, create=create_missing
    )
    due_changes = [planned_change for planned_change in planned_changes if planned_change.is_change]
    warn_of_drains(session, (planned_change.broker_name for planned_change in due_changes))
    losses = _find_losses(session, topic, due_changes)
    if losses:
        session.require_yes(command_name, "; ".join(losses.values()))
    changes_by_text: dict[str, list[TopicConfigChange]] = {}
    for due_change in due_changes:
        changes_by_text.setdefault(_describe_topic_change(due_change), []).append(due_change)
    for change_text, equal_changes in changes_by_text.items():
        due_addrs = [equal_change.broker_addr for equal_change in equal_changes]
        due_losses = [losses[broker_addr] for broker_addr in due_addrs if broker_addr in losses]
        session.confirm_change(
            "; ".join([*due_losses, f"{topic}: {change_text}, on {', '.join(due_addrs)}"]) + "?"
        )
    applied_changes = (
        planned_changes if session.is_dry_run else config_admin.apply_changes(planned_changes, topic_patch)
    )
    target_results = match_results(
        master_targets,
        [
            ServerResult(applied_change.broker_addr, applied_change, applied_change.error)
            for applied_change in applied_changes
        ],
    )
    change_rows = [
        _topic_change_row(session, topic, *target_and_result)
        for target_and_result in zip(master_targets, target_results, strict=True)
    ]
    late_addrs = [
        applied_change.broker_addr
        for applied_change in applied_changes
        if applied_change.late_error is not None
    ]
    silent_results = find_awaited_name_servers(session.admin, late_addrs)
    change_errors = [target_result.error for target_result in target_results]
    change_errors += [silent_result.error for silent_result in silent_results]
    return ResultRows(
        TOPIC_CHANGE_COLUMNS,
        [*change_rows, *(_silent_server_row(topic, silent_result) for silent_result in silent_results)],
        change_errors,
        _change_notes(list(losses.values()), late_addrs, change_errors),
        TOPIC_CHANGE_TABLE_COLUMNS,
    )


def _find_losses(session: Session, topic: str, due_changes: Sequence[TopicConfigChange]) -> dict[str, str]:
    """Describe, by broker address, which messages consumers can no longer read after the changes."""
    shrinking_changes = [due_change for due_change in due_changes if _takes_queues(due_change)]
    count_results = session.admin.bulk.count_messages(
        (due_change.broker_addr, topic) for due_change in shrinking_changes
    )
    counts_by_addr = {
        due_change.broker_addr: count_result.result
        for due_change, count_result in zip(shrinking_changes, count_results, strict=True)
    }
    losses = {
        due_change.broker_addr: _describe_loss(topic, due_change, counts_by_addr.get(due_change.broker_addr))
        for due_change in due_changes
        if _takes_queues(due_change) or _writes_unread_queues(due_change)
    }
    return {broker_addr: loss for broker_addr, loss in losses.items() if loss is not None}


def _takes_queues(due_change: TopicConfigChange) -> bool:
    """Whether consumers lose queues that they read now."""
    before, after = due_change.before, due_change.after
    return before is not None and after is not None and after.read_queue_nums < before.read_queue_nums


def _writes_unread_queues(due_change: TopicConfigChange) -> bool:
    """Whether the change makes producers write to queues that no consumer reads."""
    before, after = due_change.before, due_change.after
    if after is None or after.read_queue_nums >= after.write_queue_nums:
        return False
    return (
        before is None
        or after.read_queue_nums < before.read_queue_nums
        or after.write_queue_nums > before.write_queue_nums
    )


def _describe_loss(
    topic: str, due_change: TopicConfigChange, counts_by_queue: Mapping[int, int] | None
) -> str | None:
    assert due_change.after is not None
    unread_queues = f"queues {due_change.after.read_queue_nums} and up on {due_change.broker_addr}"
    if _writes_unread_queues(due_change):
        return f"consumers of {topic} cannot read the messages in {unread_queues}"
    if counts_by_queue is None:
        return f"consumers of {topic} can no longer read the messages in {unread_queues}"
    message_count = sum(
        queue_count
        for queue_id, queue_count in counts_by_queue.items()
        if queue_id >= due_change.after.read_queue_nums
    )
    if not message_count:
        return None
    return (
        f"consumers of {topic} can no longer read {count_noun(message_count, 'message')} in {unread_queues}"
    )


def _silent_server_row(topic: str, silent_result: ServerResult[None]) -> ResultRow:
    return {
        "target": silent_result.addr,
        "role": "nameserver",
        "topic": topic,
        **outcome_cells(silent_result.error),
    }


def _topic_change_row(
    session: Session, topic: str, master_target: BrokerTarget, change_result: ServerResult[TopicConfigChange]
) -> ResultRow:
    topic_change = change_result.result
    result_word = (
        "unchanged"
        if topic_change and not topic_change.is_change
        else "dry-run"
        if session.is_dry_run
        else "done"
    )
    return {
        "target": master_target.broker_addr,
        "role": "master",
        "brokerName": master_target.broker_name or (topic_change and topic_change.broker_name),
        "topic": topic,
        "changes": None
        if topic_change is None or not topic_change.is_change
        else _describe_topic_change(topic_change),
        "before": None if topic_change is None else _config_to_wire(topic_change.before),
        "after": None if topic_change is None or topic_change.error else _config_to_wire(topic_change.after),
        **outcome_cells(change_result.error, result_word),
    }


def _add_order_conf_rows(session: Session, change_rows: ResultRows, topic: str) -> ResultRows:
    """Write the brokers' entries to the order configuration, and add a row for each name server."""
    queues_by_broker = {
        str(change_row["brokerName"]): config_after["writeQueueNums"]
        for change_row in change_rows.rows
        if isinstance(config_after := change_row.get("after"), dict)
    }
    if not queues_by_broker:
        return change_rows
    order_confs = session.admin.order_confs
    confs_by_addr = {
        namesrv_addr: {"orderConf": order_conf}
        for namesrv_addr, order_conf, _ in order_confs.get_each(topic)
        if order_conf is not None
    }
    order_conf = order_confs.merge_conf(topic, queues_by_broker)
    if session.is_dry_run:
        conf_results = [
            ServerResult(namesrv_addr, order_conf, None) for namesrv_addr in session.admin.addresses.addrs
        ]
    else:
        conf_results = order_confs.put_conf(topic, order_conf)
    namesrv_rows: list[ResultRow] = [
        {
            "target": namesrv_addr,
            "role": "nameserver",
            "topic": topic,
            **({} if error else change_cells(confs_by_addr.get(namesrv_addr), {"orderConf": order_conf})),
            **outcome_cells(error, "dry-run" if session.is_dry_run else "done"),
        }
        for namesrv_addr, _, error in conf_results
    ]
    all_errors = [*change_rows.errors, *(conf_result.error for conf_result in conf_results)]
    return change_rows._replace(rows=[*change_rows.rows, *namesrv_rows], errors=all_errors)


def _describe_topic_change(topic_change: TopicConfigChange) -> str:
    """The changes as text: "perm rw- -> r--", or the main settings of a new topic."""
    config_before, config_after = (
        _config_to_wire(topic_change.before),
        _config_to_wire(topic_change.after) or {},
    )
    if config_before is None:
        main_texts = (
            f"{name} {_format_setting(name, config_after[name])}"
            for name in ("readQueueNums", "writeQueueNums", "perm")
        )
        other_texts = [f"order {_format_setting('order', True)}"] if config_after.get("order") else []
        if config_after.get("attributes"):
            other_texts.append(f"attributes {_format_setting('attributes', config_after['attributes'])}")
        return "new: " + ", ".join([*main_texts, *other_texts])
    return ", ".join(
        f"{name} {_format_setting(name, config_before[name])} -> {_format_setting(name, setting_value)}"
        for name, setting_value in config_after.items()
        if config_before[name] != setting_value
    )


def _format_setting(setting_name: str, setting_value: Any) -> str:
    if setting_name == "perm":
        return perm_text(setting_value)
    if isinstance(setting_value, dict):
        return (
            " ".join(
                f"{attribute_key}={attribute_value}"
                for attribute_key, attribute_value in setting_value.items()
            )
            or "none"
        )
    return str(setting_value).lower() if isinstance(setting_value, bool) else str(setting_value)


def _config_to_wire(topic_config: BrokerTopicConfig | None) -> dict[str, Any] | None:
    """The config as a dict with the field names of the protocol."""
    if topic_config is None:
        return None
    return {
        "readQueueNums": topic_config.read_queue_nums,
        "writeQueueNums": topic_config.write_queue_nums,
        "perm": topic_config.perm,
        "order": topic_config.order,
        "topicSysFlag": topic_config.topic_sys_flag,
        "topicFilterType": topic_config.topic_filter_type,
        "attributes": dict(topic_config.attributes),
    }


def _change_notes(
    losses: Sequence[str],
    late_addrs: Sequence[str],
    change_errors: Sequence[RocketMQError | None],
) -> list[str]:
    """A line for each broker that answered late, or where queues become unreadable; then the failures."""
    change_notes = [
        f"{broker_addr} made the change, but did not answer in time" for broker_addr in late_addrs
    ]
    change_notes += losses
    failure_count = sum(error is not None for error in change_errors)
    if change_notes and failure_count:
        change_notes.append(f"failed on {failure_count} of {len(change_errors)} servers")
    return change_notes
