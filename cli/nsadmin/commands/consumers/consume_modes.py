"""Owns getConsumeMode and setConsumeMode. The clients of a group either pull messages or pop them."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, NamedTuple

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client import ServerResult
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.consumers.consume_modes import MODE_NAMES, ConsumeMode, ModeChange
from nsadmin.command_line.broker_targets import (
    ClusterMastersOption,
    ClusterMembersOption,
    MasterAddrOption,
    ReadBrokerOption,
    describe_targets,
    distinct_addrs,
    list_clusters,
    list_members,
    match_results,
    remark_other_clusters,
    select_masters,
)
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.brokers import BROKER_COLUMNS
from nsadmin.commands.columns.changes import (
    ServerChange,
    broker_change_columns,
    broker_change_rows,
    undo_on_brokers,
)
from nsadmin.commands.columns.servers import ERROR
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import AnyColumn, Column, Columns, ResultRows, of_part
from nsadmin.console.session import Session


class ModeRow(NamedTuple):
    """The mode of a group on a topic at a broker, or the broker's default."""

    target: BrokerTarget
    topic: str | None = None
    group: str | None = None
    mode: ConsumeMode | None = None
    error: RocketMQError | None = None


MODE_COLUMNS: Columns[ModeRow] = (
    *of_part(lambda r: r.target, BROKER_COLUMNS),
    TOPIC.means("name of the topic; null for the broker's default"),
    Column("group", "name of the group; null for the broker's default", lambda r: r.group),
    *of_part(
        lambda r: r.mode,
        (
            Column("mode", "PULL or POP", lambda m: m.mode),
            Column(
                "popShareQueueNum",
                "for POP: how many more clients share a queue; below 0, all clients do",
                lambda m: m.pop_share_queue_num,
            ),
        ),
    ),
    ERROR,
)
CHANGED_GROUP: AnyColumn = Column("group", "name of the group", lambda r: r.group)
MODE_CHANGE_COLUMNS = broker_change_columns(
    TOPIC,
    CHANGED_GROUP,
    before="previous mode and popShareQueueNum; null for the broker's default",
    after="new mode and popShareQueueNum",
)


@command(columns=MODE_COLUMNS, nothing="no group is set to pull or pop")
def get_consume_mode(
    session: Session,
    broker_text: ReadBrokerOption = None,
    cluster_name: ClusterMembersOption = None,
    topic: Annotated[
        str | None, Option("-t", "--topicName", metavar="TOPIC", help="Only this topic.")
    ] = None,
    group: Annotated[
        str | None, Option("-g", "--groupName", metavar="GROUP", help="Only this group.")
    ] = None,
) -> ResultRows:
    """Show the groups and topics with their own consume mode, on a broker or on every broker of a cluster.

    A row without topic and group is the broker's default, which applies to all others. Slaves copy the modes
    of their masters within a minute. Brokers support consume modes since 5.0. mqadmin cannot read them.

    Examples:
        # All modes of a cluster
        nsadmin getConsumeMode -c cluster-a
        # The mode of one group
        nsadmin getConsumeMode -c cluster-a -g search-indexer
    """
    targets = list_members(session, broker_text, cluster_name)
    mode_admin = session.admin.consume_modes
    results = match_results(targets, mode_admin.list_modes(distinct_addrs(targets)))
    default_results = mode_admin.get_defaults([r.addr for r in results if r.error is None])
    rows = list[ModeRow]()
    for target, assigned, default in zip(
        targets, results, match_results(targets, default_results), strict=True
    ):
        rows.append(ModeRow(target, mode=default.result, error=assigned.error))
        rows += [
            ModeRow(target, a.topic, a.group, a.mode)
            for a in assigned.result or ()
            if topic in (None, a.topic) and group in (None, a.group)
        ]
    return ResultRows.from_records(MODE_COLUMNS, rows, [r.error for r in results])


def _undo_mode_change(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    def find_words(row: Mapping[str, Any]) -> list[str] | None:
        mode = row.get("before")
        if mode is None:
            return None
        share = ["-q", str(mode["popShareQueueNum"])] if mode["mode"] == "POP" else []
        return ["setConsumeMode", row["topic"], row["group"], mode["mode"], *share]

    return undo_on_brokers(rows, "brokerAddr", find_words)


@command(columns=MODE_CHANGE_COLUMNS, undo_lines=_undo_mode_change)
def set_consume_mode(
    session: Session,
    topic: Annotated[str, Argument(metavar="TOPIC", help="Name of a topic."), Flags("-t", "--topicName")],
    group: Annotated[str, Argument(metavar="GROUP", help="Name of a group."), Flags("-g", "--groupName")],
    mode_text: Annotated[
        str, Argument(metavar="MODE", help="PULL or POP."), Flags("-m", "--mode"), Values("PULL|POP")
    ],
    pop_share_count: Annotated[
        int,
        Option(
            "-q", "--popShareQueueNum", metavar="N", help="With POP: how many more clients share a queue."
        ),
    ] = 0,
    broker_text: MasterAddrOption = None,
    cluster_name: ClusterMastersOption = None,
) -> ResultRows:
    """Make the clients of a group pull or pop messages of a topic, on one master or on all of a cluster.

    The mode applies to clients that let brokers assign queues. Connected clients change within seconds. With
    -q -1, every client pops from every queue. nsadmin refuses a group or topic that a broker does not have,
    because brokers would create the group. nsadmin reads the mode before and after.

    Examples:
        # Preview the change
        nsadmin setConsumeMode payments search-indexer POP -c cluster-a --dry-run
        # Pop, with each queue shared by all clients
        nsadmin setConsumeMode payments search-indexer POP -q -1 -b 127.0.0.1:10911 --yes
    """
    wanted_mode = ConsumeMode(mode_text.upper(), pop_share_count)
    if wanted_mode.mode not in MODE_NAMES:
        raise UsageError(f'invalid mode "{mode_text}": use PULL or POP')
    targets = select_masters(session, broker_text, cluster_name)
    _remark_on_other_clusters(session, topic, group, cluster_name, wanted_mode)
    session.confirm_change(f"Make {group} {wanted_mode.mode} from {topic} on {describe_targets(targets)}?")
    mode_admin = session.admin.consume_modes
    change_mode = mode_admin.plan_change if session.is_dry_run else mode_admin.set_mode
    results = match_results(targets, change_mode(distinct_addrs(targets), topic, group, wanted_mode))
    changes = [_describe_change(r, "dry-run" if session.is_dry_run else "done") for r in results]
    common = {TOPIC: topic, CHANGED_GROUP: group}
    rows = broker_change_rows(MODE_CHANGE_COLUMNS, targets, changes, common)
    new_addrs = [c.server for c in changes if c.server and c.result == "done" and c.before is None]
    defaults = {r.result for r in mode_admin.get_defaults(new_addrs) if r.result}
    if len(defaults) != 1:
        return rows
    [default] = defaults
    share = ("-q", str(default.pop_share_queue_num)) if default.mode == "POP" else ()
    words = ("setConsumeMode", topic, group, default.mode, *share, "-b", ",".join(new_addrs))
    note = f"before, the default of the broker applied; to have this mode again, run {quote_command(*words)}"
    return rows.with_notes(note)


def _remark_on_other_clusters(
    session: Session, topic: str, group: str, cluster_list: str | None, wanted: ConsumeMode
) -> None:
    """Say which other clusters have the group and the topic with another mode."""
    if cluster_list is None:
        return
    # The change itself tells what else is wrong.
    with suppress(RocketMQError):
        changed = list_clusters(session, cluster_list)
        modes, keeping = session.admin.consume_modes, set[str]()
        queues = session.admin.topics.get_route(topic).queues
        for cluster in {q.cluster_name for q in queues if q.cluster_name}.difference(changed):
            addrs = distinct_addrs(session.admin.groups.list_masters(cluster))
            for plan, default in zip(
                modes.plan_change(addrs, topic, group, wanted), modes.get_defaults(addrs), strict=True
            ):
                if plan.result and (plan.result.mode_before or default.result) != wanted:
                    keeping.add(cluster)
        remark_other_clusters(session, f"{group} keeps its mode", keeping)


def _describe_change(result: ServerResult[ModeChange], done: str) -> ServerChange:
    """The row of a change; a mode is a value with its columns' names."""
    if result.result is None:
        return ServerChange(result.addr, None, None, result.error)
    before, after = (
        mode and {"mode": mode.mode, "popShareQueueNum": mode.pop_share_queue_num} for mode in result.result
    )
    return ServerChange(result.addr, before, after, result.error, done if before != after else "unchanged")
