"""Settings of a cluster's brokers and how large it is, as mqadmin's configs.json has them."""

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
    """The settings by broker name, those of KEYS or the `whole` of them; `groups` are counted."""
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
