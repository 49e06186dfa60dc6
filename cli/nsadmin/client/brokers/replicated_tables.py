"""The tables that slaves copy from their master: topics, groups and offsets, each with its version."""

from collections.abc import Callable, Iterable, Mapping
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
        items: Topic or group to its settings; or "topic@group" to queue id to committed offset.
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
        """Return the committed offsets of brokers (GET_ALL_CONSUMER_OFFSET, 43).

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
