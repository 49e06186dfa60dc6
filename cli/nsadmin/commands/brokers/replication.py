"""Owns haStatus, which shows the replication lag between masters and slaves."""

from collections.abc import Iterator
from typing import Annotated

from typer import Option

from nsadmin.client.brokers.replication import HaStatus, MasterLink, SlaveLink
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.results import error_text
from nsadmin.command_line import argument_values
from nsadmin.command_line.broker_targets import (
    IDENTITY_COLUMNS,
    BrokerAddrArgument,
    ClusterMembersOption,
    distinct_addrs,
    identity_cells,
    match_results,
    select_members,
)
from nsadmin.command_line.declarations import command
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.quantities import to_bytes
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

HA_COLUMNS = (
    *IDENTITY_COLUMNS,
    "role",
    "commitLogMaxOffset",
    "inSyncSlaveNums",
    "slaveAddr",
    "slaveAckOffset",
    "diff",
    "inSync",
    "transferFromWhere",
    "masterAddr",
    "masterFlushOffset",
    "transferredByteInSecond",
    "lastRead",
    "lastWrite",
    "error",
)
HA_TABLE_COLUMNS = (
    *IDENTITY_COLUMNS, "role", "commitLogMaxOffset", "slaveAddr", "diff", "inSync", "masterAddr",
    "transferredByteInSecond", "lastRead", "error",
)  # fmt: skip


@command(columns=HA_COLUMNS)
def ha_status(
    session: Session,
    broker_text: BrokerAddrArgument,
    cluster_name: ClusterMembersOption = None,
    interval_seconds: Annotated[
        float | None,
        Option("-i", "--interval", metavar="SECONDS", help="Repeat after this time, until Ctrl-C."),
    ] = None,
) -> ResultRows | Iterator[ResultRows]:
    """Show how far slaves are behind, as masters and slaves report it. Needs brokers 5.0 or later.

    A master has a row for each connected slave. In it, diff is the number of bytes of the commit log that the
    slave has not confirmed. The column slaveAddr is the slave's end of the replication channel, not its
    broker address. A master without slaves has one row without a slave. A slave has a row with its master,
    and with the time (UTC) at which it last read from it. JSON has more columns.

    Examples:
        # All masters and slaves of a cluster
        nsadmin haStatus -c cluster-a
        # One master, with all columns
        nsadmin haStatus 127.0.0.1:10911 --output wide
    """
    argument_values.validate_interval(interval_seconds)

    def list_replication() -> ResultRows:
        broker_targets = select_members(session, broker_text, cluster_name)
        status_results = match_results(
            broker_targets, session.admin.replication.get_status(distinct_addrs(broker_targets))
        )
        ha_rows: list[ResultRow] = []
        for broker_target, (_, broker_ha_status, error) in zip(broker_targets, status_results, strict=True):
            if broker_ha_status is None:
                ha_rows.append({**identity_cells(broker_target), "error": error and error_text(error)})
            else:
                ha_rows += _ha_rows(broker_target, broker_ha_status)
        return ResultRows(
            HA_COLUMNS,
            ha_rows,
            [status_result.error for status_result in status_results],
            (),
            HA_TABLE_COLUMNS,
        )

    return (
        list_replication()
        if interval_seconds is None
        else session.repeat_every(interval_seconds, list_replication)
    )


def _ha_rows(broker_target: BrokerTarget, broker_ha_status: HaStatus) -> list[ResultRow]:
    if broker_ha_status.master is not None:
        return [
            {**identity_cells(broker_target), "role": "slave", **_master_link_cells(broker_ha_status.master)}
        ]
    master_cells = {
        **identity_cells(broker_target),
        "role": "master",
        "commitLogMaxOffset": broker_ha_status.commit_log_max_offset,
        "inSyncSlaveNums": broker_ha_status.in_sync_slave_nums,
    }
    return [{**master_cells, **_slave_link_cells(slave_link)} for slave_link in broker_ha_status.slaves] or [
        master_cells
    ]


def _slave_link_cells(slave_link: SlaveLink) -> ResultRow:
    return {
        "slaveAddr": slave_link.channel_addr,
        "slaveAckOffset": slave_link.slave_ack_offset,
        "diff": to_bytes(slave_link.diff),
        "inSync": slave_link.in_sync,
        "transferFromWhere": slave_link.transfer_from_where,
        "transferredByteInSecond": to_bytes(slave_link.transferred_byte_in_second),
    }


def _master_link_cells(master_link: MasterLink) -> ResultRow:
    return {
        "commitLogMaxOffset": master_link.max_offset,
        "masterAddr": master_link.master_addr,
        "masterFlushOffset": master_link.master_flush_offset,
        "transferredByteInSecond": to_bytes(master_link.transferred_byte_in_second),
        "lastRead": format_utc(master_link.last_read_timestamp),
        "lastWrite": format_utc(master_link.last_write_timestamp),
    }
