"""Owns clusterList and brokerStatus, which show the state that brokers report."""

from collections.abc import Iterator
from time import time
from typing import Annotated

from nsadmin.client.clusters import BrokerStatus
from nsadmin.client.results import error_text, is_denied
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.targets import AddrWord, MembersOption, broker_addr
from nsadmin.commands.units import millis
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

IDENTITY = ("clusterName", "brokerName", "brokerId", "brokerAddr")
STATE = ("reachable", "error")
WAITS = (
    "sendThreadPoolQueueHeadWaitTimeMills",
    "pullThreadPoolQueueHeadWaitTimeMills",
    "ackThreadPoolQueueHeadWaitTimeMills",
    "pageCacheLockTimeMills",
)
QUEUES_AND_TIMERS = (
    "sendThreadPoolQueueSize",
    "sendThreadPoolQueueHeadWaitTimeMills",
    "pullThreadPoolQueueSize",
    "pullThreadPoolQueueHeadWaitTimeMills",
    "ackThreadPoolQueueSize",
    "ackThreadPoolQueueHeadWaitTimeMills",
    "timerReadBehind",
    "timerOffsetBehind",
    "timerCongestNum",
)
COUNTS = tuple(name for name in QUEUES_AND_TIMERS if name not in WAITS)
TIMER_RATES = ("timerEnqueueTps", "timerDequeueTps")
FRACTIONS = (*TIMER_RATES, "commitLogDiskRatio")
LOAD_COLUMNS = (
    *IDENTITY, "version", "inTps", "outTps", *QUEUES_AND_TIMERS, *TIMER_RATES, "pageCacheLockTimeMills",
    "hour", "commitLogDiskRatio", "brokerActive", *STATE,
)  # fmt: skip
LOAD_IN_TABLE = (
    *IDENTITY, "version", "inTps", "outTps", "pageCacheLockTimeMills", "hour", "commitLogDiskRatio",
    "brokerActive", *STATE,
)  # fmt: skip
TOTALS_COLUMNS = (
    *IDENTITY, "inTotalYest", "outTotalYest", "inTotalToday", "outTotalToday", *STATE
)  # fmt: skip
FIGURE_COLUMNS = ("brokerAddr", "key", "value")


@shows(LOAD_COLUMNS, TOTALS_COLUMNS)
def cluster_list(
    session: Session,
    cluster: Annotated[
        str | None, Word(("-c", "--clusterName"), "CLUSTER", "Only this cluster.", required=False)
    ],
    more: Annotated[
        bool, Option("-m", "--moreStats", help="Messages in and out, yesterday and today, instead of load.")
    ] = False,
    interval: Annotated[
        float | None, Option("-i", "--interval", metavar="SECONDS", help="Again and again, until Ctrl-C.")
    ] = None,
) -> Rows | Iterator[Rows]:
    """Show every broker of every cluster with its load, each asked by itself.

    inTps and outTps are those of the last 10 seconds, hour is the age of the oldest message in hours, disk
    ratios go from 0 to 1. JSON has more columns: queues, timers. What a broker does not report is null.
    A broker that answers with an error (4.9 does while it starts) is reachable, but not ready.

    Examples:
        # All brokers with their load
        nsadmin clusterList
        # Messages in and out, yesterday and today, of one cluster
        nsadmin clusterList cluster-a -m
        # The busiest broker first, as CSV
        nsadmin clusterList --sort -inTps --columns brokerName,brokerAddr,inTps --output csv
    """

    def once() -> Rows:
        statuses = session.admin.clusters.status(cluster)
        now = time()
        rows = [_totals(status) if more else _load(status, now) for status in statuses]
        failures = [status.error for status in statuses if status.error is not None]
        notes = (
            [f"{len(failures)} of {len(statuses)} brokers told nothing, see their errors"] if failures else []
        )
        if session.form is not None:
            # mqadmin's form has no column for errors, so each of them becomes a note.
            notes = [str(error) for error in failures]
        columns, in_table = (TOTALS_COLUMNS, None) if more else (LOAD_COLUMNS, LOAD_IN_TABLE)
        # None stands for the name server, which answered: its list is a result even if every broker is dead.
        return Rows(columns, rows, [None, *failures], notes, in_table)

    if interval is None:
        return once()
    if interval <= 0:
        raise UsageError(f"clusterList: -i {interval:g} cannot be: give seconds, more than 0")
    return session.repeat(interval, once)


def _identity(status: BrokerStatus) -> Row:
    error = None if status.error is None else error_text(status.error)
    is_starting = status.reachable and not is_denied(status.error)
    return {
        "clusterName": status.cluster_name,
        "brokerName": status.broker_name,
        "brokerId": status.broker_id,
        "brokerAddr": status.broker_addr,
        "reachable": status.reachable,
        "error": f"not ready: {error}" if error and is_starting else error,
    }


def _load(status: BrokerStatus, now: float) -> Row:
    info = status.runtime
    if info is None:
        return _identity(status)
    hours = info.hours(now)
    return {
        **_identity(status),
        **{name: info.integer(name) for name in COUNTS},
        **{name: millis(info.integer(name)) for name in WAITS},
        **{name: info.number(name) for name in FRACTIONS},
        "version": info.version,
        "inTps": info.number("putTps"),
        "outTps": info.out_tps,
        "hour": None if hours is None else round(hours, 2),
        "brokerActive": info.is_active,
    }


def _totals(status: BrokerStatus) -> Row:
    info = status.runtime
    if info is None:
        return _identity(status)
    row = dict(_identity(status))
    for way, kind in (("in", "Put"), ("out", "Get")):
        midnight = f"msg{kind}TotalTodayMorning"
        row[f"{way}TotalYest"] = info.difference(midnight, f"msg{kind}TotalYesterdayMorning")
        row[f"{way}TotalToday"] = info.difference(f"msg{kind}TotalTodayNow", midnight)
    return row


@shows(FIGURE_COLUMNS)
def broker_status(
    session: Session,
    broker: AddrWord,
    cluster: MembersOption = None,
) -> Rows:
    """Show all that one broker, or every broker of a cluster, tells about itself.

    Examples:
        # All figures of one broker
        nsadmin brokerStatus broker-a-0
        # Those of its slave
        nsadmin brokerStatus broker-a-0/1
        # How many messages each broker of a cluster takes per second, in 10 seconds, 1 and 10 minutes
        nsadmin brokerStatus -c cluster-a --filter key=putTps
    """
    if (broker is None) == (cluster is None):
        raise UsageError("brokerStatus: type either nsadmin brokerStatus -b ADDR, or -c CLUSTER")
    if broker is not None:
        addrs = [broker_addr(session, broker)]
    else:
        groups = session.admin.clusters.info().in_cluster(cluster)
        addrs = [addr for group in groups for addr in group.broker_addrs.values()]
    results = session.brokers.runtime_infos(addrs)
    rows: list[Row] = [
        {"brokerAddr": addr, "key": key, "value": value}
        for addr, info, _ in results
        if info is not None
        for key, value in info.table.items()
    ]
    notes = [f"broker {addr}: {error_text(error)}" for addr, _, error in results if error is not None]
    return Rows(FIGURE_COLUMNS, rows, [result.error for result in results], notes)
