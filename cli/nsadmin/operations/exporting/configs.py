"""The document of exportConfigs: broker settings and the cluster's size, as in mqadmin's configs.json."""

from collections.abc import Mapping, Sequence
from typing import Any

from nsadmin.client.clusters import BrokerGroup

Config = Mapping[str, str]

KEYS = (
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


def document(
    groups: Sequence[BrokerGroup], configs: Mapping[str, Config], name_servers: int, *, whole: bool
) -> dict[str, Any]:
    """The document: settings by broker name, EXPORTED_SETTINGS or all of them, and counts of servers."""
    return {
        "brokerConfigs": {
            name: dict(config) if whole else {key: config[key] for key in KEYS if key in config}
            for name, config in configs.items()
        },
        "clusterScale": {
            "namesrvSize": name_servers,
            "masterBrokerSize": sum(group.master is not None for group in groups),
            "slaveBrokerSize": sum(len(group.broker_addrs) - (group.master is not None) for group in groups),
        },
    }
