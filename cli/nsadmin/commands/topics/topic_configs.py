"""Owns updateTopic and updateTopicPerm, which change only the named settings of a topic on brokers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from operator import attrgetter
from typing import Annotated, Any, NamedTuple

from typer import Argument, Option

from namesrv_core.errors import RocketMQError, TopicNotExist
from namesrv_core.protocol.codes import TOPIC_SYS_FLAG_UNIT, TOPIC_SYS_FLAG_UNIT_SUB, Perm, perm_text
from namesrv_core.protocol.resource_attributes import find_refusal, format_changes, sign_changes
from nsadmin.client import AdminClient
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.name_servers.order_confs import parse_order_conf
from nsadmin.client.results import ServerResult
from nsadmin.client.topics.topic_configs import BrokerTopicConfig, TopicConfigChange, TopicPatch
from nsadmin.command_line import argument_values
from nsadmin.command_line.broker_targets import (
    ClusterMastersOption,
    MasterAddrOption,
    distinct_addrs,
    leave_out_clusters,
    list_clusters,
    match_results,
    remark_other_clusters,
    select_masters,
)
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.command_line.server_name_suggestions import remark_similar_name
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.changes import (
    CHANGE_COLUMNS,
    TOPIC_MAIN_SETTINGS,
    ServerChange,
    describe_change,
    undo_on_brokers,
)
from nsadmin.commands.columns.servers import ROLE, SERVER
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.name_servers.order_confs import note_unsent_order_confs
from nsadmin.commands.procedures.attribute_warnings import warn_of_unknown_attributes
from nsadmin.commands.procedures.drain_warnings import warn_of_drains
from nsadmin.commands.topics.topics import NewTopicArgument, TopicArgument
from nsadmin.console.output import Columns, ResultRows, of_part
from nsadmin.console.phrases import abbreviate_names, count_noun, failed_on
from nsadmin.console.session import Session
from nsadmin.operations.awaited_name_servers import find_awaited_name_servers
from nsadmin.operations.plans.stranded_messages import count_readable_queues, writes_unread_queues
from nsadmin.operations.removed_queues import RemovedMessages, RemovedQueues, count_removed_messages
from nsadmin.operations.topic_kinds import describe_moved_keys


class TopicChange(NamedTuple):
    """A change of a topic on a broker, or of its order configuration on a name server."""

    change: ServerChange
    broker_name: str | None = None


_BROKERS = "@brokers@"
"""The addresses of brokers in texts that may be the same for several: separated by ", "."""
_ADDRS = "@addrs@"
"""The same, separated by "," as the value of -b."""
_ADDR_PATTERN = "@addr-pattern@"
"""The same, separated by "|"."""


class Loss(NamedTuple):
    """What consumers lose by a change on _BROKERS, in words from before and from after it."""

    before: str
    after: str


TOPIC_CHANGE_COLUMNS: Columns[TopicChange] = (
    *of_part(attrgetter("change"), (SERVER, ROLE.means("master or namesrv; null if unknown"))),
    BROKER_NAME,
    TOPIC,
    *of_part(attrgetter("change"), CHANGE_COLUMNS),
)


def _undo_topic_change(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    done = [row for row in rows if row["result"] == "done"]
    confs = [row for row in done if row["role"] == "namesrv"]
    brokers = [row for row in done if row["role"] != "namesrv"]
    lines = undo_on_brokers(
        brokers, "server", lambda row: _find_former_settings(row, is_conf_written=bool(confs))
    )
    former_confs = {(row.get("before") or {}).get("orderConf") for row in confs}
    if (brokers and not lines) or len(former_confs) > 1:
        return []
    if all(row.get("before") == row["after"] for row in confs):
        return lines
    # This comes first: brokers keep a topic ordered while it has an order configuration.
    [former_conf] = former_confs
    put_or_delete = ["put", "-v", former_conf] if former_conf else ["delete"]
    return [["updateOrderConf", rows[0]["topic"], *put_or_delete], *lines]


def _find_former_settings(row: Mapping[str, Any], *, is_conf_written: bool) -> list[str] | None:
    """The words that give a topic its settings from before back; None if no command can."""
    before, after = row.get("before"), row["after"]
    if before is None or find_refusal("topic", after["attributes"], before["attributes"]):
        return None
    words = ["updateTopic", row["topic"]]
    for name, flag in (("readQueueNums", "-r"), ("writeQueueNums", "-w"), ("perm", "-p")):
        if before[name] != after[name]:
            words += [flag, str(before[name])]
    if before["perm"] != after["perm"] and before["perm"] not in argument_values.TOPIC_PERMS:
        return None
    # Without -o, a broker makes a topic ordered by itself if name servers have its order configuration.
    if before["order"] != after["order"] and (before["order"] or is_conf_written):
        words += ["-o", str(before["order"]).lower()]
    for flag, bit in (("-u", TOPIC_SYS_FLAG_UNIT), ("-s", TOPIC_SYS_FLAG_UNIT_SUB)):
        if (before["topicSysFlag"] ^ after["topicSysFlag"]) & bit:
            words += [flag, str(bool(before["topicSysFlag"] & bit)).lower()]
    former = sign_changes(after["attributes"], before["attributes"])
    return [*words, *(["-a", format_changes(former)] if former else [])]


@command(columns=TOPIC_CHANGE_COLUMNS, undo_lines=_undo_topic_change)
def update_topic(
    session: Session,
    topic: NewTopicArgument,
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
    attribute_list: Annotated[
        str | None,
        Option(
            "-a",
            "--attributes",
            metavar="ATTRIBUTES",
            help="Attributes: +message.type=FIFO,-other. 5.0 and later.",
        ),
    ] = None,
) -> ResultRows:
    """Create a topic, or change only the settings that you pass.

    A broker without the topic creates it, by default with 8 queues. Other settings come from the brokers that
    have the topic, those of the same cluster first. A new topic has the permission rw- (6). nsadmin reads the
    topic from each master before and after the change. Each row shows the change on one master. In a
    script without a terminal, pass --yes to confirm a change that makes messages unreadable, such as fewer
    read queues before all groups have consumed the messages in them.

    With -c '*', nsadmin creates the topic only if no cluster has it. Otherwise, clusters without it stay
    without it.

    With -o true, nsadmin also adds these brokers to the topic's order configuration on each name server. -o
    false does not change the order configuration: use updateOrderConf.

    Examples:
        # Create a topic with 4 queues on every master of a cluster
        nsadmin updateTopic vouchers -c cluster-a -r 4 -w 4 --yes
        # More queues for a topic, on all brokers of all clusters: 16 instead of 8
        nsadmin updateTopic orders -c '*' -r 16 -w 16 --dry-run
        # Fewer queues for a topic: first write queues; when all is consumed, the read queues (-r 4)
        nsadmin updateTopic payments -b 127.0.0.1:10911 -w 4 --yes
        # Create a FIFO topic, whose messages stay in order (message type FIFO, 5.0 and later)
        nsadmin updateTopic tickets -c cluster-a -o true -a +message.type=FIFO --yes
        # Create a topic for delayed, scheduled messages (message type DELAY, 5.0 and later), or TRANSACTION
        nsadmin updateTopic reminders -c cluster-a -a +message.type=DELAY --yes
        # Create an ordered topic, or make a topic ordered: with its order configuration
        nsadmin updateTopic orders -c cluster-a -o true --yes
    """
    command_name = "updateTopic"
    attribute_changes = argument_values.parse_attribute_changes("topic", attribute_list)
    warn_of_unknown_attributes(session, [("topic", attribute_changes)])
    topic_patch = TopicPatch(
        argument_values.validate_queue_count("-r", read_queue_nums),
        argument_values.validate_queue_count("-w", write_queue_nums),
        argument_values.validate_perm(perm_bits),
        argument_values.parse_boolean("-o", order_text),
        argument_values.parse_boolean("-u", unit_text),
        argument_values.parse_boolean("-s", unit_sub_text),
        attribute_list,
    )
    targets = select_masters(session, broker_text, cluster_name)
    targets = leave_out_clusters(
        session, topic, cluster_name, targets, lambda: _find_brokers_without(session, topic, targets)
    )
    _remark_on_other_clusters(session, topic, topic_patch, cluster_name)
    changes, errors, notes = _apply_topic_patch(
        session, command_name, targets, topic, topic_patch, create_missing=True
    )
    if topic_patch.order:
        conf_changes = _change_order_conf(session, changes, topic)
        changes += conf_changes
        errors += [conf.change.error for conf in conf_changes]
        notes += note_unsent_order_confs(session) if None in errors else []
    else:
        notes += _list_order_conf_notes(session, topic, changes)
    return ResultRows.from_records(TOPIC_CHANGE_COLUMNS, changes, errors, notes, common={TOPIC: topic})


@command(columns=TOPIC_CHANGE_COLUMNS, undo_lines=_undo_topic_change)
def update_topic_perm(
    session: Session,
    topic: TopicArgument,
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
    That is an error only if no broker has it. In a script without a terminal, pass --yes to remove the read
    permission.

    Examples:
        # Make a topic read-only, stop its writes, block new messages, in all clusters; 6 opens it again
        nsadmin updateTopicPerm payments 4 -c '*' --yes
        # Open a topic fully, such as a dead-letter topic that consumers cannot read
        nsadmin updateTopicPerm %DLQ%analytics 6 -c '*' --yes
        # Stop all consumers of a topic, of all groups: nobody can read it (write-only); 6 opens it again
        nsadmin updateTopicPerm payments 2 -c '*' --yes
        # Back to writable: allow writes to the topic again, in all clusters
        nsadmin updateTopicPerm payments 6 -c '*' --yes
    """
    topic_patch = TopicPatch(perm=argument_values.parse_perm(perm_text))
    targets = select_masters(session, broker_text, cluster_name)
    _remark_on_other_clusters(session, topic, topic_patch, cluster_name)
    changes, errors, notes = _apply_topic_patch(
        session, "updateTopicPerm", targets, topic, topic_patch, create_missing=False
    )
    if None in errors:
        errors = [None if isinstance(error, TopicNotExist) else error for error in errors]
    return ResultRows.from_records(TOPIC_CHANGE_COLUMNS, changes, errors, notes, common={TOPIC: topic})


def _find_brokers_without(
    session: Session, topic: str, targets: Sequence[BrokerTarget]
) -> list[BrokerTarget]:
    results = session.admin.topic_configs.get_each(distinct_addrs(targets), topic)
    return [
        t
        for t, r in zip(targets, match_results(targets, results), strict=True)
        if isinstance(r.error, TopicNotExist)
    ]


def _remark_on_other_clusters(
    session: Session, topic: str, patch: TopicPatch, cluster_list: str | None
) -> None:
    """Say what other clusters of the same name servers keep."""
    if cluster_list is None:
        return
    # A topic that is new has no route. The change itself tells what else is wrong.
    with suppress(RocketMQError):
        changed = list_clusters(session, cluster_list)
        clusters_by_kept: dict[str, set[str]] = {}
        for queue in session.admin.topics.get_route(topic).queues:
            if queue.cluster_name is None or queue.cluster_name in changed or queue.perm is None:
                continue
            kept = [
                *([perm_text(queue.perm)] if patch.perm not in (None, queue.perm) else []),
                *(
                    f"{number} {kind} queues"
                    for kind, number, wanted in (
                        ("read", queue.read_queue_nums, patch.read_queue_nums),
                        ("write", queue.write_queue_nums, patch.write_queue_nums),
                    )
                    if wanted not in (None, number)
                ),
            ]
            if kept:
                clusters_by_kept.setdefault(" and ".join(kept), set()).add(queue.cluster_name)
        for kept_text, clusters in clusters_by_kept.items():
            remark_other_clusters(session, f"{topic} keeps {kept_text}", clusters)


def _apply_topic_patch(
    session: Session,
    command_name: str,
    targets: Sequence[BrokerTarget],
    topic: str,
    patch: TopicPatch,
    *,
    create_missing: bool,
) -> tuple[list[TopicChange], list[RocketMQError | None], list[str]]:
    """Plan the change, ask with the plan in the question, apply it; the changes, their errors, and notes.

    The name servers that did not answer while a broker registered its change are at the end.
    """
    configs = session.admin.topic_configs
    plans = configs.plan_update(distinct_addrs(targets), topic, patch, create=create_missing)
    present = _read_present(session, topic, plans)
    read_clusters = cache(partial(_list_clusters_by_broker, session))
    plans = _adopt_present_settings(session, topic, patch, plans, present, read_clusters)
    if create_missing and all(plan.before is None for plan in plans):
        argument_values.validate_topic_name(topic)
    due_changes = [plan for plan in plans if plan.is_change]
    warn_of_drains(session, (due.broker_name for due in due_changes))
    if due_changes and session.namesrv_addrs and all(plan.before is None for plan in plans):
        with suppress(RocketMQError):
            names = set(session.admin.topics.list_names())
            if topic not in names:
                remark_similar_name(session, topic, names)
    _remark_moved_keys(session, topic, plans, present, read_clusters)
    _remark_closed(session, topic, due_changes)
    losses, loss_notes = _find_losses(session.admin, topic, due_changes)
    if losses:
        session.require_yes(
            command_name, "; ".join(_name_brokers((addr, loss.before) for addr, loss in losses.items()))
        )
    addrs_by_text: dict[str, list[str]] = {}
    for due in due_changes:
        addrs_by_text.setdefault(_describe_topic_change(due), []).append(due.broker_addr)
    for text, addrs in addrs_by_text.items():
        due_losses = _name_brokers((addr, losses[addr].before) for addr in addrs if addr in losses)
        verb = "Create" if text.startswith("new: ") else "Change"
        change = f"{verb} the topic {topic} ({text.removeprefix('new: ')}) on {', '.join(addrs)}?"
        session.confirm_change("; ".join([*due_losses, change]))
    applied = plans if session.is_dry_run else configs.apply_changes(plans, patch)
    results = match_results(targets, [ServerResult(a.broker_addr, a, a.error) for a in applied])
    changes = [
        _describe_broker(session, target, result) for target, result in zip(targets, results, strict=True)
    ]
    late_addrs = [a.broker_addr for a in applied if a.late_error is not None]
    changes += [
        TopicChange(ServerChange(r.addr, None, None, r.error, role="namesrv"))
        for r in find_awaited_name_servers(session.admin, late_addrs)
    ]
    errors = [c.change.error for c in changes]
    notes = [f"{addr} made the change, but did not answer in time" for addr in late_addrs]
    made_addrs = [a.broker_addr for a in applied if a.error is None and a.broker_addr in losses]
    notes += _name_brokers(
        (addr, losses[addr].before if session.is_dry_run else losses[addr].after) for addr in made_addrs
    )
    notes += [*loss_notes, *_list_closed_notes(topic, due_changes)]
    notes += failed_on(errors) if notes else []
    return changes, errors, notes


def _is_new(plan: TopicConfigChange) -> bool:
    return plan.before is None and plan.after is not None


def _list_clusters_by_broker(session: Session) -> dict[str, str]:
    # A -b HOST:PORT needs no name server.
    with suppress(RocketMQError):
        if session.namesrv_addrs:
            groups = session.admin.clusters.get_info().broker_groups
            return {group.broker_name: group.cluster_name for group in groups}
    return {}


def _read_present(
    session: Session, topic: str, plans: Sequence[TopicConfigChange]
) -> dict[str, BrokerTopicConfig]:
    """The settings of the topic by broker; of brokers without a change only if the topic is new on one."""
    present = {str(plan.broker_name): plan.before for plan in plans if plan.before is not None}
    others: dict[str, str] = {}
    if session.namesrv_addrs and any(_is_new(plan) for plan in plans):
        planned = {plan.broker_name for plan in plans}
        # A topic that is new everywhere has no route.
        with suppress(RocketMQError):
            others = {
                queue.any_addr: queue.broker_name
                for queue in session.admin.topics.get_route(topic).queues
                if queue.any_addr and queue.broker_name not in planned
            }
    for addr, config, error in session.admin.topic_configs.get_each(others, topic):
        if config is not None:
            present[others[addr]] = config
        elif not isinstance(error, TopicNotExist):
            unknown = f"the settings of {topic} on {others[addr]} are unknown"
            session.write_remark(f"{unknown}, so no other broker gets them: {error}")
    return present


def _adopt_present_settings(
    session: Session,
    topic: str,
    patch: TopicPatch,
    plans: Sequence[TopicConfigChange],
    present: Mapping[str, BrokerTopicConfig],
    read_clusters: Callable[[], Mapping[str, str]],
) -> list[TopicConfigChange]:
    """The plans in which a new broker of the topic has the settings that the others agree on, not defaults.

    Brokers of the same cluster come first. Numbers of queues are not adopted.
    """
    if not present or not any(_is_new(plan) for plan in plans):
        return list(plans)
    clusters = read_clusters()
    brokers_by_text: dict[str, list[str]] = {}
    adopted = []
    for plan in plans:
        if _is_new(plan) and plan.after is not None:
            cluster = clusters.get(str(plan.broker_name))
            near = [name for name in present if cluster is not None and clusters.get(name) == cluster]
            models = {name: patch.apply_to(present[name]) for name in near or present}
            after, differing = _merge_agreed(plan.after, list(models.values()))
            if differing:
                text = (
                    f"{abbreviate_names(sorted(models), 3)} have different settings ({', '.join(differing)})"
                )
                brokers_by_text.setdefault(text, []).append(str(plan.broker_name))
            plan = plan._replace(after=after)
        adopted.append(plan)
    for text, brokers in brokers_by_text.items():
        session.write_remark(f"{topic} gets defaults on {abbreviate_names(brokers, 3)}, because {text}")
    return adopted


def _merge_agreed(
    config: BrokerTopicConfig, models: Sequence[BrokerTopicConfig]
) -> tuple[BrokerTopicConfig, list[str]]:
    """The config with each setting that all models have alike, and those that differ, with their flags."""
    differing = []
    for field, text in (("perm", "perm: -p"), ("order", "order: -o"), ("topic_sys_flag", "units: -u, -s")):
        values = {getattr(model, field) for model in models}
        if len(values) == 1:
            config = config._replace(**{field: values.pop()})
        else:
            differing.append(text)
    common = set[tuple[str, str]].intersection(*(set(model.attributes) for model in models))
    differing += sorted({f"{key}: -a" for m in models for key, _ in set(m.attributes) - common})
    # Attributes of the patch are in all models.
    return config._replace(attributes=tuple(sorted(common))), differing


def _remark_moved_keys(
    session: Session,
    topic: str,
    plans: Sequence[TopicConfigChange],
    present: Mapping[str, BrokerTopicConfig],
    read_clusters: Callable[[], Mapping[str, str]],
) -> None:
    """Say that an ordered topic does not keep its order while its number of write queues changes."""
    if not present or all(
        (plan.before.write_queue_nums if plan.before else 0) == plan.after.write_queue_nums
        for plan in plans
        if plan.is_change and plan.after is not None
    ):
        return
    fifo_brokers = [name for name, config in present.items() if config.message_type == "FIFO"]
    if any(config.order for config in present.values()) or _find_order_conf(session, topic):
        session.write_remark(describe_moved_keys([topic], "ordered"))
    elif fifo_brokers:
        clusters = read_clusters()
        places = sorted({clusters.get(name, name) for name in fifo_brokers})
        session.write_remark(describe_moved_keys([topic], f"FIFO in {abbreviate_names(places, 3)}"))


def _remark_closed(session: Session, topic: str, due_changes: Sequence[TopicConfigChange]) -> None:
    """Say that the changes close the last brokers that take messages of a topic."""
    closing = {due.broker_name for due in due_changes if _is_open(due.before) and not _is_open(due.after)}
    # A -b HOST:PORT needs no name server, and a topic may have no route.
    with suppress(RocketMQError):
        if (
            closing
            and session.namesrv_addrs
            and not any(
                queue.is_writable and queue.broker_name not in closing
                for queue in session.admin.topics.get_route(topic).queues
            )
        ):
            session.write_remark(
                f"producers will not be able to send to {topic}: no other broker takes its messages"
            )


def _is_open(config: BrokerTopicConfig | None) -> bool:
    """Whether producers can send to the topic."""
    return config is not None and bool(config.perm & Perm.WRITE and config.write_queue_nums)


def _find_order_conf(session: Session, topic: str) -> str | None:
    """The order configuration on the first name server that has one; a -b HOST:PORT needs no name server."""
    if not session.namesrv_addrs:
        return None
    return next((r.result for r in session.admin.order_confs.get_each(topic) if r.result), None)


def _find_losses(
    admin: AdminClient, topic: str, due_changes: Sequence[TopicConfigChange]
) -> tuple[dict[str, Loss], list[str]]:
    """What consumers can no longer read after the changes, by broker address; and notes of what they have."""
    removals = [
        RemovedQueues(due.broker_addr, topic, range(_count_readable(due.after), _count_readable(due.before)))
        for due in due_changes
        if _takes_queues(due)
    ]
    removed = {
        r.broker_addr: m for r, m in zip(removals, count_removed_messages(admin, removals), strict=True)
    }
    losses, notes = dict[str, Loss](), dict[str, str]()
    for due in due_changes:
        if not _takes_queues(due) and not _writes_unread_queues(due):
            continue
        loss = _describe_loss(topic, due, removed.get(due.broker_addr))
        if isinstance(loss, Loss):
            losses[due.broker_addr] = loss
        elif loss:
            notes[due.broker_addr] = loss
    return losses, _name_brokers(notes.items())


def _name_brokers(text_by_addr: Iterable[tuple[str, str]]) -> list[str]:
    """Each text once, with the brokers that it is about."""
    addrs_by_text: dict[str, list[str]] = {}
    for addr, text in text_by_addr:
        addrs_by_text.setdefault(text, []).append(addr)
    separators = ((_BROKERS, ", "), (_ADDRS, ","), (_ADDR_PATTERN, "|"))
    texts = []
    for text, addrs in addrs_by_text.items():
        for placeholder, separator in separators:
            text = text.replace(placeholder, separator.join(addrs))
        texts.append(text)
    return texts


def _list_closed_notes(topic: str, due_changes: Sequence[TopicConfigChange]) -> list[str]:
    """A note about brokers that take no messages of a new topic, or lose their last write queue."""
    brokers_by_lack: dict[str, list[str]] = {}
    for due in due_changes:
        before, after, broker = due.before, due.after, due.broker_name or due.broker_addr
        if after is None:
            continue
        if not after.write_queue_nums and (before is None or before.write_queue_nums):
            brokers_by_lack.setdefault("write queues", []).append(broker)
        elif before is None and not after.perm & Perm.WRITE:
            brokers_by_lack.setdefault("write permission", []).append(broker)
    return [
        f"without {lack}, producers cannot send to {topic} on {abbreviate_names(brokers, 3)}"
        for lack, brokers in brokers_by_lack.items()
    ]


def _takes_queues(due: TopicConfigChange) -> bool:
    """Whether consumers lose queues that they read now."""
    return due.after is not None and _count_readable(due.after) < _count_readable(due.before)


def _writes_unread_queues(due: TopicConfigChange) -> bool:
    return writes_unread_queues(_config_to_wire(due.before), _config_to_wire(due.after))


def _count_readable(config: BrokerTopicConfig | None) -> int:
    return count_readable_queues(_config_to_wire(config))


def _describe_loss(topic: str, due: TopicConfigChange, removed: RemovedMessages | None) -> Loss | str:
    """What consumers lose, or a note if they lose nothing."""
    assert due.after is not None
    if not due.after.perm & Perm.READ:
        what = f"{topic} on {_BROKERS}"
        return Loss(f"consumers will not be able to read {what}", f"consumers cannot read {what} now")
    first_unread = due.after.read_queue_nums
    unread_queues = f"queues {first_unread} and up" if first_unread else "any queue"
    unread_queues += f" on {_BROKERS}"
    if _writes_unread_queues(due):
        what = f"the messages of {topic} in {unread_queues}"
        advice = f": reduce the write queues first (-w {first_unread})" if _takes_queues(due) else ""
        return Loss(f"consumers will not be able to read {what}{advice}", f"consumers cannot read {what} now")
    assert removed is not None
    if removed.stored == 0:
        return ""
    lags = removed.lag_by_group
    if not lags:
        messages = "the messages" if removed.stored is None else count_noun(removed.stored, "message")
        what = f"{messages} of {topic} in {unread_queues}"
        return Loss(f"consumers will not be able to read {what}", f"consumers can no longer read {what}")
    behind = [
        f"{g}: {'unknown lag' if n is None else count_noun(n, 'message')}" for g, n in lags.items() if n != 0
    ]
    if not behind:
        return f"all groups of {topic} have consumed {unread_queues}"
    filters = (f"queueId>={first_unread}", f"brokerAddr~{_ADDR_PATTERN}", "lag!=0")
    waiting = quote_command("consumerProgress", "-t", topic, *(w for f in filters for w in ("--filter", f)))
    groups = abbreviate_names(behind, 3)
    advice = f"wait until `{waiting}` shows no row"
    if due.before is not None and due.before.write_queue_nums > first_unread:
        closing = quote_command("updateTopic", topic, "-w", str(first_unread), "-b", _ADDRS)
        advice = f"first stop writes to them: `{closing}`. Then {advice}"
    return Loss(
        f"groups have not consumed all messages in {unread_queues} ({groups}): {advice}",
        f"groups can no longer read their messages in {unread_queues} ({groups})",
    )


def _describe_broker(
    session: Session, target: BrokerTarget, result: ServerResult[TopicConfigChange]
) -> TopicChange:
    config = result.result
    broker_name = target.broker_name or (config and config.broker_name)
    # A server that is known only by the address that was typed may be no broker at all.
    role = ("slave" if target.broker_id else "master") if broker_name or result.error is None else None
    if config is None:
        return TopicChange(ServerChange(target.broker_addr, None, None, result.error, role=role), broker_name)
    before, after = _config_to_wire(config.before), _config_to_wire(config.after)
    done = "dry-run" if session.is_dry_run else "done"
    change = ServerChange(
        target.broker_addr,
        before,
        None if config.error else after,
        result.error,
        done if config.is_change else "unchanged",
        role,
        words=_describe_topic_change(config) if config.is_change else None,
    )
    return TopicChange(change, broker_name)


def _list_order_conf_notes(session: Session, topic: str, changes: Sequence[TopicChange]) -> list[str]:
    """A note if the order configuration has other numbers of queues than the changed brokers."""
    queues_by_broker = {
        str(broker_name): change.after["writeQueueNums"]
        for change, broker_name in changes
        if isinstance(change.after, dict)
        and not (
            isinstance(change.before, dict)
            and change.before["writeQueueNums"] == change.after["writeQueueNums"]
        )
    }
    conf_text = _find_order_conf(session, topic) if queues_by_broker else None
    if conf_text is None:
        return []
    order_confs = session.admin.order_confs
    new_text = order_confs.merge_conf(topic, queues_by_broker)
    if conf_text == new_text:
        return []
    command = quote_command("updateOrderConf", topic, "put", new_text)
    if len(order_confs.find_servers_without()) == len(session.namesrv_addrs):
        return [
            f"the order configuration stays {conf_text}, and no client gets it, because orderMessageEnable "
            f"is false: to correct it, run {command}"
        ]
    ordered_queues: Mapping[str, int] = {}
    with suppress(ValueError):
        ordered_queues = parse_order_conf(conf_text)
    is_short = any(count < ordered_queues.get(name, 0) for name, count in queues_by_broker.items())
    effect = "sends to missing queues fail" if is_short else "ordered messages do not use all queues"
    return [f"the order configuration stays {conf_text}, so {effect}: run {command}"]


def _change_order_conf(session: Session, changes: Sequence[TopicChange], topic: str) -> list[TopicChange]:
    """Write the entries of the changed brokers to the order configuration on each name server."""
    queues_by_broker = {
        str(c.broker_name): c.change.after["writeQueueNums"]
        for c in changes
        if isinstance(c.change.after, dict)
    }
    if not queues_by_broker:
        return []
    order_confs = session.admin.order_confs
    before = {r.addr: {"orderConf": r.result} for r in order_confs.get_each(topic) if r.result is not None}
    order_conf = order_confs.merge_conf(topic, queues_by_broker)
    results = (
        [ServerResult(addr, order_conf, None) for addr in session.admin.addresses.addrs]
        if session.is_dry_run
        else order_confs.put_conf(topic, order_conf)
    )
    done, after = "dry-run" if session.is_dry_run else "done", {"orderConf": order_conf}
    return [
        TopicChange(
            ServerChange(addr, None, None, error, done, "namesrv")
            if error
            else ServerChange(addr, before.get(addr), after, None, done, "namesrv")
        )
        for addr, _, error in results
    ]


def _describe_topic_change(change: TopicConfigChange) -> str:
    """The changes as text: "perm rw- -> r--", or the main settings of a new topic."""
    before, after = _config_to_wire(change.before), _config_to_wire(change.after) or {}
    if before is not None:
        return describe_change(before, {**before, **after}) or ""
    shown = {name: after[name] for name in TOPIC_MAIN_SETTINGS}
    shown |= {name: after[name] for name in ("order", "topicSysFlag", "attributes") if after.get(name)}
    return describe_change(None, shown) or ""


def _config_to_wire(config: BrokerTopicConfig | None) -> dict[str, Any] | None:
    """The config as a dict with the field names of the protocol."""
    if config is None:
        return None
    return {
        "readQueueNums": config.read_queue_nums,
        "writeQueueNums": config.write_queue_nums,
        "perm": config.perm,
        "order": config.order,
        "topicSysFlag": config.topic_sys_flag,
        "topicFilterType": config.topic_filter_type,
        "attributes": dict(config.attributes),
    }
