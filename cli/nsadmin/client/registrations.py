"""Registrations: what brokers tell name servers of themselves, by what each broker itself says of it."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from namesrv_core.protocol.bodies import as_bool
from namesrv_core.protocol.codes import V5_0_0, Perm, RequestCode
from namesrv_core.protocol.command import Command
from nsadmin.client.bodies import config_items, json_object
from nsadmin.client.caller import Caller
from nsadmin.client.results import ServerResult
from nsadmin.client.retry import decoded

Fields = Mapping[str, Any]
"""A TopicConfig, a DataVersion or a TopicQueueMappingInfo, under the wire's names."""


class Registrant(NamedTuple):
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
    fetches_name_servers: bool
    data_version: Fields
    topics: Mapping[str, Fields]
    mappings: Mapping[str, Fields]

    @property
    def may_read_and_write(self) -> bool:
        """Whether its topics are registered as they are: brokerPermission takes nothing away."""
        return self.permission & (Perm.READ | Perm.WRITE) == Perm.READ | Perm.WRITE


class Registrations:
    """`admin.registrations`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def each(self, addrs: Iterable[str]) -> list[ServerResult[Registrant]]:
        """What each of these brokers registers: its topics (GET_ALL_TOPIC_CONFIG) and settings."""
        addrs = list(addrs)
        configs = self._caller.ask_each(addrs, RequestCode.GET_BROKER_CONFIG)
        tables = self._caller.ask_each(addrs, RequestCode.GET_ALL_TOPIC_CONFIG)
        return [_both(config, table) for config, table in zip(configs, tables, strict=True)]


def _both(config: ServerResult[Command], table: ServerResult[Command]) -> ServerResult[Registrant]:
    """One broker, of both its answers."""
    settings = decoded(config, config_items)
    if settings.error is not None or settings.result is None:
        return ServerResult(config.addr, None, settings.error)
    items = settings.result
    return decoded(table, lambda command: _registrant(items, command))


def _registrant(items: Mapping[str, str], command: Command) -> Registrant:
    body = json_object(command)
    is_new = command.version >= V5_0_0
    acting = as_bool(items.get("enableSlaveActingMaster", ""))
    return Registrant(
        broker_name=items["brokerName"],
        broker_addr=f"{items['brokerIP1']}:{items['listenPort']}",
        cluster_name=items["brokerClusterName"],
        ha_server_addr=f"{items.get('brokerIP2') or items['brokerIP1']}:{items['haListenPort']}",
        broker_id=int(items["brokerId"]),
        version=command.version,
        permission=int(items.get("brokerPermission", "6")),
        is_compressed=as_bool(items.get("compressedRegister", "")),
        split_size=_split_size(items) if is_new else None,
        heartbeat_timeout_millis=int(items.get("brokerNotActiveTimeoutMillis", "10000")) if acting else None,
        enable_acting_master=acting if is_new else None,
        name_servers=name_servers_of(items),
        fetches_name_servers=fetches_name_servers(items),
        data_version=body.get("dataVersion") or {},
        topics=body.get("topicConfigTable") or {},
        mappings={
            topic: _info(detail) for topic, detail in (body.get("topicQueueMappingDetailMap") or {}).items()
        },
    )


def name_servers_of(items: Mapping[str, str]) -> tuple[str, ...]:
    """The list of name servers among a broker's settings, as it stands."""
    return tuple(filter(None, items.get("namesrvAddr", "").replace(" ", "").split(";")))


def fetches_name_servers(items: Mapping[str, str]) -> bool:
    """Whether a broker with these settings asks an address server or the DNS for its list again and again."""
    keys = ("fetchNamesrvAddrByAddressServer", "fetchNameSrvAddrByDnsLookup")
    return any(as_bool(items.get(key, "")) for key in keys)


def _split_size(items: Mapping[str, str]) -> int | None:
    return (
        int(items.get("splitRegistrationSize", "800"))
        if as_bool(items.get("enableSplitRegistration", ""))
        else None
    )


def _info(detail: Fields) -> Fields:
    """What is registered of a static topic (`TopicQueueMappingDetail#cloneAsMappingInfo`)."""
    last = {queue: items[-1] for queue, items in (detail.get("hostedQueues") or {}).items() if items}
    return {
        "bname": detail["bname"],
        "currIdMap": {
            int(queue): item["queueId"] for queue, item in last.items() if item["bname"] == detail["bname"]
        },
        "dirty": False,
        "epoch": detail.get("epoch", 0),
        "scope": "__global__",
        "topic": detail["topic"],
        "totalQueues": detail.get("totalQueues", 0),
    }
