"""Clients of simulated brokers: the same whoever is asked, with each queue in exactly one hand."""

import json
from collections import Counter
from typing import Any

import pytest

from namesrv_core.fleet.broker_model import BrokerModel, BrokerSpec
from namesrv_core.fleet.request_handlers import handle_request
from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.protocol.object_keys import decode_object_keys

NOW = 1_700_000_000_000
TOPICS = (
    make_topic_config("orders", 4),
    make_topic_config("orders-created", 3),
    make_topic_config("%RETRY%g", 1),
)
READERS = {"orders": ("g",)}


@pytest.fixture
def fleet() -> list[BrokerModel]:
    """Two masters, and a slave of the first, that know each other."""
    models = [
        BrokerModel(BrokerSpec("c", name, broker_id, TOPICS, READERS), f"127.0.0.1:{port}", ["ns:1"], NOW)
        for name, broker_id, port in (("a", 0, 1000), ("b", 0, 1010), ("a", 1, 1020))
    ]
    peers = {(model.spec.broker_name, model.spec.broker_id): model for model in models}
    for model in models:
        model.peer_models = peers
    return models


def ask(model: BrokerModel, code: int, **ext: str) -> RemotingCommand:
    return handle_request(model, build_request(code, ext), NOW)[0]


def ids(model: BrokerModel, group: str = "g") -> list[str]:
    return [i["clientId"] for i in json.loads(ask(model, 203, consumerGroup=group).body)["connectionSet"]]


def info(model: BrokerModel, client: str, stacks: bool = False) -> Any:
    ext = {"consumerGroup": "g", "clientId": client, "jstackEnable": str(stacks).lower()}
    return decode_object_keys(ask(model, 307, **ext).body)


def test_every_broker_knows_the_same_consumers(fleet: list[BrokerModel]) -> None:
    body = json.loads(ask(fleet[0], 203, consumerGroup="g").body)
    assert len(body["connectionSet"]) == 3
    assert (body["consumeType"], body["messageModel"]) == ("CONSUME_PASSIVELY", "CLUSTERING")
    assert sorted(body["subscriptionTable"]) == ["%RETRY%g", "orders"]
    assert ids(fleet[0]) == ids(fleet[1]) == ids(fleet[2])


def test_nobody_is_there_of_a_group_that_reads_nothing(fleet: list[BrokerModel]) -> None:
    answer = ask(fleet[0], 203, consumerGroup="TOOLS_CONSUMER")
    assert (answer.code, answer.remark) == (206, "the consumer group[TOOLS_CONSUMER] not online")
    answer = ask(fleet[0], 307, consumerGroup="g", clientId="x")
    assert (answer.code, answer.remark) == (1, "The Consumer <g> <x> not online")


def test_every_queue_is_in_exactly_one_hand(fleet: list[BrokerModel]) -> None:
    tables = [info(fleet[2], client)["mqTable"] for client in ids(fleet[0])]
    held = Counter((key["topic"], key["brokerName"], key["queueId"]) for table in tables for key, _ in table)
    wanted = {("orders", name, queue) for name in "ab" for queue in range(4)}
    assert held == Counter({*wanted, ("%RETRY%g", "a", 0), ("%RETRY%g", "b", 0)})
    assert max(map(len, tables)) - min(map(len, tables)) <= 2


def test_a_client_is_where_its_group_is_on_the_broker(fleet: list[BrokerModel]) -> None:
    for client in ids(fleet[0]):
        runtime_info = info(fleet[0], client)
        assert runtime_info["properties"]["PROP_NAMESERVER_ADDR"] == "ns:1"
        assert "jstack" not in runtime_info
        for key, item in runtime_info["mqTable"]:
            model = fleet["ab".index(key["brokerName"])]
            ext = {"consumerGroup": "g", "topic": key["topic"], "queueId": str(key["queueId"])}
            assert ask(model, 14, **ext).ext == {"offset": str(item["commitOffset"])}
    assert sum(info(fleet[0], c)["statusTable"]["orders"]["consumeOKTPS"] for c in ids(fleet[0])) > 0
    assert "ConsumeMessageThread_1" in info(fleet[0], ids(fleet[0])[0], stacks=True)["jstack"]


def test_producers_are_those_of_masters(fleet: list[BrokerModel]) -> None:
    body = json.loads(ask(fleet[0], 204, producerGroup="orders-producer").body)
    assert len(body["connectionSet"]) == 2
    for group, model in (("nope", fleet[0]), ("orders-producer", fleet[2])):
        answer = ask(model, 204, producerGroup=group)
        assert (answer.code, answer.remark) == (1, f"the producer group[{group}] not exist")


def test_all_producers_are_told_with_the_inner_ones_of_every_client(fleet: list[BrokerModel]) -> None:
    data = json.loads(ask(fleet[0], 328).body)["data"]
    assert sorted(data) == ["CLIENT_INNER_PRODUCER", "orders-producer"]
    named = {item["clientId"] for item in data["orders-producer"]}
    assert {item["clientId"] for item in data["CLIENT_INNER_PRODUCER"]} == named | set(ids(fleet[0]))
    assert all(item["remoteIP"].startswith("/10.0.") for item in data["orders-producer"])
    assert all(NOW - 30_000 < item["lastUpdateTimestamp"] <= NOW for item in data["orders-producer"])
