"""Owns clusterList and brokerStatus, which show the state that brokers report."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple

from typer import Argument, Option

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client.brokers.broker_configs import BrokerConfig
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.brokers.clusters import BrokerAddrGroup, BrokerStatus
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.results import NotFound, ServerResult, error_text, is_denied
from nsadmin.client.wall_clock import time
from nsadmin.command_line.broker_expectation import ExpectedBrokersOption, open_expected_inventory
from nsadmin.command_line.broker_targets import (
    ClusterMembersOption,
    ReadBrokerArgument,
    distinct_addrs,
    list_members,
    match_results,
)
from nsadmin.command_line.declarations import Flags, command
from nsadmin.command_line.exclusive_options import refuse_both
from nsadmin.commands.brokers.cluster_counts import COUNT_COLUMNS, list_counts
from nsadmin.commands.columns.brokers import BROKER_COLUMNS, CLUSTER_NAME, TARGET_COLUMNS, VERSION
from nsadmin.commands.columns.servers import ERROR, result_notes
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, EpochMillisText, ResultRows
from nsadmin.console.output.quantities import to_millis
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.broker_disks import judge_disks
from nsadmin.operations.broker_identity import find_twins, list_identity_lines
from nsadmin.operations.inventory.keeper import (
    BrokerMissingError,
    InventoryKeeper,
    describe_missing,
)
from nsadmin.operations.inventory.records import MissingBroker
from nsadmin.operations.release_faults import list_broker_faults


class ListedBroker(NamedTuple):
    """A broker of a name server's list, or one that is missing there. `error` is in words."""

    cluster_name: str | None
    broker_name: str
    broker_id: int
    broker_addr: str | None
    is_reachable: bool
    error: str | None
    hours: float | None = None
    info: RuntimeInfo = RuntimeInfo({})


def _count(key: str, meaning: str) -> Column[ListedBroker]:
    return Column(key, meaning, lambda b: b.info.get_integer(key), wide=True)


def _wait(key: str, meaning: str, *, wide: bool = True) -> Column[ListedBroker]:
    return Column(key, meaning, lambda b: to_millis(b.info.get_integer(key)), wide)


def _number(key: str, meaning: str, *, wide: bool = False) -> Column[ListedBroker]:
    return Column(key, meaning, lambda b: b.info.get_number(key), wide)


IDENTITY = (CLUSTER_NAME, *BROKER_COLUMNS)
STATE_COLUMNS: Columns[ListedBroker] = (
    Column("reachable", "whether the broker answered", lambda b: b.is_reachable),
    ERROR.of(lambda b: b.error),
)
LOAD_COLUMNS: Columns[ListedBroker] = (
    *IDENTITY,
    VERSION.of(lambda b: b.info.version),
    Column("inTps", "messages that arrive per second", lambda b: b.info.get_number("putTps")),
    Column("outTps", "messages that are delivered per second", lambda b: b.info.out_tps),
    _count("sendThreadPoolQueueSize", "requests that wait for a write thread"),
    _wait("sendThreadPoolQueueHeadWaitTimeMills", "ms that the first request in the write queue has waited"),
    _count("pullThreadPoolQueueSize", "requests that wait for a read thread"),
    _wait("pullThreadPoolQueueHeadWaitTimeMills", "ms that the first request in the read queue has waited"),
    _count("ackThreadPoolQueueSize", "requests that wait for an acknowledgement thread"),
    _wait("ackThreadPoolQueueHeadWaitTimeMills", "ms that the first request has waited for acknowledgement"),
    _count("timerReadBehind", "how far the timer is behind, in seconds"),
    _count("timerOffsetBehind", "timed messages that are not taken in yet"),
    _count("timerCongestNum", "timed messages that wait in crowded slots"),
    _number("timerEnqueueTps", "timed messages that are taken in per second", wide=True),
    _number("timerDequeueTps", "timed messages that are delivered per second", wide=True),
    _wait("pageCacheLockTimeMills", "ms for which a write has locked the commit log", wide=False),
    Column(
        "hour",
        "age of the oldest message, in hours",
        lambda b: None if b.hours is None else round(b.hours, 2),
    ),
    _number("commitLogDiskRatio", "used part of the commit log's disk, 0 to 1"),
    Column("brokerActive", "whether the broker serves as a master", lambda b: b.info.is_active),
    *STATE_COLUMNS,
)


def _total(key: str, meaning: str, counter: str, end: str, start: str) -> Column[ListedBroker]:
    return Column(
        key,
        meaning,
        lambda b: b.info.get_difference(f"msg{counter}Total{end}", f"msg{counter}Total{start}"),
    )


TOTALS_COLUMNS: Columns[ListedBroker] = (
    *IDENTITY,
    _total("inTotalYest", "messages that arrived yesterday", "Put", "TodayMorning", "YesterdayMorning"),
    _total(
        "outTotalYest", "messages that were delivered yesterday", "Get", "TodayMorning", "YesterdayMorning"
    ),
    _total("inTotalToday", "messages that arrived since midnight", "Put", "TodayNow", "TodayMorning"),
    _total("outTotalToday", "messages that were delivered since midnight", "Get", "TodayNow", "TodayMorning"),
    *STATE_COLUMNS,
)
FIGURE_COLUMNS: Columns[tuple[BrokerTarget, str, str]] = (
    *TARGET_COLUMNS,
    Column("key", "name of the figure", lambda f: f[1]),
    Column("value", "its value, as the broker reports it", lambda f: _mark_time(f[1], f[2])),
)


@command(
    columns=(*LOAD_COLUMNS, *TOTALS_COLUMNS, *COUNT_COLUMNS), nothing="no broker is registered with {servers}"
)
def cluster_list(
    session: Session,
    cluster_name: Annotated[
        str | None,
        Argument(metavar="CLUSTER", help="Only this cluster. Default, and '*': all clusters."),
        Flags("-c", "--clusterName"),
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
    with_counts: Annotated[
        bool,
        Option(
            "--counts",
            help="Show how many masters, slaves, topics, queues, groups and clients each cluster has.",
        ),
    ] = False,
) -> ResultRows | Iterator[ResultRows]:
    """List the brokers of every cluster with their load and state.

    nsadmin asks each broker separately. inTps and outTps cover the last 10 seconds. hour is the age of the
    oldest message in hours. commitLogDiskRatio is the used part of the disk, from 0 to 1. JSON has more
    columns, for queues and timers. Lines on stderr have the totals of each cluster, unless you choose columns
    or rows. A value that a broker does not report is null. If a broker answers with an
    error, or refuses messages because its disk is full, `reachable` is true and `error` has the reason. For
    example, a 4.9 broker is not ready during its start.

    If no name server lists a broker that was registered before, the broker has a row with the error
    `missing`, and the exit code is 3. With --output mqadmin, a line on stderr names the broker instead. See
    `nsadmin inventory list`.

    Examples:
        # Overview: which brokers are up, with their load and version
        nsadmin clusterList
        # Network, firewall: which brokers and name servers are unreachable from here (reachable is false)
        nsadmin clusterList --columns brokerName,brokerAddr,reachable
        # How many brokers, topics, queues, groups and clients each cluster has
        nsadmin clusterList --counts
        # The busiest broker first, as CSV
        nsadmin clusterList --sort -inTps --columns brokerName,brokerAddr,inTps --output csv
    """

    cluster_name = None if cluster_name == "*" else cluster_name
    inventory_keeper = open_expected_inventory(session, "clusterList", expectation)

    refuse_both("-m", more, "--counts", with_counts)
    if with_counts and session.output_form is not None:
        raise UsageError("mqadmin has no --counts: leave out --output mqadmin")

    selection = session.options.style.selection
    shows_all = not (selection.columns or selection.filters)

    def list_brokers() -> ResultRows:
        if with_counts:
            return list_counts(session.admin, cluster_name)
        statuses, missing_brokers = _read_brokers(session, inventory_keeper, cluster_name)
        now_seconds = time()
        config_results = session.admin.broker_configs.get_each(
            [s.broker_addr for s in statuses if s.is_reachable]
        )
        refusals = _find_refusals(statuses, config_results)
        brokers = [describe_broker(s, refusals.get(s.broker_addr), now_seconds) for s in statuses]
        broker_errors = [s.error for s in statuses if s.error is not None]
        notes = []
        if session.output_form is not None:
            # mqadmin's form has no column for errors, so each of them becomes a note.
            notes = [str(error) for error in broker_errors]
        else:
            if broker_errors:
                failed = f"{len(broker_errors)} of {len(statuses)}"
                notes = [f"{failed} brokers did not report their load: see the column error"]
            brokers += [_describe_missing_broker(m) for m in missing_brokers]
        notes += [f"{addr} {refusal}" for addr, refusal in refusals.items()]
        groups = [
            BrokerAddrGroup(s.cluster_name, s.broker_name, {s.broker_id: s.broker_addr}) for s in statuses
        ]
        notes += list_identity_lines(groups, config_results)
        notes += find_twins(session.admin, groups, inventory_keeper.find_former_addrs())
        notes += list_broker_faults(statuses)
        missing_errors = [
            BrokerMissingError(f"{m.broker.label} is {describe_missing(m)}") for m in missing_brokers
        ]
        notes += map(str, missing_errors)
        # None stands for the name server, which answered: its list is a result even if every broker is dead.
        errors = [None, *broker_errors, *missing_errors]
        rows = ResultRows.from_records(TOTALS_COLUMNS if more else LOAD_COLUMNS, brokers, errors, notes)
        return rows._replace(
            totals={"emptyStoreHours": _list_empty_store_hours(statuses, now_seconds)},
            table_notes=_sum_by_cluster(brokers) if more or shows_all else (),
        )

    if interval_seconds is None:
        return list_brokers()
    if interval_seconds <= 0:
        raise UsageError(f'invalid value "{interval_seconds:g}" for -i: expected a number of seconds above 0')
    return session.repeat_every(interval_seconds, list_brokers)


def _sum_by_cluster(brokers: Sequence[ListedBroker]) -> list[str]:
    """The messages of each cluster, from the brokers that report them, under a table of several."""
    columns = [c for c in TOTALS_COLUMNS if "Total" in c.key]
    columns += [c for c in LOAD_COLUMNS if c.key in ("inTps", "outTps")]
    figures: defaultdict[str, list[list[float]]] = defaultdict(list)
    for broker in brokers:
        values = [v for c in columns if isinstance(v := c.read(broker), int | float)]
        if len(values) == len(columns):
            figures[str(broker.cluster_name)].append(values)
    if sum(map(len, figures.values())) < 2:
        return []
    lines = []
    for cluster_name, rows in figures.items():
        in_yesterday, out_yesterday, in_today, out_today, in_tps, out_tps = map(sum, zip(*rows, strict=True))
        lines.append(
            f"total of {count_noun(len(rows), 'broker')} of {cluster_name}: "
            f"{in_yesterday} messages in and {out_yesterday} out yesterday, "
            f"{in_today} in and {out_today} out today, {in_tps:.2f} in and {out_tps:.2f} out per second now"
        )
    return lines


def _read_brokers(
    session: Session, inventory_keeper: InventoryKeeper, cluster_name: str | None
) -> tuple[list[BrokerStatus], list[MissingBroker]]:
    """Read the status of each listed broker, and find the missing ones of the cluster."""
    clusters = session.admin.clusters
    not_found: NotFound | None = None
    statuses: list[BrokerStatus] = []
    try:
        statuses = clusters.list_broker_status(cluster_name)
    except NotFound as error:
        not_found = error
    missing_brokers = [
        m
        for m in inventory_keeper.observe_brokers(clusters.list_latest_groups())
        if m.broker.may_be_in(cluster_name)
    ]
    if not_found is not None and not missing_brokers:
        raise not_found
    return statuses, missing_brokers


def _find_refusals(
    statuses: Sequence[BrokerStatus], config_results: Sequence[ServerResult[BrokerConfig]]
) -> dict[str, str]:
    """The masters that refuse messages, with the reason."""
    infos = [ServerResult(s.broker_addr, s.runtime_info, s.error) for s in statuses]
    refusals = judge_disks(infos, config_results).refusals
    return {
        s.broker_addr: refusals[s.broker_addr]
        for s in statuses
        if s.broker_id == MASTER_BROKER_ID and s.broker_addr in refusals
    }


def _describe_missing_broker(missing: MissingBroker) -> ListedBroker:
    broker = missing.broker
    return ListedBroker(
        broker.cluster_name or None,
        broker.broker_name,
        broker.broker_id,
        broker.broker_addr or None,
        False,
        describe_missing(missing),
    )


def describe_broker(status: BrokerStatus, refusal: str | None, now_seconds: float) -> ListedBroker:
    """A broker that name servers list; `refusal` is why it refuses messages."""
    info = status.runtime_info or RuntimeInfo({})
    error = None if status.error is None else error_text(status.error)
    if error and status.is_reachable and not is_denied(status.error):
        error = f"not ready: {error}"
    return ListedBroker(
        *status[:4], status.is_reachable, error or refusal, info.oldest_message_hours(now_seconds), info
    )


def _list_empty_store_hours(statuses: Sequence[BrokerStatus], now_seconds: float) -> dict[str, float | None]:
    """By broker that reported its load: hours since the time -1 of an empty store, None for a store in use.

    They are no column: only --output mqadmin shows them.
    """
    earliest = {
        s.broker_addr: s.runtime_info.get_integer("earliestMessageTimeStamp")
        for s in statuses
        if s.runtime_info is not None
    }
    return {
        addr: None if ms is None or ms >= 0 else (now_seconds * 1000 - ms) / 3_600_000
        for addr, ms in earliest.items()
    }


@command(columns=FIGURE_COLUMNS)
def broker_status(
    session: Session,
    broker: ReadBrokerArgument,
    cluster_name: ClusterMembersOption = None,
) -> ResultRows:
    """Show all runtime figures of brokers.

    Examples:
        # Since when each broker runs: when it was started
        nsadmin brokerStatus --filter key=bootTimestamp
        # All figures of one broker
        nsadmin brokerStatus broker-a-0
        # How old the oldest message on each broker is: when it was stored
        nsadmin brokerStatus --filter key=earliestMessageTimeStamp
        # Sizes of the thread pool queues of all brokers: requests that wait
        nsadmin brokerStatus --filter key~QueueSize
        # The figures of its slave
        nsadmin brokerStatus broker-a-0:1
        # Messages per second that each broker receives, over 10 seconds, 1 and 10 minutes
        nsadmin brokerStatus -c cluster-a --filter key=putTps
    """
    targets = list_members(session, broker, cluster_name)
    results = match_results(targets, session.admin.brokers.get_runtime_info(distinct_addrs(targets)))
    figures = [
        (target, *figure)
        for target, (_, info, _) in zip(targets, results, strict=True)
        if info is not None
        for figure in info.table.items()
    ]
    errors = [r.error for r in results]
    return ResultRows.from_records(FIGURE_COLUMNS, figures, errors, result_notes(results))


def _mark_time(figure_key: str, figure_value: str) -> str:
    """Mark times such as `bootTimestamp`, so that a table shows a date."""
    is_time = figure_key.lower().endswith("timestamp") and figure_value.isdecimal()
    return EpochMillisText(figure_value) if is_time else figure_value
