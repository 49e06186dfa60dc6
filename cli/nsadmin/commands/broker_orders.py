"""Owns the commands for storage settings: read-ahead, timer engine, flush offset, check of RocksDB queues."""

from collections.abc import Callable, Sequence
from time import time
from typing import Annotated

from nsadmin.client import ServerResult
from nsadmin.client.targets import Target
from nsadmin.client.upkeep import ENGINES, READ_AHEAD, TIMER_SETTINGS, Settings
from nsadmin.commands.changes import CHANGE, CHANGE_IN_TABLE, change
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.moments import moment
from nsadmin.commands.results import outcome
from nsadmin.commands.targets import (
    IDENTITY,
    AddrOption,
    MasterOption,
    MastersOption,
    MembersOption,
    addrs,
    identity,
    masters_at,
    matched,
    members_at,
    places,
)
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = (*IDENTITY, *CHANGE)
IN_TABLE = (*IDENTITY, *CHANGE_IN_TABLE)
CHECK_COLUMNS = (*IDENTITY, "checkStatus", "result", "error")

_MONTH = 30 * 86_400_000
_STATUS = {0: "equal", 1: "different", 2: "started", 3: "failed"}


@shows(COLUMNS)
def set_commit_log_read_ahead_mode(
    session: Session,
    mode: Annotated[
        str,
        Word(("-m", "--commitLogReadAheadMode"), "MODE", "0 reads ahead, 1 does not.", values="0|1"),
    ],
    broker: AddrOption = None,
    cluster: MembersOption = None,
) -> Rows:
    """Say whether a broker's system reads its commit log ahead, or every broker's of a cluster.

    0 is as files usually are read (MADV_NORMAL), 1 is for reads at random places (MADV_RANDOM), as they come
    with cold data. It counts until the broker is started anew; brokers since 5.1.2 take it.

    Examples:
        # What is set now
        nsadmin setCommitLogReadAheadMode 1 -c cluster-a --dry-run
        # No reading ahead on one broker
        nsadmin setCommitLogReadAheadMode 1 -b 127.0.0.1:10911 --yes
    """
    command = "setCommitLogReadAheadMode"
    if mode not in ("0", "1"):
        raise UsageError(f"{command}: {mode!r} cannot be: give 0 (reads ahead) or 1 (does not)")
    targets = members_at(session, command, broker, cluster)
    session.confirm(f"Set read-ahead mode {mode} on {places(targets)}?")
    after = {"dataReadAheadEnable": "true" if mode == "0" else "false"}
    upkeep = session.admin.upkeep
    return _switched(
        session, targets, READ_AHEAD, lambda _: after, lambda at: upkeep.set_read_ahead(at, int(mode))
    )


@shows(COLUMNS)
def switch_timer_engine(
    session: Session,
    engine: Annotated[
        str,
        Word(("-e", "--engineType"), "ENGINE", "R (RocksDB) or F (files of a time wheel).", values="R|F"),
    ],
    broker: MasterOption = None,
    cluster: MastersOption = None,
) -> Rows:
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
    command = "switchTimerEngine"
    if engine not in ENGINES:
        raise UsageError(f"{command}: {engine!r} cannot be: give R (RocksDB) or F (files of a time wheel)")
    targets = masters_at(session, command, broker, cluster)
    session.confirm(f"Keep timed messages in {ENGINES[engine]} on {places(targets)}?")
    upkeep = session.admin.upkeep
    return _switched(
        session,
        targets,
        TIMER_SETTINGS,
        lambda before: {**before, **_after(engine)},
        lambda at: upkeep.switch_timer_engine(at, engine),
    )


def _after(engine: str) -> Settings:
    """The settings that the broker changes (AdminBrokerProcessor#switchTimerEngine)."""
    if engine == "R":
        return {"timerStopEnqueue": "true", "timerRocksDBEnable": "true", "timerRocksDBStopScan": "false"}
    return {"timerStopEnqueue": "false", "timerRocksDBStopScan": "true"}


def _switched(
    session: Session,
    targets: Sequence[Target],
    names: Sequence[str],
    planned: Callable[[Settings], Settings],
    order: Callable[[list[str]], list[ServerResult[Settings]]],
) -> Rows:
    """Rows with the settings before and after the order; a dry run plans the settings after it."""
    at = addrs(targets)
    before = {found.addr: found for found in session.admin.upkeep.settings(at, names)}
    if session.dry_run:
        done = [found.then(planned) for found in before.values()]
    else:
        told = {item.addr: item for item in order([addr for addr in at if before[addr].error is None])}
        done = [told.get(addr, before[addr]) for addr in at]
    results = matched(targets, done)
    rows: list[Row] = []
    for target, (addr, after, error) in zip(targets, results, strict=True):
        was = before[addr].result if addr in before else None
        row = {**identity(target), **outcome(error, "dry-run" if session.dry_run else "done")}
        rows.append({**row, **change(was, after)} if error is None else {**row, "before": was})
    return Rows(COLUMNS, rows, [result.error for result in results], (), IN_TABLE)


@shows(COLUMNS)
def reset_master_flush_offset(
    session: Session,
    offset: Annotated[str, Word(("-o", "--offset"), "OFFSET", "Place in the commit log, in bytes.")],
    broker: Annotated[
        str | None, Option("-b", "--brokerAddr", metavar="ADDR", help="One slave: address or NAME/ID.")
    ] = None,
) -> Rows:
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
    command = "resetMasterFlushOffset"
    if not offset.isdecimal():
        raise UsageError(f"{command}: {offset!r} is no offset: give bytes of the commit log, 0 or more")
    [target] = members_at(session, command, broker, None)
    addr = target.broker_addr or ""
    before = session.admin.upkeep.master_flush_offset(addr).result
    session.confirm(f"Tell {addr} that its master's commit log is on the disk up to {offset}?")
    upkeep = session.admin.upkeep
    done = upkeep.slave(addr) if session.dry_run else upkeep.reset_master_flush_offset(addr, int(offset))
    row = {**identity(target), **outcome(done.error, "dry-run" if session.dry_run else "done")}
    shown = change(before, int(offset)) if done.error is None else {"before": before}
    return Rows(COLUMNS, [{**row, **shown}], [done.error], (), IN_TABLE)


@shows(CHECK_COLUMNS)
def check_rocksdb_cq_write_progress(
    session: Session,
    cluster: Annotated[str, Word(("-c", "--cluster"), "CLUSTER", "Every master of it.")],
    topic: Annotated[str | None, Option("-t", "--topic", metavar="TOPIC", help="Only this topic.")] = None,
    check_from: Annotated[
        str | None,
        Option(
            "-cf", "--checkFrom", metavar="TIME", help="Of messages stored since; 30 days ago if left out."
        ),
    ] = None,
) -> Rows:
    """Have masters compare their queues in files with those in RocksDB, which they write both for a change.

    Brokers since 5.3.3 answer at once, go through all queues, and write what they find into their own logs
    (lines of "checkRocksdbCqWriteProgress"); those before answer what they found. One that does not write
    both (rocksdbCQDoubleWriteEnable) says so too and compares nothing, which is an error here. Only the
    cluster that is named is asked; mqadmin asks every one.

    Examples:
        # Every master of a cluster
        nsadmin checkRocksdbCqWriteProgress cluster-a
    """
    since = moment("checkRocksdbCqWriteProgress", "-cf", check_from, int(time() * 1000) - _MONTH)
    targets = masters_at(session, "checkRocksdbCqWriteProgress", None, cluster)
    found = session.admin.upkeep.check_rocksdb_queues(addrs(targets), topic, since)
    results = matched(targets, found)
    rows: list[Row] = [
        {
            **identity(target),
            "checkStatus": item.result,
            **outcome(item.error, _STATUS.get(item.result if item.result is not None else 3, "unknown")),
        }
        for target, item in zip(targets, results, strict=True)
    ]
    return Rows(CHECK_COLUMNS, rows, [item.error for item in results])
