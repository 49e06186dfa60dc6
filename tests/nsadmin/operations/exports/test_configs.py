"""Settings of brokers, and how large their cluster is."""

from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.operations.exports.configs import build_configs_document

GROUPS = [BrokerAddrGroup("C", "a", {0: "h:1", 1: "h:2", 2: "h:3"}), BrokerAddrGroup("C", "b", {1: "h:4"})]
CONFIG = {"brokerName": "a", "brokerId": "0", "fileReservedTime": "72", "haListenPort": "10912"}


def test_sixteen_settings_or_all_and_a_broker_without_a_master_has_slaves_all_the_same() -> None:
    document = build_configs_document(GROUPS, {"a": CONFIG}, 2, all_settings=False)
    assert document["clusterScale"] == {"namesrvSize": 2, "masterBrokerSize": 1, "slaveBrokerSize": 3}
    assert document["brokerConfigs"] == {"a": {"brokerId": "0", "brokerName": "a", "fileReservedTime": "72"}}
    assert build_configs_document(GROUPS, {"a": CONFIG}, 2, all_settings=True)["brokerConfigs"] == {
        "a": CONFIG
    }
