"""The document of exportConfigs: broker settings and the cluster's size, as in mqadmin's configs.json."""

from collections.abc import Mapping, Sequence
from typing import Any

from nsadmin.client.brokers.clusters import BrokerAddrGroup

ConfigTexts = Mapping[str, str]

EXPORTED_SETTINGS = (
    "brokerClusterName",
    "brokerId",
    "brokerName",
    "brokerRole",
    "fileReservedTime",
    "filterServerNums",
    "flushDiskType",
    "maxMessageSize",
    "messageDelayLevel",
    "msgTraceTopicName",
    "slaveReadEnable",
    "traceOn",
    "traceTopicEnable",
    "useTLS",
    "autoCreateTopicEnable",
    "autoCreateSubscriptionGroup",
)
"""The settings that mqadmin picks (ExportConfigsCommand upstream)."""


def build_configs_document(
    addr_groups: Sequence[BrokerAddrGroup],
    configs_by_name: Mapping[str, ConfigTexts],
    name_server_count: int,
    *,
    all_settings: bool,
) -> dict[str, Any]:
    """The document: settings by broker name, EXPORTED_SETTINGS or all of them, and counts of servers."""
    return {
        "brokerConfigs": {
            n: dict(c) if all_settings else {name: c[name] for name in EXPORTED_SETTINGS if name in c}
            for n, c in configs_by_name.items()
        },
        "clusterScale": {
            "namesrvSize": name_server_count,
            "masterBrokerSize": sum(addr_group.master_addr is not None for addr_group in addr_groups),
            "slaveBrokerSize": sum(len(g.broker_addrs) - (g.master_addr is not None) for g in addr_groups),
        },
    }
