"""Owns haStatus, which shows the replication lag between masters and slaves."""

from collections.abc import Iterator
from operator import attrgetter, itemgetter
from typing import Annotated, NamedTuple

from typer import Option

from namesrv_core.errors import RocketMQError
from nsadmin.client import ServerResult
from nsadmin.client.brokers.replication import HaStatus, MasterLink, SlaveLink
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.command_line import argument_values
from nsadmin.command_line.broker_targets import (
    ClusterMembersOption,
    ReadBrokerArgument,
    distinct_addrs,
    list_members,
    match_results,
)
from nsadmin.command_line.declarations import command
from nsadmin.commands.columns.brokers import TARGET_COLUMNS
from nsadmin.commands.columns.servers import ERROR, ROLE
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.output.quantities import to_bytes
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session


class ReplicationLink(NamedTuple):
    """A replication channel as one of its two brokers reports it, or a master without slaves."""

    error: RocketMQError | None = None
    role: str | None = None
    log_end: int | None = None
    in_sync_slaves: int | None = None
    slave: SlaveLink | None = None
    master: MasterLink | None = None

    @property
    def byte_rate(self) -> int | None:
        link = self.slave or self.master
        return link and link.transferred_byte_in_second


LINK_COLUMNS: Columns[ReplicationLink] = (
    ROLE.means("master or slave"),
    Column("commitLogMaxOffset", "end of the commit log, in bytes", lambda r: r.log_end),
    Column(
        "inSyncSlaveNums", "slaves that are close enough to the master", lambda r: r.in_sync_slaves, wide=True
    ),
    *of_part(
        attrgetter("slave"),
        (
            Column(
                "slaveAddr",
                "the slave's end of the replication channel, HOST:PORT",
                lambda s: s.channel_addr,
            ),
            Column(
                "slaveAckOffset",
                "end of the slave's commit log, as the slave confirmed it, in bytes",
                lambda s: s.slave_ack_offset,
                wide=True,
            ),
            Column(
                "diff",
                "bytes of the commit log that the slave has not confirmed",
                lambda s: to_bytes(s.diff),
            ),
            Column("inSync", "whether the slave is close enough to its master", lambda s: s.in_sync),
            Column(
                "transferFromWhere",
                "where the slave began to read in this connection, in bytes",
                lambda s: s.transfer_from_where,
                wide=True,
            ),
        ),
    ),
    *of_part(
        attrgetter("master"),
        (
            Column(
                "masterAddr",
                "the master's end of the replication channel, HOST:PORT",
                lambda m: m.master_addr,
            ),
            Column(
                "masterFlushOffset",
                "flushed end of the master's commit log, in bytes",
                lambda m: m.master_flush_offset,
                wide=True,
            ),
        ),
    ),
    Column(
        "transferredByteInSecond",
        "bytes that are replicated per second",
        lambda r: to_bytes(r.byte_rate),
    ),
    *of_part(
        attrgetter("master"),
        (
            Column(
                "lastRead",
                "when the slave last read from its master (UTC)",
                lambda m: format_utc(m.last_read_timestamp),
            ),
            Column(
                "lastWrite",
                "when the slave last wrote to its master (UTC)",
                lambda m: format_utc(m.last_write_timestamp),
                wide=True,
            ),
        ),
    ),
    ERROR,
)
HA_COLUMNS: Columns[tuple[BrokerTarget, ReplicationLink]] = (
    *TARGET_COLUMNS,
    *of_part(itemgetter(1), LINK_COLUMNS),
)


@command(columns=HA_COLUMNS)
def ha_status(
    session: Session,
    broker_text: ReadBrokerArgument,
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
        # How far each slave is behind its master, in bytes
        nsadmin haStatus
        # One master, with all columns
        nsadmin haStatus 127.0.0.1:10911 --output wide
    """
    argument_values.validate_interval(interval_seconds)

    def list_replication() -> ResultRows:
        targets = list_members(session, broker_text, cluster_name)
        results = match_results(targets, session.admin.replication.get_status(distinct_addrs(targets)))
        links = [
            (target, link)
            for target, result in zip(targets, results, strict=True)
            for link in _list_links(result)
        ]
        return ResultRows.from_records(HA_COLUMNS, links, [r.error for r in results])

    return (
        list_replication()
        if interval_seconds is None
        else session.repeat_every(interval_seconds, list_replication)
    )


def _list_links(result: ServerResult[HaStatus]) -> list[ReplicationLink]:
    status = result.result
    if status is None:
        return [ReplicationLink(result.error)]
    if status.master is not None:
        return [ReplicationLink(None, "slave", status.master.max_offset, master=status.master)]
    log_end, in_sync_slaves = status.commit_log_max_offset, status.in_sync_slave_nums
    return [
        ReplicationLink(None, "master", log_end, in_sync_slaves, slave) for slave in status.slaves or (None,)
    ]
