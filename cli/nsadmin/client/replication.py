"""Replication: how far slaves are behind their masters, as either side tells it."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command
from nsadmin.client.bodies import json_object
from nsadmin.client.caller import Caller
from nsadmin.client.results import ServerResult
from nsadmin.client.retry import decoded


class SlaveLink(NamedTuple):
    """One slave as its master sees it.

    `addr` is the slave's end of the replication channel, not its broker address. Offsets and `diff` are
    bytes of the commit log.
    """

    addr: str | None
    slave_ack_offset: int | None
    diff: int | None
    in_sync: bool | None
    transferred_byte_in_second: int | None
    transfer_from_where: int | None


class MasterLink(NamedTuple):
    """The master as a slave sees it: offsets in bytes of the commit log, times in ms since 1970."""

    master_addr: str | None
    max_offset: int | None
    master_flush_offset: int | None
    transferred_byte_in_second: int | None
    last_read_timestamp: int | None
    last_write_timestamp: int | None


class HaStatus(NamedTuple):
    """A broker's account: a master has `slaves` and its commit log's end (bytes), a slave has a `master`."""

    is_master: bool
    commit_log_max_offset: int | None
    in_sync_slave_nums: int | None
    slaves: tuple[SlaveLink, ...]
    master: MasterLink | None


class Replication:
    """`admin.replication`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def status(self, addrs: Iterable[str]) -> list[ServerResult[HaStatus]]:
        """GET_BROKER_HA_STATUS of each broker; NotSupported is the error of one before 5.0."""
        answers = self._caller.ask_each(addrs, RequestCode.GET_BROKER_HA_STATUS)
        return [decoded(answer, _status) for answer in answers]


def _status(command: Command) -> HaStatus:
    body = json_object(command)
    if not isinstance(body.get("master"), bool):
        raise ValueError("it does not say whether it is a master")
    if not body["master"]:
        return HaStatus(False, None, None, (), _master(body.get("haClientRuntimeInfo") or {}))
    slaves = sorted(map(_slave, body.get("haConnectionInfo") or ()), key=lambda link: link.addr or "")
    return HaStatus(
        True, body.get("masterCommitLogMaxOffset"), body.get("inSyncSlaveNums"), tuple(slaves), None
    )


def _slave(link: Mapping[str, Any]) -> SlaveLink:
    return SlaveLink(
        link.get("addr"),
        link.get("slaveAckOffset"),
        link.get("diff"),
        link.get("inSync"),
        link.get("transferredByteInSecond"),
        link.get("transferFromWhere"),
    )


def _master(link: Mapping[str, Any]) -> MasterLink:
    return MasterLink(
        link.get("masterAddr"),
        link.get("maxOffset"),
        link.get("masterFlushOffset"),
        link.get("transferredByteInSecond"),
        link.get("lastReadTimestamp"),
        link.get("lastWriteTimestamp"),
    )
