"""Unmodified mqadmin 5.5.0 against two name servers of ours: what it says, and what is then true."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop import wire
from tests.interop.cluster import (
    NameServer,
    body,
    brokers,
    create_topic,
    permissions,
    route,
    wait_for_topic,
)
from tests.interop.java_parts import JavaBroker, MqAdmin, mqadmin


@pytest.fixture(scope="module")
def admin(
    name_servers: list[NameServer], broker: JavaBroker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MqAdmin]:
    with MqAdmin(tmp_path_factory.mktemp("mqadmin"), [server.address for server in name_servers]) as running:
        yield running


def value(server: NameServer, namespace: str, key: str) -> str | None:
    answer = wire.ask(server.port, 101, {"namespace": namespace, "key": key})
    return (answer.ext or {}).get("value")


def setting(server: NameServer, key: str) -> str:
    lines = wire.ask(server.port, 319).body.decode().splitlines()
    return dict(line.split("=", 1) for line in lines)[key]


def each_says(said: str, pattern: str, servers: list[NameServer]) -> None:
    for server in servers:
        assert pattern.format(server.address) in said


def test_cluster_list_shows_the_broker_and_its_version(admin: MqAdmin, broker: JavaBroker) -> None:
    rows = [line.split() for line in admin("clusterList").splitlines() if line.startswith("DefaultCluster")]
    assert ["DefaultCluster", "broker-a", "0", broker.address, "V5_5_0"] in [row[:5] for row in rows]


def test_a_command_of_its_own_process_says_the_same(
    name_servers: list[NameServer], broker: JavaBroker, tmp_path: Path
) -> None:
    mqadmin_output = mqadmin(["clusterList"], [server.address for server in name_servers], tmp_path)
    assert broker.address in mqadmin_output


def test_topic_list_shows_every_topic_of_the_name_server(
    admin: MqAdmin, name_servers: list[NameServer]
) -> None:
    topics = set(admin("topicList").split())
    assert {"TBW102", "SELF_TEST_TOPIC", "broker-a"} <= topics
    assert topics == set(body(name_servers[0], 206)["topicList"])


def test_topic_list_with_clusters_names_the_cluster_of_each(admin: MqAdmin) -> None:
    assert "DefaultCluster        TBW102" in admin("topicList", "-c")


def test_update_topic_brings_the_topic_to_both_name_servers(
    admin: MqAdmin, name_servers: list[NameServer]
) -> None:
    mqadmin_output = admin("updateTopic", "-c", "DefaultCluster", "-t", "Made", "-r", "5", "-w", "3")
    assert "success" in mqadmin_output
    wait_for_topic(name_servers, "Made")
    for server in name_servers:
        current_route = route(server, "Made")
        assert current_route is not None
        assert [(data["readQueueNums"], data["writeQueueNums"]) for data in current_route["queueDatas"]] == [
            (5, 3)
        ]


def test_topic_route_prints_the_route_as_json(admin: MqAdmin, broker: JavaBroker) -> None:
    create_topic(broker.port, "Routed")
    mqadmin_output = admin("topicRoute", "-t", "Routed")
    shown_route = json.loads(mqadmin_output.replace("0:", '"0":'))
    assert shown_route["brokerDatas"][0]["brokerAddrs"] == {"0": broker.address}
    assert shown_route["queueDatas"][0]["perm"] == 6


def test_topic_route_of_an_unknown_topic_quotes_the_name_servers_remark(admin: MqAdmin) -> None:
    mqadmin_output = admin("topicRoute", "-t", "Nowhere")
    assert "CODE: 17  DESC: No topic route info in name server for the topic: Nowhere" in mqadmin_output


def test_wiping_takes_the_write_permission_on_every_name_server_and_adding_gives_it_back(
    admin: MqAdmin, name_servers: list[NameServer]
) -> None:
    topics = len(permissions(name_servers[0], "broker-a"))
    mqadmin_output = admin("wipeWritePerm", "-b", "broker-a")
    each_says(
        mqadmin_output, f"wipe write perm of broker[broker-a] in name server[{{}}] OK, {topics}", name_servers
    )
    for server in name_servers:
        assert not any(perm & 2 for perm in permissions(server, "broker-a").values())
    mqadmin_output = admin("addWritePerm", "-b", "broker-a")
    each_says(
        mqadmin_output, f"add write perm of broker[broker-a] in name server[{{}}] OK, {topics}", name_servers
    )
    for server in name_servers:
        assert set(permissions(server, "broker-a").values()) == {6}


def test_wiping_an_unknown_broker_touches_nothing(admin: MqAdmin, name_servers: list[NameServer]) -> None:
    mqadmin_output = admin("wipeWritePerm", "-b", "nobody")
    each_says(mqadmin_output, "wipe write perm of broker[nobody] in name server[{}] OK, 0", name_servers)


def test_a_kv_config_is_put_on_and_deleted_from_every_name_server(
    admin: MqAdmin, name_servers: list[NameServer]
) -> None:
    mqadmin_output = admin("updateKvConfig", "-s", "Space", "-k", "key", "-v", "välue")
    assert "create or update kv config to namespace success." in mqadmin_output
    assert [value(server, "Space", "key") for server in name_servers] == ["välue", "välue"]
    assert "delete kv config from namespace success." in admin("deleteKvConfig", "-s", "Space", "-k", "key")
    assert [value(server, "Space", "key") for server in name_servers] == [None, None]


def test_get_namesrv_config_prints_every_setting_of_each_name_server(
    admin: MqAdmin, name_servers: list[NameServer]
) -> None:
    mqadmin_output = admin("getNamesrvConfig")
    each_says(mqadmin_output, "============{}============", name_servers)
    keys = {line.split("=")[0].strip() for line in mqadmin_output.splitlines() if " = " in line}
    assert {"listenPort", "scanNotActiveBrokerInterval", "kvConfigPath", "writeBufferHighWaterMark"} <= keys
    assert len(keys) >= 39


def test_update_namesrv_config_changes_a_setting_on_every_name_server(
    admin: MqAdmin, name_servers: list[NameServer]
) -> None:
    for wanted in ("true", "false"):
        mqadmin_output = admin("updateNamesrvConfig", "-k", "returnOrderTopicConfigToBroker", "-v", wanted)
        assert "update name server config success!" in mqadmin_output
        assert [setting(server, "returnOrderTopicConfigToBroker") for server in name_servers] == [wanted] * 2


def test_update_namesrv_config_may_not_touch_the_black_list(
    admin: MqAdmin, name_servers: list[NameServer]
) -> None:
    before = setting(name_servers[0], "kvConfigPath")
    mqadmin_output = admin("updateNamesrvConfig", "-k", "kvConfigPath", "-v", "/elsewhere")
    assert "CODE: 16  DESC: Can not update config in black list." in mqadmin_output
    assert setting(name_servers[0], "kvConfigPath") == before


def test_an_order_config_is_put_read_and_deleted(admin: MqAdmin, name_servers: list[NameServer]) -> None:
    mqadmin_output = admin("updateOrderConf", "-t", "Ordered", "-m", "put", "-v", "broker-a:4")
    assert "update orderConf success. topic=[Ordered], orderConf=[broker-a:4]" in mqadmin_output
    stored = [value(server, "ORDER_TOPIC_CONFIG", "Ordered") for server in name_servers]
    assert stored == ["broker-a:4", "broker-a:4"]
    assert "orderConf=[broker-a:4]" in admin("updateOrderConf", "-t", "Ordered", "-m", "get")
    assert "delete orderConf success." in admin("updateOrderConf", "-t", "Ordered", "-m", "delete")
    assert value(name_servers[1], "ORDER_TOPIC_CONFIG", "Ordered") is None


def test_broker_status_finds_the_broker_by_its_cluster(admin: MqAdmin, broker: JavaBroker) -> None:
    mqadmin_output = admin("brokerStatus", "-c", "DefaultCluster")
    assert f"{broker.address}" in mqadmin_output
    assert "brokerVersionDesc" in mqadmin_output


def test_delete_topic_takes_it_from_the_broker_and_every_name_server(
    admin: MqAdmin, name_servers: list[NameServer], broker: JavaBroker
) -> None:
    create_topic(broker.port, "Doomed")
    wait_for_topic(name_servers, "Doomed")
    mqadmin_output = admin("deleteTopic", "-t", "Doomed", "-c", "DefaultCluster")
    assert "delete topic [Doomed] from cluster [DefaultCluster] success." in mqadmin_output
    assert "delete topic [Doomed] from NameServer success." in mqadmin_output
    assert [route(server, "Doomed") for server in name_servers] == [None, None]
    assert "broker-a" in brokers(name_servers[0])
