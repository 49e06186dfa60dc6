"""Owns clusterList and brokerStatus, which show the state that brokers report."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from typer import Argument, Option

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.brokers.clusters import (
    BrokerAddrGroup,
    BrokerStatus,
    describe_shared_addr,
    find_shared_addrs,
)
from nsadmin.client.results import NotFound, ServerResult, error_text, is_denied
from nsadmin.client.wall_clock import time
from nsadmin.command_line import exclusive_options
from nsadmin.command_line.broker_expectation import ExpectedBrokersOption, open_expected_inventory
from nsadmin.command_line.broker_targets import BrokerAddrArgument, ClusterMembersOption, find_broker_addr
from nsadmin.command_line.declarations import Flags, command
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import EpochMillisText, ResultRow, ResultRows
from nsadmin.console.output.quantities import to_millis
from nsadmin.console.session import Session
from nsadmin.operations.broker_disks import observe_disks
from nsadmin.operations.inventory.keeper import (
    BrokerMissingError,
    InventoryKeeper,
    describe_missing,
)
from nsadmin.operations.inventory.records import MissingBroker

IDENTITY = ("clusterName", "brokerName", "brokerId", "brokerAddr")
STATE_COLUMNS = ("reachable", "error")
WAIT_COLUMNS = (
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
COUNT_COLUMNS = tuple(column_name for column_name in QUEUES_AND_TIMERS if column_name not in WAIT_COLUMNS)
TIMER_RATES = ("timerEnqueueTps", "timerDequeueTps")
FRACTION_COLUMNS = (*TIMER_RATES, "commitLogDiskRatio")
LOAD_COLUMNS = (
    *IDENTITY, "version", "inTps", "outTps", *QUEUES_AND_TIMERS, *TIMER_RATES, "pageCacheLockTimeMills",
    "hour", "commitLogDiskRatio", "brokerActive", *STATE_COLUMNS,
)  # fmt: skip
LOAD_TABLE_COLUMNS = (
    *IDENTITY, "version", "inTps", "outTps", "pageCacheLockTimeMills", "hour", "commitLogDiskRatio",
    "brokerActive", *STATE_COLUMNS,
)  # fmt: skip
TOTALS_COLUMNS = (
    *IDENTITY, "inTotalYest", "outTotalYest", "inTotalToday", "outTotalToday", *STATE_COLUMNS
)  # fmt: skip
FIGURE_COLUMNS = ("brokerAddr", "key", "value")


@command(columns=(*LOAD_COLUMNS, *TOTALS_COLUMNS))
def cluster_list(
    session: Session,
    cluster_name: Annotated[
        str | None, Argument(metavar="CLUSTER", help="Only this cluster."), Flags("-c", "--clusterName")
    ],
    more: Annotated[
        bool,
        Option(
            "-m",
            "--moreStats",
            help="Show the number of messages in and out, yesterday and today, instead of the load.",
        ),
    ] = False,
    interval_seconds: Annotated[
        float | None,
        Option("-i", "--interval", metavar="SECONDS", help="Repeat after this time, until Ctrl-C."),
    ] = None,
    expectation: ExpectedBrokersOption = None,
) -> ResultRows | Iterator[ResultRows]:
    """List the brokers of every cluster with their load and state.

    nsadmin asks each broker separately. inTps and outTps cover the last 10 seconds. hour is the age of the
    oldest message in hours. commitLogDiskRatio is the used part of the disk, from 0 to 1. JSON has more
    columns, for queues and timers. A value that a broker does not report is null. If a broker answers with an
    error, or refuses messages because its disk is full, `reachable` is true and `error` has the reason. For
    example, a 4.9 broker is not ready during its start.

    If no name server lists a broker that was registered before, the broker has a row with the error
    `missing`, and the exit code is 3. With --output mqadmin, a line on stderr names the broker instead. See
    `nsadmin inventory list`.

    Examples:
        # All brokers with their load
        nsadmin clusterList
        # Messages in and out, yesterday and today, of one cluster
        nsadmin clusterList cluster-a -m
        # The busiest broker first, as CSV
        nsadmin clusterList --sort -inTps --columns brokerName,brokerAddr,inTps --output csv
    """

    inventory_keeper = open_expected_inventory(session, "clusterList", expectation)

    def list_brokers() -> ResultRows:
        broker_statuses, missing_brokers = _read_brokers(session, inventory_keeper, cluster_name)
        now_seconds = time()
        refusals = _find_refusals(session, broker_statuses)
        broker_rows = [
            _totals_row(broker_state) if more else _load_row(broker_state, now_seconds)
            for broker_state in broker_statuses
        ]
        broker_rows = [
            {**row, "error": row["error"] or refusals.get(str(row["brokerAddr"]))} for row in broker_rows
        ]
        broker_errors = [
            broker_state.error for broker_state in broker_statuses if broker_state.error is not None
        ]
        failure_notes = (
            [
                f"{len(broker_errors)} of {len(broker_statuses)} brokers did not report their load: "
                "see the column error"
            ]
            if broker_errors
            else []
        )
        if session.output_form is not None:
            # mqadmin's form has no column for errors, so each of them becomes a note.
            failure_notes = [str(broker_error) for broker_error in broker_errors]
        else:
            broker_rows += [_missing_row(missing_broker) for missing_broker in missing_brokers]
        failure_notes += [f"{broker_addr} {refusal}" for broker_addr, refusal in refusals.items()]
        failure_notes += [
            f"{describe_shared_addr(broker_addr, broker_names)}: its figures count once for each name"
            for broker_addr, broker_names in find_shared_addrs(
                BrokerAddrGroup(s.cluster_name, s.broker_name, {s.broker_id: s.broker_addr})
                for s in broker_statuses
            ).items()
        ]
        missing_errors = [
            BrokerMissingError(f"{missing_broker.broker.label} is {describe_missing(missing_broker)}")
            for missing_broker in missing_brokers
        ]
        failure_notes += [str(missing_error) for missing_error in missing_errors]
        row_columns, table_columns = (TOTALS_COLUMNS, None) if more else (LOAD_COLUMNS, LOAD_TABLE_COLUMNS)
        # None stands for the name server, which answered: its list is a result even if every broker is dead.
        all_errors = [None, *broker_errors, *missing_errors]
        return ResultRows(row_columns, broker_rows, all_errors, failure_notes, table_columns)

    if interval_seconds is None:
        return list_brokers()
    if interval_seconds <= 0:
        raise UsageError(f'invalid value "{interval_seconds:g}" for -i: expected a number of seconds above 0')
    return session.repeat_every(interval_seconds, list_brokers)


def _read_brokers(
    session: Session, inventory_keeper: InventoryKeeper, cluster_name: str | None
) -> tuple[list[BrokerStatus], list[MissingBroker]]:
    """Read the status of each listed broker, and find the missing ones of the cluster."""
    clusters = session.admin.clusters
    not_found: NotFound | None = None
    broker_statuses: list[BrokerStatus] = []
    try:
        broker_statuses = clusters.list_broker_status(cluster_name)
    except NotFound as error:
        not_found = error
    missing_brokers = [
        missing_broker
        for missing_broker in inventory_keeper.observe_brokers(clusters.list_latest_groups())
        if missing_broker.broker.may_be_in(cluster_name)
    ]
    if not_found is not None and not missing_brokers:
        raise not_found
    return broker_statuses, missing_brokers


def _find_refusals(session: Session, broker_statuses: Sequence[BrokerStatus]) -> dict[str, str]:
    """The masters that refuse messages, with the reason."""
    disks = observe_disks(
        session.admin,
        [ServerResult(status.broker_addr, status.runtime_info, status.error) for status in broker_statuses],
    )
    return {
        status.broker_addr: disks.refusals[status.broker_addr]
        for status in broker_statuses
        if status.broker_id == MASTER_BROKER_ID and status.broker_addr in disks.refusals
    }


def _missing_row(missing_broker: MissingBroker) -> ResultRow:
    return {
        "clusterName": missing_broker.broker.cluster_name or None,
        "brokerName": missing_broker.broker.broker_name,
        "brokerId": missing_broker.broker.broker_id,
        "brokerAddr": missing_broker.broker.broker_addr or None,
        "reachable": False,
        "error": describe_missing(missing_broker),
    }


def _broker_state_cells(broker_state: BrokerStatus) -> ResultRow:
    error_line = None if broker_state.error is None else error_text(broker_state.error)
    is_starting = broker_state.is_reachable and not is_denied(broker_state.error)
    return {
        "clusterName": broker_state.cluster_name,
        "brokerName": broker_state.broker_name,
        "brokerId": broker_state.broker_id,
        "brokerAddr": broker_state.broker_addr,
        "reachable": broker_state.is_reachable,
        "error": f"not ready: {error_line}" if error_line and is_starting else error_line,
    }


def _load_row(broker_state: BrokerStatus, now_seconds: float) -> ResultRow:
    runtime_info = broker_state.runtime_info
    if runtime_info is None:
        return _broker_state_cells(broker_state)
    oldest_hours = runtime_info.oldest_message_hours(now_seconds)
    return {
        **_broker_state_cells(broker_state),
        **{column_name: runtime_info.get_integer(column_name) for column_name in COUNT_COLUMNS},
        **{column_name: to_millis(runtime_info.get_integer(column_name)) for column_name in WAIT_COLUMNS},
        **{column_name: runtime_info.get_number(column_name) for column_name in FRACTION_COLUMNS},
        "version": runtime_info.version,
        "inTps": runtime_info.get_number("putTps"),
        "outTps": runtime_info.out_tps,
        "hour": None if oldest_hours is None else round(oldest_hours, 2),
        # This is not a column. Only --output mqadmin shows it.
        "emptyStoreHours": _empty_store_hours(runtime_info, now_seconds),
        "brokerActive": runtime_info.is_active,
    }


def _empty_store_hours(runtime_info: RuntimeInfo, now_seconds: float) -> float | None:
    """Return the hours since the time -1 of an empty store; None for a store with messages."""
    earliest_ms = runtime_info.get_integer("earliestMessageTimeStamp")
    return None if earliest_ms is None or earliest_ms >= 0 else (now_seconds * 1000 - earliest_ms) / 3_600_000


def _totals_row(broker_state: BrokerStatus) -> ResultRow:
    runtime_info = broker_state.runtime_info
    if runtime_info is None:
        return _broker_state_cells(broker_state)
    totals_row = dict(_broker_state_cells(broker_state))
    for column_prefix, counter_kind in (("in", "Put"), ("out", "Get")):
        midnight_key = f"msg{counter_kind}TotalTodayMorning"
        totals_row[f"{column_prefix}TotalYest"] = runtime_info.get_difference(
            midnight_key, f"msg{counter_kind}TotalYesterdayMorning"
        )
        totals_row[f"{column_prefix}TotalToday"] = runtime_info.get_difference(
            f"msg{counter_kind}TotalTodayNow", midnight_key
        )
    return totals_row


@command(columns=FIGURE_COLUMNS)
def broker_status(
    session: Session,
    broker: BrokerAddrArgument,
    cluster_name: ClusterMembersOption = None,
) -> ResultRows:
    """Show all runtime figures of a broker, or of every broker of a cluster.

    Examples:
        # All figures of one broker
        nsadmin brokerStatus broker-a-0
        # The figures of its slave
        nsadmin brokerStatus broker-a-0/1
        # Messages per second that each broker receives, over 10 seconds, 1 and 10 minutes
        nsadmin brokerStatus -c cluster-a --filter key=putTps
    """
    exclusive_options.require_one_of("-b ADDR", broker, "-c CLUSTER", cluster_name)
    if broker is not None:
        broker_addrs = [find_broker_addr(session, broker)]
    else:
        broker_groups = session.admin.clusters.get_info().processes_in_cluster(cluster_name)
        broker_addrs = [
            broker_addr
            for broker_group in broker_groups
            for broker_addr in broker_group.broker_addrs.values()
        ]
    info_results = session.brokers.get_runtime_info(broker_addrs)
    figure_rows: list[ResultRow] = [
        {"brokerAddr": broker_addr, "key": figure_key, "value": _mark_time(figure_key, figure_value)}
        for broker_addr, runtime_info, _ in info_results
        if runtime_info is not None
        for figure_key, figure_value in runtime_info.table.items()
    ]
    failure_notes = [
        f"broker {broker_addr}: {error_text(error)}"
        for broker_addr, _, error in info_results
        if error is not None
    ]
    return ResultRows(
        FIGURE_COLUMNS, figure_rows, [info_result.error for info_result in info_results], failure_notes
    )


def _mark_time(figure_key: str, figure_value: str) -> str:
    """Mark times such as `bootTimestamp`, so that a table shows a date."""
    is_time = figure_key.lower().endswith("timestamp") and figure_value.isdecimal()
    return EpochMillisText(figure_value) if is_time else figure_value
