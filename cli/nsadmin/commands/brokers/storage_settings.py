"""Owns the commands for storage settings: read-ahead, timer engine, flush offset, check of RocksDB queues."""

from collections.abc import Callable, Sequence
from time import time
from typing import Annotated

from typer import Argument, Option

from nsadmin.client import NotApplied, ServerResult
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.brokers.upkeep import READ_AHEAD_SETTINGS, TIMER_ENGINES, TIMER_SETTINGS, BrokerSettings
from nsadmin.client.results import error_text
from nsadmin.command_line.broker_targets import (
    BrokerAddrOption,
    ClusterMastersOption,
    ClusterMembersOption,
    MasterAddrOption,
    describe_targets,
    distinct_addrs,
    match_results,
    select_masters,
    select_members,
)
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.command_line.time_arguments import parse_time_option
from nsadmin.commands.columns.brokers import TARGET_COLUMNS
from nsadmin.commands.columns.changes import ServerChange, broker_change_columns, broker_change_rows
from nsadmin.commands.columns.servers import ERROR, outcome_word
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.session import Session

SETTINGS_COLUMNS = broker_change_columns(
    before="the previous broker settings for it",
    after="the new broker settings for it; in a dry run, the planned ones",
)
FLUSH_OFFSET_COLUMNS = broker_change_columns(
    before="the slave's previous value of its master's masterFlushOffset, in bytes",
    after="the new value, in bytes",
)
STATUS_WORDS = {0: "equal", 1: "different", 2: "started", 3: "failed"}
QUEUE_CHECK_COLUMNS: Columns[tuple[BrokerTarget, ServerResult[int]]] = (
    *TARGET_COLUMNS,
    Column(
        "checkStatus",
        "answer of the broker: 0 equal, 1 different, 2 in progress, 3 failed",
        lambda r: r[1].result,
    ),
    Column(
        "result",
        "equal, different, started (the broker's log will show the findings) or failed",
        lambda r: outcome_word(
            r[1].error, "failed" if r[1].result is None else STATUS_WORDS.get(r[1].result, "unknown")
        ),
    ),
    ERROR.of(lambda r: r[1].error and error_text(r[1].error)),
)
_MONTH_MS = 30 * 86_400_000


@command(columns=SETTINGS_COLUMNS)
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
    targets = select_members(session, broker_text, cluster_name)
    action = "Enable" if mode_text == "0" else "Disable"
    session.confirm_change(f"{action} read-ahead of the commit log on {describe_targets(targets)}?")
    settings_after = {"dataReadAheadEnable": "true" if mode_text == "0" else "false"}
    upkeep = session.admin.upkeep
    return _switch_settings(
        session,
        targets,
        READ_AHEAD_SETTINGS,
        lambda _: settings_after,
        lambda addrs: upkeep.set_read_ahead(addrs, int(mode_text)),
    )


@command(columns=SETTINGS_COLUMNS)
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
    targets = select_masters(session, broker_text, cluster_name)
    session.confirm_change(
        f"Keep timed messages in {TIMER_ENGINES[engine_letter]} on {describe_targets(targets)}?"
    )
    upkeep = session.admin.upkeep
    return _switch_settings(
        session,
        targets,
        TIMER_SETTINGS,
        lambda before: _plan_timer_engine(before, engine_letter),
        lambda addrs: upkeep.switch_timer_engine(addrs, engine_letter),
    )


def _plan_timer_engine(before: BrokerSettings, engine_letter: str) -> BrokerSettings:
    """The settings after the switch (AdminBrokerProcessor#switchTimerEngine)."""
    if engine_letter == "F":
        return {**before, "timerStopEnqueue": "false", "timerRocksDBStopScan": "true"}
    if before.get("timerRocksDBEnable") != "true":
        raise NotApplied(
            "the broker has timerRocksDBEnable=false: set it to true in broker.conf, and restart the broker"
        )
    return {**before, "timerStopEnqueue": "true", "timerRocksDBStopScan": "false"}


def _switch_settings(
    session: Session,
    targets: Sequence[BrokerTarget],
    setting_names: Sequence[str],
    plan_settings: Callable[[BrokerSettings], BrokerSettings],
    send_order: Callable[[list[str]], list[ServerResult[BrokerSettings]]],
) -> ResultRows:
    """Rows with the settings before and after the order; a dry run plans the settings after it."""
    addrs = distinct_addrs(targets)
    settings_by_addr = {r.addr: r for r in session.admin.upkeep.get_settings(addrs, setting_names)}
    if session.is_dry_run:
        settings_results = [r.then(plan_settings) for r in settings_by_addr.values()]
    else:
        orders = send_order([addr for addr in addrs if settings_by_addr[addr].error is None])
        orders_by_addr = {order.addr: order for order in orders}
        settings_results = [orders_by_addr.get(addr, settings_by_addr[addr]) for addr in addrs]
    done = "dry-run" if session.is_dry_run else "done"
    changes = []
    for addr, after, error in match_results(targets, settings_results):
        before = settings_by_addr[addr].result if addr in settings_by_addr else None
        outcome = "unchanged" if error is None and before == after else done
        changes.append(ServerChange(addr, before, after, error, outcome))
    return broker_change_rows(SETTINGS_COLUMNS, targets, changes)


@command(columns=FLUSH_OFFSET_COLUMNS)
def reset_master_flush_offset(
    session: Session,
    offset_text: Annotated[
        str, Argument(metavar="OFFSET", help="Position in the commit log, in bytes."), Flags("-o", "--offset")
    ],
    broker_text: Annotated[
        str | None, Option("-b", "--brokerAddr", metavar="ADDR", help="A slave: address or NAME:ID.")
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
    if broker_text is None:
        raise UsageError("missing option -b ADDR: name a slave")
    [slave] = select_members(session, broker_text, None)
    slave_addr = slave.broker_addr or ""
    upkeep = session.admin.upkeep
    before, after = upkeep.get_master_flush_offset(slave_addr).result, int(offset_text)
    session.confirm_change(
        f"Set the flushed end of the master's commit log to {offset_text} on {slave_addr}?"
    )
    error = (
        upkeep.check_slave(slave_addr)
        if session.is_dry_run
        else upkeep.reset_master_flush_offset(slave_addr, after)
    ).error
    done = "dry-run" if session.is_dry_run else "done"
    change = ServerChange(slave_addr, before, None if error else after, error, done)
    return broker_change_rows(FLUSH_OFFSET_COLUMNS, [slave], [change])


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
    targets = select_masters(session, None, cluster_name)
    results = match_results(
        targets, session.admin.upkeep.check_rocksdb_queues(distinct_addrs(targets), topic, since_ms)
    )
    errors = [r.error for r in results]
    return ResultRows.from_records(QUEUE_CHECK_COLUMNS, zip(targets, results, strict=True), errors)
