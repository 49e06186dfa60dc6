"""Replication: how far slaves are behind their masters, as either side tells it."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.read_retry import decode_answer
from nsadmin.client.connection.response_bodies import parse_json_object
from nsadmin.client.results import ServerResult


class SlaveLink(NamedTuple):
    """One slave as its master sees it.

    `addr` is the slave's end of the replication channel, not its broker address. Offsets and `diff` are
    bytes of the commit log.
    """

    channel_addr: str | None
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


class ReplicationAdmin:
    """`admin.replication`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get_status(self, broker_addrs: Iterable[str]) -> list[ServerResult[HaStatus]]:
        """GET_BROKER_HA_STATUS of each broker; NotSupported is the error of one before 5.0."""
        answers = self._caller.send_to_each(broker_addrs, RequestCode.GET_BROKER_HA_STATUS)
        return [decode_answer(answer, _parse_ha_status) for answer in answers]


def _parse_ha_status(response: RemotingCommand) -> HaStatus:
    json_body = parse_json_object(response)
    if not isinstance(json_body.get("master"), bool):
        raise ValueError("it does not say whether it is a master")
    if not json_body["master"]:
        return HaStatus(False, None, None, (), _parse_master_link(json_body.get("haClientRuntimeInfo") or {}))
    slave_links = sorted(
        map(_parse_slave_link, json_body.get("haConnectionInfo") or ()),
        key=lambda link: link.channel_addr or "",
    )
    return HaStatus(
        True,
        json_body.get("masterCommitLogMaxOffset"),
        json_body.get("inSyncSlaveNums"),
        tuple(slave_links),
        None,
    )


def _parse_slave_link(link_record: Mapping[str, Any]) -> SlaveLink:
    return SlaveLink(
        link_record.get("addr"),
        link_record.get("slaveAckOffset"),
        link_record.get("diff"),
        link_record.get("inSync"),
        link_record.get("transferredByteInSecond"),
        link_record.get("transferFromWhere"),
    )


def _parse_master_link(link_record: Mapping[str, Any]) -> MasterLink:
    return MasterLink(
        link_record.get("masterAddr"),
        link_record.get("maxOffset"),
        link_record.get("masterFlushOffset"),
        link_record.get("transferredByteInSecond"),
        link_record.get("lastReadTimestamp"),
        link_record.get("lastWriteTimestamp"),
    )
