"""Owns haStatus, which shows the replication lag between masters and slaves."""

from collections.abc import Iterator
from typing import Annotated

from nsadmin.client.replication import HaStatus, MasterLink, SlaveLink
from nsadmin.client.results import error_text
from nsadmin.client.targets import Target
from nsadmin.commands import values
from nsadmin.commands.declared import Option, shows
from nsadmin.commands.targets import (
    IDENTITY,
    AddrWord,
    MembersOption,
    addrs,
    identity,
    matched,
    members_at,
)
from nsadmin.commands.times import utc
from nsadmin.commands.units import size
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = (
    *IDENTITY,
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
IN_TABLE = (
    *IDENTITY, "role", "commitLogMaxOffset", "slaveAddr", "diff", "inSync", "masterAddr",
    "transferredByteInSecond", "lastRead", "error",
)  # fmt: skip


@shows(COLUMNS)
def ha_status(
    session: Session,
    broker: AddrWord,
    cluster: MembersOption = None,
    interval: Annotated[
        float | None, Option("-i", "--interval", metavar="SECONDS", help="Again and again, until Ctrl-C.")
    ] = None,
) -> Rows | Iterator[Rows]:
    """Show how far slaves are behind, as masters and slaves tell it; brokers before 5.0 cannot.

    A master has a row for each slave that is connected: diff is how many bytes of the commit log that slave
    has not confirmed, slaveAddr its end of the replication channel (not its broker address). A master
    without slaves has a row with none. A slave has a row with its master, and when it last read from it,
    in UTC. JSON has more columns.

    Examples:
        # All masters and slaves of a cluster
        nsadmin haStatus -c cluster-a
        # One master, in all columns
        nsadmin haStatus 127.0.0.1:10911 --output wide
    """
    values.seconds("haStatus", interval)

    def once() -> Rows:
        targets = members_at(session, "haStatus", broker, cluster)
        results = matched(targets, session.admin.replication.status(addrs(targets)))
        rows: list[Row] = []
        for target, (_, status, error) in zip(targets, results, strict=True):
            if status is None:
                rows.append({**identity(target), "error": error and error_text(error)})
            else:
                rows += _rows(target, status)
        return Rows(COLUMNS, rows, [result.error for result in results], (), IN_TABLE)

    return once() if interval is None else session.repeat(interval, once)


def _rows(target: Target, status: HaStatus) -> list[Row]:
    if status.master is not None:
        return [{**identity(target), "role": "slave", **_from_slave(status.master)}]
    common = {
        **identity(target),
        "role": "master",
        "commitLogMaxOffset": status.commit_log_max_offset,
        "inSyncSlaveNums": status.in_sync_slave_nums,
    }
    return [{**common, **_from_master(link)} for link in status.slaves] or [common]


def _from_master(link: SlaveLink) -> Row:
    return {
        "slaveAddr": link.addr,
        "slaveAckOffset": link.slave_ack_offset,
        "diff": size(link.diff),
        "inSync": link.in_sync,
        "transferFromWhere": link.transfer_from_where,
        "transferredByteInSecond": size(link.transferred_byte_in_second),
    }


def _from_slave(link: MasterLink) -> Row:
    return {
        "commitLogMaxOffset": link.max_offset,
        "masterAddr": link.master_addr,
        "masterFlushOffset": link.master_flush_offset,
        "transferredByteInSecond": size(link.transferred_byte_in_second),
        "lastRead": utc(link.last_read_timestamp),
        "lastWrite": utc(link.last_write_timestamp),
    }
