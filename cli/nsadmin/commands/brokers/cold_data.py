"""Owns the commands for cold-data flow control: brokers limit how fast groups read data from the disk."""

from typing import Annotated

from typer import Argument

from nsadmin.client import ServerResult
from nsadmin.client.brokers.cold_data import ColdData, ThresholdChange
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.results import error_text
from nsadmin.command_line.broker_targets import (
    IDENTITY_COLUMNS,
    BrokerAddrArgument,
    BrokerAddrOption,
    ClusterMastersOption,
    ClusterMembersOption,
    describe_targets,
    distinct_addrs,
    identity_cells,
    match_results,
    select_masters,
    select_members,
)
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.changes import (
    CHANGE_RESULT_COLUMNS,
    CHANGE_RESULT_IN_TABLE,
    change_cells,
    forgive_missing,
)
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.quantities import to_bytes
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

COLD_DATA_COLUMNS = (
    *IDENTITY_COLUMNS,
    "consumerGroup",
    "threshold",
    "coldAcc",
    "since",
    "lastColdRead",
    "error",
)
THRESHOLD_CHANGE_COLUMNS = (*IDENTITY_COLUMNS, "consumerGroup", *CHANGE_RESULT_COLUMNS)
THRESHOLD_CHANGE_TABLE_COLUMNS = (*IDENTITY_COLUMNS, "consumerGroup", *CHANGE_RESULT_IN_TABLE)

ColdReadGroupArgument = Annotated[
    str, Argument(metavar="GROUP", help="Name of a group."), Flags("-g", "--consumerGroup")
]


@command(columns=COLD_DATA_COLUMNS)
def get_cold_data_flow_ctr_info(
    session: Session, broker_text: BrokerAddrArgument, cluster_name: ClusterMembersOption = None
) -> ResultRows:
    """Show how much cold data groups may read per second, and how much they read.

    A row without a group shows the whole broker. Other rows show the groups with their own threshold, and the
    groups that read cold data. A line on stderr shows the threshold of all other groups. Brokers slow groups
    down only if coldDataFlowControlEnable=true. Brokers support this since 5.1.2.

    Examples:
        # Every broker of a cluster
        nsadmin getColdDataFlowCtrInfo -c cluster-a
        # One broker
        nsadmin getColdDataFlowCtrInfo 127.0.0.1:10911
    """
    broker_targets = select_members(session, broker_text, cluster_name)
    cold_data_results = match_results(
        broker_targets, session.admin.cold_data.get_each(distinct_addrs(broker_targets))
    )
    cold_data_rows = [
        cold_data_row
        for broker_target, cold_data_result in zip(broker_targets, cold_data_results, strict=True)
        for cold_data_row in _cold_data_rows(broker_target, cold_data_result)
    ]
    group_thresholds = {
        cold_data_result.result.group_threshold
        for cold_data_result in cold_data_results
        if cold_data_result.result is not None
    }
    threshold_notes = [
        f"groups without a row may read {group_threshold} bytes per second"
        for group_threshold in sorted(filter(None, group_thresholds))
    ]
    return ResultRows(
        COLD_DATA_COLUMNS,
        cold_data_rows,
        [cold_data_result.error for cold_data_result in cold_data_results],
        threshold_notes,
    )


def _cold_data_rows(broker_target: BrokerTarget, cold_data_result: ServerResult[ColdData]) -> list[ResultRow]:
    if cold_data_result.result is None:
        return [
            {
                **identity_cells(broker_target),
                "error": cold_data_result.error and error_text(cold_data_result.error),
            }
        ]
    cold_data = cold_data_result.result
    broker_row: ResultRow = {
        **identity_cells(broker_target),
        "threshold": to_bytes(cold_data.global_threshold),
        "coldAcc": to_bytes(cold_data.global_read_bytes),
    }
    group_rows: list[ResultRow] = []
    for group in sorted(cold_data.thresholds_by_group.keys() | cold_data.reads_by_group.keys()):
        group_reads = cold_data.reads_by_group.get(group)
        group_rows.append(
            {
                **identity_cells(broker_target),
                "consumerGroup": group,
                "threshold": to_bytes(cold_data.thresholds_by_group.get(group, cold_data.group_threshold)),
                "coldAcc": to_bytes(group_reads.read_bytes) if group_reads else None,
                "since": format_utc(group_reads.created_ms)
                if group_reads and group_reads.created_ms
                else None,
                "lastColdRead": format_utc(group_reads.last_read_ms)
                if group_reads and group_reads.last_read_ms
                else None,
            }
        )
    return [broker_row, *group_rows]


@command(columns=THRESHOLD_CHANGE_COLUMNS)
def update_cold_data_flow_ctr_group_config(
    session: Session,
    group: ColdReadGroupArgument,
    threshold_text: Annotated[
        str,
        Argument(metavar="BYTES", help="Bytes of cold data per second."),
        Flags("-v", "--threshold"),
        Values(""),
    ],
    broker_text: BrokerAddrOption = None,
    cluster_name: ClusterMastersOption = None,
) -> ResultRows:
    """Set how much cold data a group may read per second, on one broker or on every master of a cluster.

    nsadmin reads the threshold back, because brokers accept every value. Brokers forget it when they restart.

    Examples:
        # Preview the change
        nsadmin updateColdDataFlowCtrGroupConfig search-indexer 1048576 -c cluster-a --dry-run
        # Set it on one broker
        nsadmin updateColdDataFlowCtrGroupConfig -g search-indexer -v 1048576 -b 127.0.0.1:10911 --yes
    """
    if not (threshold_text.isascii() and threshold_text.isdecimal() and 0 < int(threshold_text) < 2**63):
        raise UsageError(
            f'invalid threshold "{threshold_text}": expected bytes per second, for example 1048576'
        )
    return _change_threshold(session, group, int(threshold_text), broker_text, cluster_name)


@command(columns=THRESHOLD_CHANGE_COLUMNS)
def remove_cold_data_flow_ctr_group_config(
    session: Session,
    group: ColdReadGroupArgument,
    broker_text: BrokerAddrOption = None,
    cluster_name: ClusterMastersOption = None,
) -> ResultRows:
    """Remove a group's own threshold for cold data, on one broker or on every master of a cluster.

    Then the broker's default threshold applies to the group. A broker without a threshold for the group
    reports "not found". That is an error only if no broker has one.

    Examples:
        # Preview the change
        nsadmin removeColdDataFlowCtrGroupConfig search-indexer -c cluster-a --dry-run
        # Remove it on every master of a cluster
        nsadmin removeColdDataFlowCtrGroupConfig search-indexer -c cluster-a --yes
    """
    return _change_threshold(session, group, None, broker_text, cluster_name)


def _change_threshold(
    session: Session,
    group: str,
    threshold_bytes: int | None,
    broker_text: str | None,
    cluster_name: str | None,
) -> ResultRows:
    master_targets = select_masters(session, broker_text, cluster_name)
    question_start = (
        "Remove the threshold" if threshold_bytes is None else f"Set {threshold_bytes} bytes per second"
    )
    session.confirm_change(f"{question_start} of {group} on {describe_targets(master_targets)}?")
    cold_data_control, master_addrs = session.admin.cold_data, distinct_addrs(master_targets)
    if session.is_dry_run:
        change_results = cold_data_control.plan_change(master_addrs, group, threshold_bytes)
    elif threshold_bytes is None:
        change_results = cold_data_control.remove_threshold(master_addrs, group)
    else:
        change_results = cold_data_control.update_threshold(master_addrs, group, threshold_bytes)
    target_results = match_results(master_targets, change_results)
    done_word = "dry-run" if session.is_dry_run else "done"
    change_rows: list[ResultRow] = [
        {
            **identity_cells(master_target),
            "consumerGroup": group,
            **_threshold_change_cells(change_result.result),
            **outcome_cells(change_result.error, _result_word(change_result, done_word)),
        }
        for master_target, change_result in zip(master_targets, target_results, strict=True)
    ]
    shown_rows = ResultRows(
        THRESHOLD_CHANGE_COLUMNS,
        change_rows,
        [change_result.error for change_result in target_results],
        (),
        THRESHOLD_CHANGE_TABLE_COLUMNS,
    )
    return forgive_missing(shown_rows) if threshold_bytes is None else shown_rows


def _threshold_change_cells(threshold_change: ThresholdChange | None) -> dict[str, object]:
    return {} if threshold_change is None else change_cells(threshold_change.before, threshold_change.after)


def _result_word(change_result: ServerResult[ThresholdChange], done_word: str) -> str:
    return (
        "unchanged"
        if change_result.result is not None and change_result.result.before == change_result.result.after
        else done_word
    )
