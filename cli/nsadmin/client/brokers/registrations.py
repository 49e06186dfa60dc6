"""`admin.registrations`: the data that brokers register with on name servers, read from each broker."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from namesrv_core.protocol.codes import V5_0_0, Perm, RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.json_bodies import parse_bool
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import JsonObject, to_integer
from nsadmin.client.connection.response_bodies import decode_answer, parse_config_items, parse_json_object
from nsadmin.client.results import ServerResult
from nsadmin.client.wire_configs import read_configs

WireFields = Mapping[str, Any]
"""A TopicConfig, DataVersion or TopicQueueMappingInfo: wire name to value."""


class BrokerRegistrant(NamedTuple):
    """The registration data of one broker process.

    Attributes:
        broker_name: The broker name.
        broker_addr: The address, "host:port".
        cluster_name: The cluster.
        ha_server_addr: The address for replication.
        broker_id: The id; 0 is the master.
        version: The release as a number.
        permission: The maximum permission of all topics, in bits: 4 read, 2 write.
        is_compressed: The setting compressedRegister.
        split_size: The number of topics per registration request; None if one request has all topics.
        heartbeat_timeout_millis: The heartbeat timeout in ms; None if the registration omits it.
        enable_acting_master: Whether a slave may act as master; None if the registration omits it.
        namesrv_addrs: The configured name servers.
        has_dynamic_name_servers: Whether the broker refreshes that list from an address server or DNS.
        data_version: The DataVersion of the topics.
        topics: Topic to its configuration.
        mappings: Static topic to its queue mapping.
    """

    broker_name: str
    broker_addr: str
    cluster_name: str
    ha_server_addr: str
    broker_id: int
    version: int
    permission: int
    is_compressed: bool
    split_size: int | None
    heartbeat_timeout_millis: int | None
    enable_acting_master: bool | None
    namesrv_addrs: tuple[str, ...]
    has_dynamic_name_servers: bool
    data_version: WireFields
    topics: Mapping[str, WireFields]
    mappings: Mapping[str, WireFields]

    @property
    def can_read_and_write(self) -> bool:
        """Whether brokerPermission allows reads and writes, so that it does not restrict topics."""
        return self.permission & (Perm.READ | Perm.WRITE) == Perm.READ | Perm.WRITE


class BrokerRegistrations:
    """`admin.registrations`: the data that brokers register with."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get_each(self, broker_addrs: Iterable[str]) -> list[ServerResult[BrokerRegistrant]]:
        """Return the registration data of brokers.

        Sends GET_BROKER_CONFIG (26) and GET_ALL_TOPIC_CONFIG (21) to each broker.

        Args:
            broker_addrs: The broker addresses.

        Returns:
            One ServerResult per address, in order.
        """
        broker_addrs = list(broker_addrs)
        config_answers = self._caller.send_to_each(broker_addrs, RequestCode.GET_BROKER_CONFIG)
        topic_answers = self._caller.send_to_each(broker_addrs, RequestCode.GET_ALL_TOPIC_CONFIG)
        return [_combine_answers(answer, a) for answer, a in zip(config_answers, topic_answers, strict=True)]


def _combine_answers(
    config_answer: ServerResult[RemotingCommand], topic_answer: ServerResult[RemotingCommand]
) -> ServerResult[BrokerRegistrant]:
    """Combine the two answers of one broker."""
    settings_result = decode_answer(config_answer, parse_config_items)
    if settings_result.error is not None or settings_result.result is None:
        return ServerResult(config_answer.addr, None, settings_result.error)
    config_items = settings_result.result
    return decode_answer(topic_answer, lambda response: _parse_registration(config_items, response))


def _parse_registration(items: Mapping[str, str], response: RemotingCommand) -> BrokerRegistrant:
    json_body = parse_json_object(response)
    is_version_5 = response.version >= V5_0_0
    has_acting_master = parse_bool(items.get("enableSlaveActingMaster", ""))
    mapping_details = json_body.child("topicQueueMappingDetailMap")
    return BrokerRegistrant(
        broker_name=items["brokerName"],
        broker_addr=f"{items['brokerIP1']}:{items['listenPort']}",
        cluster_name=items["brokerClusterName"],
        ha_server_addr=f"{items.get('brokerIP2') or items['brokerIP1']}:{items['haListenPort']}",
        broker_id=int(items["brokerId"]),
        version=response.version,
        permission=int(items.get("brokerPermission", "6")),
        is_compressed=parse_bool(items.get("compressedRegister", "")),
        split_size=_parse_split_size(items) if is_version_5 else None,
        heartbeat_timeout_millis=int(items.get("brokerNotActiveTimeoutMillis", "10000"))
        if has_acting_master
        else None,
        enable_acting_master=has_acting_master if is_version_5 else None,
        namesrv_addrs=parse_name_servers(items),
        has_dynamic_name_servers=has_dynamic_name_servers(items),
        data_version=json_body.child("dataVersion").members,
        topics=read_configs(json_body.child("topicConfigTable")),
        mappings={topic: _mapping_info(mapping_details.child(topic)) for topic in mapping_details.members},
    )


def parse_name_servers(config_items: Mapping[str, str]) -> tuple[str, ...]:
    """Return the name servers in the settings of a broker."""
    return tuple(filter(None, config_items.get("namesrvAddr", "").replace(" ", "").split(";")))


def has_dynamic_name_servers(config_items: Mapping[str, str]) -> bool:
    """Return whether a broker with these settings refreshes its name servers (address server or DNS)."""
    setting_keys = ("fetchNamesrvAddrByAddressServer", "fetchNameSrvAddrByDnsLookup")
    return any(parse_bool(config_items.get(setting_key, "")) for setting_key in setting_keys)


def _parse_split_size(config_items: Mapping[str, str]) -> int | None:
    return (
        int(config_items.get("splitRegistrationSize", "800"))
        if parse_bool(config_items.get("enableSplitRegistration", ""))
        else None
    )


def _mapping_info(mapping_detail: JsonObject) -> WireFields:
    """Return the registered part of a mapping (`TopicQueueMappingDetail#cloneAsMappingInfo`)."""
    broker_name, hosted_queues = mapping_detail.text("bname"), mapping_detail.child("hostedQueues")
    last_items = {
        to_integer(logical_id, "a logical queue"): mapping_items[-1]
        for logical_id in hosted_queues.members
        if (mapping_items := hosted_queues.children(logical_id))
    }
    return {
        "bname": broker_name,
        "currIdMap": {
            logical_id: mapping_item.integer("queueId")
            for logical_id, mapping_item in last_items.items()
            if mapping_item.text("bname") == broker_name
        },
        "dirty": False,
        "epoch": mapping_detail.integer("epoch", 0),
        "scope": "__global__",
        "topic": mapping_detail.text("topic"),
        "totalQueues": mapping_detail.integer("totalQueues", 0),
    }
