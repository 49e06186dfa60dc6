"""`admin.replication`: the replication state, as masters and slaves report it."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.connection.response_bodies import parse_json_object
from nsadmin.client.results import ServerResult
from nsadmin.client.wire_configs import read_configs

TableItems = Mapping[str, Mapping[Any, Any]]


class TableVersion(NamedTuple):
    """The DataVersion of a table. A slave copies a table only if the versions differ.

    Attributes:
        state_version: Counts changes of the master.
        timestamp_ms: When the table was last changed, in ms since 1970.
        counter: Counts changes of the table.
    """

    state_version: int
    timestamp_ms: int
    counter: int


class ReplicatedTable(NamedTuple):
    """A table of a broker.

    Attributes:
        version: The version; None if the broker does not report one.
        items: Topic or group to its settings; or "topic@group" to queue id to consumer offset.
        mapping_version: For topics of 5.x, the version of the mapping of static topics. A slave copies all
            topics if this version differs, too. Each start of a broker without a mapping makes a new one.
    """

    version: TableVersion | None
    items: TableItems
    mapping_version: TableVersion | None = None


class ReplicatedTables:
    """`admin.replication.tables`: reads whole tables of masters and slaves.

    Each method returns one ServerResult per address, in order.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get_topics(self, broker_addrs: Iterable[str]) -> list[ServerResult[ReplicatedTable]]:
        """Return the topics of brokers: topic to settings (GET_ALL_TOPIC_CONFIG, 21).

        Args:
            broker_addrs: The broker addresses.
        """
        return self._get_tables(
            broker_addrs, RequestCode.GET_ALL_TOPIC_CONFIG, "topicConfigTable", read_configs
        )

    def get_groups(self, broker_addrs: Iterable[str]) -> list[ServerResult[ReplicatedTable]]:
        """Return the groups of brokers: group to settings (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201).

        Args:
            broker_addrs: The broker addresses.
        """
        return self._get_tables(
            broker_addrs, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, "subscriptionGroupTable", read_configs
        )

    def get_offsets(self, broker_addrs: Iterable[str]) -> list[ServerResult[ReplicatedTable]]:
        """Return the consumer offsets of brokers (GET_ALL_CONSUMER_OFFSET, 43).

        Args:
            broker_addrs: The broker addresses.
        """
        return self._get_tables(
            broker_addrs, RequestCode.GET_ALL_CONSUMER_OFFSET, "offsetTable", _read_offsets
        )

    def _get_tables(
        self,
        broker_addrs: Iterable[str],
        request_code: RequestCode,
        member_name: str,
        read_items: Callable[[JsonObject], TableItems],
    ) -> list[ServerResult[ReplicatedTable]]:
        def parse_table(response: RemotingCommand) -> ReplicatedTable:
            json_body = parse_json_object(response)
            return ReplicatedTable(
                _parse_version(json_body.child("dataVersion")),
                read_items(json_body.child(member_name)),
                _parse_version(json_body.child("mappingDataVersion")),
            )

        return self._caller.read_each(broker_addrs, parse_table, request_code)


def _read_offsets(offset_table: JsonObject) -> TableItems:
    return {
        topic_and_group: {queue_id: offsets.integer(queue_id) for queue_id in offsets.members}
        for topic_and_group, offsets in offset_table.sorted_children()
    }


def _parse_version(version: JsonObject) -> TableVersion | None:
    if not version.members:
        return None
    return TableVersion(
        version.integer("stateVersion", 0), version.integer("timestamp", 0), version.integer("counter", 0)
    )


class SlaveLink(NamedTuple):
    """One slave as its master sees it. Offsets are bytes of the commit log; None if not reported.

    Attributes:
        channel_addr: The slave's end of the replication channel, which is not its broker address.
        slave_ack_offset: The offset that the slave acknowledged.
        diff: The bytes that the slave is behind.
        in_sync: Whether the slave counts as in sync.
        transferred_byte_in_second: Bytes per second.
        transfer_from_where: The offset of the next transfer.
    """

    channel_addr: str | None
    slave_ack_offset: int | None
    diff: int | None
    in_sync: bool | None
    transferred_byte_in_second: int | None
    transfer_from_where: int | None


class MasterLink(NamedTuple):
    """The master as a slave sees it. Offsets are bytes of the commit log; None if not reported.

    Attributes:
        master_addr: The master's end of the replication channel.
        max_offset: The end of the slave's commit log.
        master_flush_offset: The offset up to which the master's commit log is on disk.
        transferred_byte_in_second: Bytes per second.
        last_read_timestamp: The last read from the channel, in ms since 1970.
        last_write_timestamp: The last write to the channel, in ms since 1970.
    """

    master_addr: str | None
    max_offset: int | None
    master_flush_offset: int | None
    transferred_byte_in_second: int | None
    last_read_timestamp: int | None
    last_write_timestamp: int | None


class HaStatus(NamedTuple):
    """The replication state of one broker.

    Attributes:
        is_master: Whether the broker is a master.
        commit_log_max_offset: The end of a master's commit log in bytes; None for a slave.
        in_sync_slave_nums: The number of slaves in sync; None for a slave.
        slaves: The slaves of a master; () for a slave.
        master: The master of a slave; None for a master.
    """

    is_master: bool
    commit_log_max_offset: int | None
    in_sync_slave_nums: int | None
    slaves: tuple[SlaveLink, ...]
    master: MasterLink | None


class ReplicationAdmin:
    """`admin.replication`: the replication state of brokers."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    @cached_property
    def tables(self) -> ReplicatedTables:
        """The tables that slaves copy from their master."""
        return ReplicatedTables(self._caller)

    def get_status(self, broker_addrs: Iterable[str]) -> list[ServerResult[HaStatus]]:
        """Return the replication state of brokers (GET_BROKER_HA_STATUS, 907).

        Args:
            broker_addrs: The broker addresses.

        Returns:
            One ServerResult per address, in order. The error is NotSupported for a broker before 5.0.
        """
        return self._caller.read_each(broker_addrs, _parse_ha_status, RequestCode.GET_BROKER_HA_STATUS)


def _parse_ha_status(response: RemotingCommand) -> HaStatus:
    body = parse_json_object(response)
    if "master" not in body:
        raise ValueError("the answer does not contain the role of the broker")
    if not body.flag("master"):
        return HaStatus(False, None, None, (), _parse_master_link(body.child("haClientRuntimeInfo")))
    slave_links = sorted(
        map(_parse_slave_link, body.children("haConnectionInfo")), key=lambda link: link.channel_addr or ""
    )
    return HaStatus(
        True,
        body.integer("masterCommitLogMaxOffset", None),
        body.integer("inSyncSlaveNums", None),
        tuple(slave_links),
        None,
    )


def _parse_slave_link(link: JsonObject) -> SlaveLink:
    return SlaveLink(
        link.text("addr", None),
        link.integer("slaveAckOffset", None),
        link.integer("diff", None),
        link.flag("inSync") if "inSync" in link else None,
        link.integer("transferredByteInSecond", None),
        link.integer("transferFromWhere", None),
    )


def _parse_master_link(link: JsonObject) -> MasterLink:
    return MasterLink(
        link.text("masterAddr", None),
        link.integer("maxOffset", None),
        link.integer("masterFlushOffset", None),
        link.integer("transferredByteInSecond", None),
        link.integer("lastReadTimestamp", None),
        link.integer("lastWriteTimestamp", None),
    )
