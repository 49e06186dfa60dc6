"""Owns the commands for storage settings: read-ahead, timer engine, flush offset, check of RocksDB queues."""

from collections.abc import Callable, Sequence
from time import time
from typing import Annotated

from nsadmin.client import ServerResult
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.brokers.upkeep import READ_AHEAD_SETTINGS, TIMER_ENGINES, TIMER_SETTINGS, BrokerSettings
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
from nsadmin.command_line.declarations import Argument, Option, declare_columns
from nsadmin.command_line.time_arguments import parse_time_option
from nsadmin.commands.columns.change_rows import CHANGE_RESULT_COLUMNS, CHANGE_RESULT_IN_TABLE, change_cells
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.exit_codes import UsageError
from nsadmin.output import ResultRow, ResultRows
from nsadmin.session import Session

STORAGE_CHANGE_COLUMNS = (*IDENTITY_COLUMNS, *CHANGE_RESULT_COLUMNS)
STORAGE_CHANGE_TABLE_COLUMNS = (*IDENTITY_COLUMNS, *CHANGE_RESULT_IN_TABLE)
QUEUE_CHECK_COLUMNS = (*IDENTITY_COLUMNS, "checkStatus", "result", "error")

_MONTH_MS = 30 * 86_400_000
_STATUS_WORDS = {0: "equal", 1: "different", 2: "started", 3: "failed"}


@declare_columns(STORAGE_CHANGE_COLUMNS)
def set_commit_log_read_ahead_mode(
    session: Session,
    mode_text: Annotated[
        str,
        Argument(
            ("-m", "--commitLogReadAheadMode"), "MODE", "0 reads ahead, 1 does not.", value_source="0|1"
        ),
    ],
    broker_text: BrokerAddrOption = None,
    cluster_name: ClusterMembersOption = None,
) -> ResultRows:
    """Say whether a broker's system reads its commit log ahead, or every broker's of a cluster.

    0 is as files usually are read (MADV_NORMAL), 1 is for reads at random places (MADV_RANDOM), as they come
    with cold data. It counts until the broker is started anew; brokers since 5.1.2 take it.

    Examples:
        # What is set now
        nsadmin setCommitLogReadAheadMode 1 -c cluster-a --dry-run
        # No reading ahead on one broker
        nsadmin setCommitLogReadAheadMode 1 -b 127.0.0.1:10911 --yes
    """
    command_name = "setCommitLogReadAheadMode"
    if mode_text not in ("0", "1"):
        raise UsageError(f"{command_name}: {mode_text!r} cannot be: give 0 (reads ahead) or 1 (does not)")
    broker_targets = select_members(session, command_name, broker_text, cluster_name)
    session.confirm_change(f"Set read-ahead mode {mode_text} on {describe_targets(broker_targets)}?")
    settings_after = {"dataReadAheadEnable": "true" if mode_text == "0" else "false"}
    upkeep_admin = session.admin.upkeep
    return _switch_settings(
        session,
        broker_targets,
        READ_AHEAD_SETTINGS,
        lambda _: settings_after,
        lambda broker_addrs: upkeep_admin.set_read_ahead(broker_addrs, int(mode_text)),
    )


@declare_columns(STORAGE_CHANGE_COLUMNS)
def switch_timer_engine(
    session: Session,
    engine_letter: Annotated[
        str,
        Argument(
            ("-e", "--engineType"), "ENGINE", "R (RocksDB) or F (files of a time wheel).", value_source="R|F"
        ),
    ],
    broker_text: MasterAddrOption = None,
    cluster_name: ClusterMastersOption = None,
) -> ResultRows:
    """Say which engine keeps the timed messages of a broker, or of every master of a cluster.

    R is RocksDB, for which the broker has to be started with timerRocksDBEnable=true; F are the files of a
    time wheel. What the other engine has already is still delivered by it. Brokers since 5.5.0 take it. The
    settings by which they remember it are shown before and after.

    Examples:
        # What is set now
        nsadmin switchTimerEngine F -c cluster-a --dry-run
        # The time wheel's files on one broker
        nsadmin switchTimerEngine F -b 127.0.0.1:10911 --yes
    """
    command_name = "switchTimerEngine"
    if engine_letter not in TIMER_ENGINES:
        raise UsageError(
            f"{command_name}: {engine_letter!r} cannot be: give R (RocksDB) or F (files of a time wheel)"
        )
    broker_targets = select_masters(session, command_name, broker_text, cluster_name)
    session.confirm_change(
        f"Keep timed messages in {TIMER_ENGINES[engine_letter]} on {describe_targets(broker_targets)}?"
    )
    upkeep_admin = session.admin.upkeep
    return _switch_settings(
        session,
        broker_targets,
        TIMER_SETTINGS,
        lambda settings_before: {**settings_before, **_timer_settings_after(engine_letter)},
        lambda broker_addrs: upkeep_admin.switch_timer_engine(broker_addrs, engine_letter),
    )


def _timer_settings_after(engine_letter: str) -> BrokerSettings:
    """The settings that the broker changes (AdminBrokerProcessor#switchTimerEngine)."""
    if engine_letter == "R":
        return {"timerStopEnqueue": "true", "timerRocksDBEnable": "true", "timerRocksDBStopScan": "false"}
    return {"timerStopEnqueue": "false", "timerRocksDBStopScan": "true"}


def _switch_settings(
    session: Session,
    broker_targets: Sequence[BrokerTarget],
    setting_names: Sequence[str],
    plan_settings: Callable[[BrokerSettings], BrokerSettings],
    send_order: Callable[[list[str]], list[ServerResult[BrokerSettings]]],
) -> ResultRows:
    """Rows with the settings before and after the order; a dry run plans the settings after it."""
    broker_addrs = distinct_addrs(broker_targets)
    settings_by_addr = {
        settings_result.addr: settings_result
        for settings_result in session.admin.upkeep.get_settings(broker_addrs, setting_names)
    }
    if session.is_dry_run:
        settings_results = [
            settings_result.then(plan_settings) for settings_result in settings_by_addr.values()
        ]
    else:
        order_results_by_addr = {
            order_result.addr: order_result
            for order_result in send_order(
                [broker_addr for broker_addr in broker_addrs if settings_by_addr[broker_addr].error is None]
            )
        }
        settings_results = [
            order_results_by_addr.get(broker_addr, settings_by_addr[broker_addr])
            for broker_addr in broker_addrs
        ]
    target_results = match_results(broker_targets, settings_results)
    change_rows: list[ResultRow] = []
    for broker_target, (broker_addr, settings_after, error) in zip(
        broker_targets, target_results, strict=True
    ):
        settings_before = settings_by_addr[broker_addr].result if broker_addr in settings_by_addr else None
        change_row = {
            **identity_cells(broker_target),
            **outcome_cells(error, "dry-run" if session.is_dry_run else "done"),
        }
        change_rows.append(
            {**change_row, **change_cells(settings_before, settings_after)}
            if error is None
            else {**change_row, "before": settings_before}
        )
    return ResultRows(
        STORAGE_CHANGE_COLUMNS,
        change_rows,
        [target_result.error for target_result in target_results],
        (),
        STORAGE_CHANGE_TABLE_COLUMNS,
    )


@declare_columns(STORAGE_CHANGE_COLUMNS)
def reset_master_flush_offset(
    session: Session,
    offset_text: Annotated[str, Argument(("-o", "--offset"), "OFFSET", "Place in the commit log, in bytes.")],
    broker_text: Annotated[
        str | None, Option("-b", "--brokerAddr", metavar="ADDR", help="One slave: address or NAME/ID.")
    ] = None,
) -> ResultRows:
    """Tell a slave up to where its master's commit log is on the disk.

    It is read back, and kept in the slave's checkpoint. A slave that has 0 asks its master for it when it
    joins that one (syncMasterFlushOffsetWhenStartup); a wrong offset can make what slave and master have
    diverge. A master would say done and ignore it, which is an error here.

    Examples:
        # What is known there now
        nsadmin resetMasterFlushOffset 0 -b 127.0.0.1:10971 --dry-run
        # Set it
        nsadmin resetMasterFlushOffset 0 -b 127.0.0.1:10971 --yes
    """
    command_name = "resetMasterFlushOffset"
    if not offset_text.isdecimal():
        raise UsageError(
            f"{command_name}: {offset_text!r} is no offset: give bytes of the commit log, 0 or more"
        )
    [slave_target] = select_members(session, command_name, broker_text, None)
    slave_addr = slave_target.broker_addr or ""
    offset_before = session.admin.upkeep.get_master_flush_offset(slave_addr).result
    session.confirm_change(
        f"Tell {slave_addr} that its master's commit log is on the disk up to {offset_text}?"
    )
    upkeep_admin = session.admin.upkeep
    reset_result = (
        upkeep_admin.check_slave(slave_addr)
        if session.is_dry_run
        else upkeep_admin.reset_master_flush_offset(slave_addr, int(offset_text))
    )
    result_row = {
        **identity_cells(slave_target),
        **outcome_cells(reset_result.error, "dry-run" if session.is_dry_run else "done"),
    }
    difference_cells = (
        change_cells(offset_before, int(offset_text))
        if reset_result.error is None
        else {"before": offset_before}
    )
    return ResultRows(
        STORAGE_CHANGE_COLUMNS,
        [{**result_row, **difference_cells}],
        [reset_result.error],
        (),
        STORAGE_CHANGE_TABLE_COLUMNS,
    )


@declare_columns(QUEUE_CHECK_COLUMNS)
def check_rocksdb_cq_write_progress(
    session: Session,
    cluster_name: Annotated[str, Argument(("-c", "--cluster"), "CLUSTER", "Every master of it.")],
    topic: Annotated[str | None, Option("-t", "--topic", metavar="TOPIC", help="Only this topic.")] = None,
    since_text: Annotated[
        str | None,
        Option(
            "-cf", "--checkFrom", metavar="TIME", help="Of messages stored since; 30 days ago if left out."
        ),
    ] = None,
) -> ResultRows:
    """Have masters compare their queues in files with those in RocksDB, which they write both for a change.

    Brokers since 5.3.3 answer at once, go through all queues, and write what they find into their own logs
    (lines of "checkRocksdbCqWriteProgress"); those before answer what they found. One that does not write
    both (rocksdbCQDoubleWriteEnable) says so too and compares nothing, which is an error here. Only the
    cluster that is named is asked; mqadmin asks every one.

    Examples:
        # Every master of a cluster
        nsadmin checkRocksdbCqWriteProgress cluster-a
    """
    since_ms = parse_time_option(
        "checkRocksdbCqWriteProgress", "-cf", since_text, int(time() * 1000) - _MONTH_MS
    )
    master_targets = select_masters(session, "checkRocksdbCqWriteProgress", None, cluster_name)
    check_results = session.admin.upkeep.check_rocksdb_queues(distinct_addrs(master_targets), topic, since_ms)
    target_results = match_results(master_targets, check_results)
    check_rows: list[ResultRow] = [
        {
            **identity_cells(master_target),
            "checkStatus": check_result.result,
            **outcome_cells(
                check_result.error,
                _STATUS_WORDS.get(check_result.result if check_result.result is not None else 3, "unknown"),
            ),
        }
        for master_target, check_result in zip(master_targets, target_results, strict=True)
    ]
    return ResultRows(
        QUEUE_CHECK_COLUMNS, check_rows, [check_result.error for check_result in target_results]
    )
