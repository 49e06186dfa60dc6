"""Owns the commands for storage settings: read-ahead, timer engine, flush offset, check of RocksDB queues."""

from collections.abc import Callable, Sequence
from time import time
from typing import Annotated

from typer import Argument, Option

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
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.command_line.time_arguments import parse_time_option
from nsadmin.commands.columns.changes import CHANGE_RESULT_COLUMNS, CHANGE_RESULT_IN_TABLE, change_cells
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

STORAGE_CHANGE_COLUMNS = (*IDENTITY_COLUMNS, *CHANGE_RESULT_COLUMNS)
STORAGE_CHANGE_TABLE_COLUMNS = (*IDENTITY_COLUMNS, *CHANGE_RESULT_IN_TABLE)
QUEUE_CHECK_COLUMNS = (*IDENTITY_COLUMNS, "checkStatus", "result", "error")

_MONTH_MS = 30 * 86_400_000
_STATUS_WORDS = {0: "equal", 1: "different", 2: "started", 3: "failed"}


@command(columns=STORAGE_CHANGE_COLUMNS)
def set_commit_log_read_ahead_mode(
    session: Session,
    mode_text: Annotated[
        str,
        Argument(metavar="MODE", help="0 enables read-ahead, 1 disables it."),
        Flags("-m", "--commitLogReadAheadMode"),
        Values("0|1"),
    ],
    broker_text: BrokerAddrOption = None,
    cluster_name: ClusterMembersOption = None,
) -> ResultRows:
    """Enable or disable read-ahead of the commit log, on a broker or on every broker of a cluster.

    0 is the usual mode for files (MADV_NORMAL). 1 is for reads at random positions, such as reads of cold
    data (MADV_RANDOM). The mode applies until the broker restarts. Brokers support it since 5.1.2.

    Examples:
        # Show the current mode
        nsadmin setCommitLogReadAheadMode 1 -c cluster-a --dry-run
        # Disable read-ahead on one broker
        nsadmin setCommitLogReadAheadMode 1 -b 127.0.0.1:10911 --yes
    """
    if mode_text not in ("0", "1"):
        raise UsageError(f'invalid mode "{mode_text}": use 0 (read-ahead) or 1 (no read-ahead)')
    broker_targets = select_members(session, broker_text, cluster_name)
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


@command(columns=STORAGE_CHANGE_COLUMNS)
def switch_timer_engine(
    session: Session,
    engine_letter: Annotated[
        str,
        Argument(metavar="ENGINE", help="R (RocksDB) or F (time wheel files)."),
        Flags("-e", "--engineType"),
        Values("R|F"),
    ],
    broker_text: MasterAddrOption = None,
    cluster_name: ClusterMastersOption = None,
) -> ResultRows:
    """Select the engine for timed messages, on a broker or on every master of a cluster.

    R is RocksDB. It needs a broker that was started with timerRocksDBEnable=true. F stands for the files of a
    time wheel. The previous engine still delivers the messages that it holds. Brokers support this since
    5.5.0. The rows show the broker settings before and after the change.

    Examples:
        # Show the current engine
        nsadmin switchTimerEngine F -c cluster-a --dry-run
        # Select time wheel files on one broker
        nsadmin switchTimerEngine F -b 127.0.0.1:10911 --yes
    """
    if engine_letter not in TIMER_ENGINES:
        raise UsageError(f'invalid engine "{engine_letter}": use R (RocksDB) or F (time wheel files)')
    broker_targets = select_masters(session, broker_text, cluster_name)
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


@command(columns=STORAGE_CHANGE_COLUMNS)
def reset_master_flush_offset(
    session: Session,
    offset_text: Annotated[
        str, Argument(metavar="OFFSET", help="Position in the commit log, in bytes."), Flags("-o", "--offset")
    ],
    broker_text: Annotated[
        str | None, Option("-b", "--brokerAddr", metavar="ADDR", help="A slave: address or NAME/ID.")
    ] = None,
) -> ResultRows:
    """Set on a slave how far its master's commit log is flushed to disk.

    nsadmin reads the offset back. The slave saves it in its checkpoint. A slave with the offset 0 asks its
    master for it when it connects (syncMasterFlushOffsetWhenStartup). A wrong offset can make the data of
    slave and master diverge. Masters ignore this request, so nsadmin reports an error for a master.

    Examples:
        # Show the current offset
        nsadmin resetMasterFlushOffset 0 -b 127.0.0.1:10971 --dry-run
        # Set it
        nsadmin resetMasterFlushOffset 0 -b 127.0.0.1:10971 --yes
    """
    if not offset_text.isdecimal():
        raise UsageError(f'invalid offset "{offset_text}": expected bytes of the commit log, 0 or more')
    [slave_target] = select_members(session, broker_text, None)
    slave_addr = slave_target.broker_addr or ""
    offset_before = session.admin.upkeep.get_master_flush_offset(slave_addr).result
    session.confirm_change(
        f"Set the flushed end of the master's commit log to {offset_text} on {slave_addr}?"
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


@command(columns=QUEUE_CHECK_COLUMNS)
def check_rocksdb_cq_write_progress(
    session: Session,
    cluster_name: Annotated[
        str, Argument(metavar="CLUSTER", help="Every master of this cluster."), Flags("-c", "--cluster")
    ],
    topic: Annotated[str | None, Option("-t", "--topic", metavar="TOPIC", help="Only this topic.")] = None,
    since_text: Annotated[
        str | None,
        Option(
            "-cf",
            "--checkFrom",
            metavar="TIME",
            help="Only messages stored since this time. Default: 30 days ago.",
        ),
    ] = None,
) -> ResultRows:
    """Make masters compare their consume queues in files with those in RocksDB.

    This is for brokers that write both for a migration. Brokers since 5.3.3 answer at once, and then write
    their findings to their own logs (search for "checkRocksdbCqWriteProgress"). Earlier brokers answer with
    their findings. It is an error if a broker does not write both (rocksdbCQDoubleWriteEnable). nsadmin asks
    only the given cluster. (mqadmin asks every cluster.)

    Examples:
        # Every master of a cluster
        nsadmin checkRocksdbCqWriteProgress cluster-a
    """
    since_ms = parse_time_option("-cf", since_text, int(time() * 1000) - _MONTH_MS)
    master_targets = select_masters(session, None, cluster_name)
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
