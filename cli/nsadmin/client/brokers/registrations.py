"""Registrations: what brokers tell name servers of themselves, by what each broker itself says of it."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from namesrv_core.protocol.codes import V5_0_0, Perm, RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.json_bodies import parse_bool
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.read_retry import decode_answer
from nsadmin.client.connection.response_bodies import parse_config_items, parse_json_object
from nsadmin.client.results import ServerResult

WireFields = Mapping[str, Any]
"""A TopicConfig, a DataVersion or a TopicQueueMappingInfo, under the wire's names."""


class BrokerRegistrant(NamedTuple):
    """One broker process and what it registers with.

    `version` is its release as a number (`version_text` names it); `permission` what all its topics may do at
    most, in bits: 4 read, 2 write. `is_compressed` is its setting compressedRegister; with `split_size` it
    registers so many topics at a time, None where it tells all at once. `heartbeat_timeout_millis` and
    `enable_acting_master` are None where its registration leaves them out. `name_servers` is its list of them
    as it stands, which it fetches anew from elsewhere if `fetches_name_servers`. `mappings` are the static
    topics whose queues it has.
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
    name_servers: tuple[str, ...]
    has_dynamic_name_servers: bool
    data_version: WireFields
    topics: Mapping[str, WireFields]
    mappings: Mapping[str, WireFields]

    @property
    def can_read_and_write(self) -> bool:
        """Whether its topics are registered as they are: brokerPermission takes nothing away."""
        return self.permission & (Perm.READ | Perm.WRITE) == Perm.READ | Perm.WRITE


class BrokerRegistrations:
    """`admin.registrations`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get_each(self, broker_addrs: Iterable[str]) -> list[ServerResult[BrokerRegistrant]]:
        """What each of these brokers registers: its topics (GET_ALL_TOPIC_CONFIG) and settings."""
        broker_addrs = list(broker_addrs)
        config_answers = self._caller.send_to_each(broker_addrs, RequestCode.GET_BROKER_CONFIG)
        topic_answers = self._caller.send_to_each(broker_addrs, RequestCode.GET_ALL_TOPIC_CONFIG)
        return [
            _combine_answers(config_answer, topic_answer)
            for config_answer, topic_answer in zip(config_answers, topic_answers, strict=True)
        ]


def _combine_answers(
    config_answer: ServerResult[RemotingCommand], topic_answer: ServerResult[RemotingCommand]
) -> ServerResult[BrokerRegistrant]:
    """One broker, of both its answers."""
    settings_result = decode_answer(config_answer, parse_config_items)
    if settings_result.error is not None or settings_result.result is None:
        return ServerResult(config_answer.addr, None, settings_result.error)
    config_items = settings_result.result
    return decode_answer(topic_answer, lambda response: _parse_registration(config_items, response))


def _parse_registration(config_items: Mapping[str, str], response: RemotingCommand) -> BrokerRegistrant:
    json_body = parse_json_object(response)
    is_version_5 = response.version >= V5_0_0
    has_acting_master = parse_bool(config_items.get("enableSlaveActingMaster", ""))
    return BrokerRegistrant(
        broker_name=config_items["brokerName"],
        broker_addr=f"{config_items['brokerIP1']}:{config_items['listenPort']}",
        cluster_name=config_items["brokerClusterName"],
        ha_server_addr=f"{config_items.get('brokerIP2') or config_items['brokerIP1']}:{config_items['haListenPort']}",
        broker_id=int(config_items["brokerId"]),
        version=response.version,
        permission=int(config_items.get("brokerPermission", "6")),
        is_compressed=parse_bool(config_items.get("compressedRegister", "")),
        split_size=_parse_split_size(config_items) if is_version_5 else None,
        heartbeat_timeout_millis=int(config_items.get("brokerNotActiveTimeoutMillis", "10000"))
        if has_acting_master
        else None,
        enable_acting_master=has_acting_master if is_version_5 else None,
        name_servers=parse_name_servers(config_items),
        has_dynamic_name_servers=has_dynamic_name_servers(config_items),
        data_version=json_body.get("dataVersion") or {},
        topics=json_body.get("topicConfigTable") or {},
        mappings={
            topic: _mapping_info(mapping_detail)
            for topic, mapping_detail in (json_body.get("topicQueueMappingDetailMap") or {}).items()
        },
    )


def parse_name_servers(config_items: Mapping[str, str]) -> tuple[str, ...]:
    """The list of name servers among a broker's settings, as it stands."""
    return tuple(filter(None, config_items.get("namesrvAddr", "").replace(" ", "").split(";")))


def has_dynamic_name_servers(config_items: Mapping[str, str]) -> bool:
    """Whether a broker with these settings asks an address server or the DNS for its list again and again."""
    setting_keys = ("fetchNamesrvAddrByAddressServer", "fetchNameSrvAddrByDnsLookup")
    return any(parse_bool(config_items.get(setting_key, "")) for setting_key in setting_keys)


def _parse_split_size(config_items: Mapping[str, str]) -> int | None:
    return (
        int(config_items.get("splitRegistrationSize", "800"))
        if parse_bool(config_items.get("enableSplitRegistration", ""))
        else None
    )


def _mapping_info(mapping_detail: WireFields) -> WireFields:
    """What is registered of a static topic (`TopicQueueMappingDetail#cloneAsMappingInfo`)."""
    last_items = {
        logical_id: mapping_items[-1]
        for logical_id, mapping_items in (mapping_detail.get("hostedQueues") or {}).items()
        if mapping_items
    }
    return {
        "bname": mapping_detail["bname"],
        "currIdMap": {
            int(logical_id): mapping_item["queueId"]
            for logical_id, mapping_item in last_items.items()
            if mapping_item["bname"] == mapping_detail["bname"]
        },
        "dirty": False,
        "epoch": mapping_detail.get("epoch", 0),
        "scope": "__global__",
        "topic": mapping_detail["topic"],
        "totalQueues": mapping_detail.get("totalQueues", 0),
    }
