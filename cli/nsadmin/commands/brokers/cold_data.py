"""Owns the commands for cold-data flow control: brokers limit how fast groups read data from the disk."""

from operator import itemgetter
from typing import Annotated, NamedTuple

from typer import Argument

from namesrv_core.errors import RocketMQError
from nsadmin.client import ServerResult
from nsadmin.client.brokers.cold_data import ColdData
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.command_line.broker_targets import (
    BrokerAddrOption,
    ClusterMastersOption,
    ClusterMembersOption,
    ReadBrokerArgument,
    describe_targets,
    distinct_addrs,
    list_members,
    match_results,
    select_masters,
)
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.brokers import TARGET_COLUMNS
from nsadmin.commands.columns.changes import (
    broker_change_columns,
    broker_change_rows,
    forgive_not_found,
    read_change,
)
from nsadmin.commands.columns.consumers import CONSUMER_GROUP
from nsadmin.commands.columns.servers import ERROR
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.output.quantities import to_bytes
from nsadmin.console.output.text_table import cell_text
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import abbreviate_names
from nsadmin.console.session import Session

_SWITCH = "coldDataFlowControlEnable"


class ColdDataLimit(NamedTuple):
    """The limit and the cold reads of a group, or of the whole broker; an error if it did not answer."""

    group: str | None = None
    threshold: int | None = None
    read_bytes: int | None = None
    created_ms: int | None = None
    last_read_ms: int | None = None
    error: RocketMQError | None = None


LIMIT_COLUMNS: Columns[ColdDataLimit] = (
    CONSUMER_GROUP.means("name of the group; null for the whole broker"),
    Column("threshold", "limit of cold data, in bytes per second", lambda r: to_bytes(r.threshold)),
    Column(
        "coldAcc",
        "bytes of cold data that were read in the current second; null for a group without reads",
        lambda r: to_bytes(r.read_bytes),
    ),
    Column(
        "since", "when the broker began to count for this group (UTC)", lambda r: format_utc(r.created_ms)
    ),
    Column("lastColdRead", "when the group last read cold data (UTC)", lambda r: format_utc(r.last_read_ms)),
    ERROR,
)
COLD_DATA_COLUMNS: Columns[tuple[BrokerTarget, ColdDataLimit]] = (
    *TARGET_COLUMNS,
    *of_part(itemgetter(1), LIMIT_COLUMNS),
)
THRESHOLD_CHANGE_COLUMNS = broker_change_columns(
    CONSUMER_GROUP,
    before="the previous limit, in bytes per second; null if the group had no limit",
    after="the new limit, in bytes per second; null if the group has no limit",
)
ColdReadGroupArgument = Annotated[
    str, Argument(metavar="GROUP", help="Name of a group."), Flags("-g", "--consumerGroup")
]


@command(columns=COLD_DATA_COLUMNS)
def get_cold_data_flow_ctr_info(
    session: Session, broker_text: ReadBrokerArgument, cluster_name: ClusterMembersOption = None
) -> ResultRows:
    """Show how much cold data groups may read per second, and how much they read.

    A row without a group shows the whole broker. Other rows show the groups with their own threshold, and the
    groups that read cold data. A line on stderr shows the threshold of all other groups. Brokers slow groups
    down only if coldDataFlowControlEnable=true: a line names the brokers where it is false. Brokers support
    this since 5.1.2.

    Examples:
        # Every broker of a cluster
        nsadmin getColdDataFlowCtrInfo -c cluster-a
        # One broker
        nsadmin getColdDataFlowCtrInfo 127.0.0.1:10911
    """
    targets = list_members(session, broker_text, cluster_name)
    results = match_results(targets, session.admin.cold_data.get_each(distinct_addrs(targets)))
    limits = [
        (target, limit)
        for target, result in zip(targets, results, strict=True)
        for limit in _list_limits(result)
    ]
    thresholds = {r.result.group_threshold for r in results if r.result is not None}
    configs = session.admin.broker_configs.get_each([r.addr for r in results if r.result is not None])
    notes, when = [], ""
    if off := [c.addr for c in configs if c.result and c.result.get(_SWITCH) == "false"]:
        if len(off) == len(configs):
            when = "if they are on, "
            notes.append(f"these limits are off ({_SWITCH}=false): no group is slowed down")
        else:
            brokers = abbreviate_names(off, 5)
            notes.append(
                f"these limits are off on {brokers} ({_SWITCH}=false): no group is slowed down there"
            )
    notes += [
        f"{when}a group without a row may read {cell_text(to_bytes(t))} of cold data per second "
        'from each broker, and all groups together the threshold of the row whose group is "-"'
        for t in sorted(filter(None, thresholds))
    ]
    return ResultRows.from_records(COLD_DATA_COLUMNS, limits, [r.error for r in results], notes)


def _list_limits(result: ServerResult[ColdData]) -> list[ColdDataLimit]:
    cold_data = result.result
    if cold_data is None:
        return [ColdDataLimit(error=result.error)]
    limits = [ColdDataLimit(None, cold_data.global_threshold, cold_data.global_read_bytes)]
    for group in sorted(cold_data.thresholds_by_group.keys() | cold_data.reads_by_group.keys()):
        threshold = cold_data.thresholds_by_group.get(group, cold_data.group_threshold)
        limits.append(ColdDataLimit(group, threshold, *cold_data.reads_by_group.get(group, ())))
    return limits


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
    targets = select_masters(session, broker_text, cluster_name)
    question_start = (
        "Remove the threshold" if threshold_bytes is None else f"Set {threshold_bytes} bytes per second"
    )
    session.confirm_change(f"{question_start} of {group} on {describe_targets(targets)}?")
    cold_data, addrs = session.admin.cold_data, distinct_addrs(targets)
    if session.is_dry_run:
        results = cold_data.plan_change(addrs, group, threshold_bytes)
    elif threshold_bytes is None:
        results = cold_data.remove_threshold(addrs, group)
    else:
        results = cold_data.update_threshold(addrs, group, threshold_bytes)
    done = "dry-run" if session.is_dry_run else "done"
    changes = [read_change(r, done) for r in match_results(targets, results)]
    rows = broker_change_rows(THRESHOLD_CHANGE_COLUMNS, targets, changes, {CONSUMER_GROUP: group})
    return rows._replace(errors=forgive_not_found(rows.errors)) if threshold_bytes is None else rows
