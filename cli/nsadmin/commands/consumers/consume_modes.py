"""Owns getConsumeMode and setConsumeMode. The clients of a group either pull messages or pop them."""

from typing import Annotated

from typer import Argument, Option

from nsadmin.client import ServerResult
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.consumers.consume_modes import MODE_NAMES, AssignedMode, ConsumeMode, ModeChange
from nsadmin.client.results import error_text
from nsadmin.command_line.broker_targets import (
    IDENTITY_COLUMNS,
    BrokerAddrOption,
    ClusterMastersOption,
    ClusterMembersOption,
    MasterAddrOption,
    describe_targets,
    distinct_addrs,
    identity_cells,
    match_results,
    select_masters,
    select_members,
)
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.changes import CHANGE_RESULT_COLUMNS, CHANGE_RESULT_IN_TABLE, change_cells
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

CONSUME_MODE_COLUMNS = (*IDENTITY_COLUMNS, "topic", "consumerGroup", "mode", "popShareQueueNum", "error")
MODE_CHANGE_COLUMNS = (*IDENTITY_COLUMNS, "topic", "consumerGroup", *CHANGE_RESULT_COLUMNS)
MODE_CHANGE_TABLE_COLUMNS = (*IDENTITY_COLUMNS, "topic", "consumerGroup", *CHANGE_RESULT_IN_TABLE)


@command(columns=CONSUME_MODE_COLUMNS)
def get_consume_mode(
    session: Session,
    broker_text: BrokerAddrOption = None,
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
    broker_targets = select_members(session, broker_text, cluster_name)
    mode_admin = session.admin.consume_modes
    mode_results = match_results(broker_targets, mode_admin.list_modes(distinct_addrs(broker_targets)))
    default_results = match_results(
        broker_targets,
        mode_admin.get_defaults(
            [mode_result.addr for mode_result in mode_results if mode_result.error is None]
        ),
    )
    mode_rows = [
        mode_row
        for broker_target, assigned_result, default_result in zip(
            broker_targets, mode_results, default_results, strict=True
        )
        for mode_row in _mode_rows(broker_target, assigned_result, default_result, topic, group)
    ]
    return ResultRows(CONSUME_MODE_COLUMNS, mode_rows, [mode_result.error for mode_result in mode_results])


def _mode_rows(
    broker_target: BrokerTarget,
    assigned_result: ServerResult[tuple[AssignedMode, ...]],
    default_result: ServerResult[ConsumeMode],
    topic: str | None,
    group: str | None,
) -> list[ResultRow]:
    if assigned_result.result is None:
        return [
            {
                **identity_cells(broker_target),
                "error": assigned_result.error and error_text(assigned_result.error),
            }
        ]
    default_rows: list[ResultRow] = [{**identity_cells(broker_target), **_mode_cells(default_result.result)}]
    return default_rows + [
        {
            **identity_cells(broker_target),
            "topic": assigned_mode.topic,
            "consumerGroup": assigned_mode.group,
            **_mode_cells(assigned_mode.mode),
        }
        for assigned_mode in assigned_result.result
        if topic in (None, assigned_mode.topic) and group in (None, assigned_mode.group)
    ]


def _mode_cells(consume_mode: ConsumeMode | None) -> dict[str, object]:
    return (
        {}
        if consume_mode is None
        else {"mode": consume_mode.mode, "popShareQueueNum": consume_mode.pop_share_queue_num}
    )


@command(columns=MODE_CHANGE_COLUMNS)
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
    master_targets = select_masters(session, broker_text, cluster_name)
    session.confirm_change(
        f"Make {group} {wanted_mode.mode} from {topic} on {describe_targets(master_targets)}?"
    )
    mode_admin = session.admin.consume_modes
    change_mode = mode_admin.plan_change if session.is_dry_run else mode_admin.set_mode
    change_results = match_results(
        master_targets, change_mode(distinct_addrs(master_targets), topic, group, wanted_mode)
    )
    done_word = "dry-run" if session.is_dry_run else "done"
    change_rows: list[ResultRow] = [
        {
            **identity_cells(master_target),
            "topic": topic,
            "consumerGroup": group,
            **(_mode_change_cells(change_result.result) if change_result.result else {}),
            **outcome_cells(change_result.error, _result_word(change_result, done_word)),
        }
        for master_target, change_result in zip(master_targets, change_results, strict=True)
    ]
    return ResultRows(
        MODE_CHANGE_COLUMNS,
        change_rows,
        [change_result.error for change_result in change_results],
        (),
        MODE_CHANGE_TABLE_COLUMNS,
    )


def _mode_change_cells(mode_change: ModeChange) -> dict[str, object]:
    return change_cells(_mode_cells(mode_change.mode_before) or None, _mode_cells(mode_change.mode_after))


def _result_word(change_result: ServerResult[ModeChange], done_word: str) -> str:
    return (
        "unchanged"
        if change_result.result is not None
        and change_result.result.mode_before == change_result.result.mode_after
        else done_word
    )
