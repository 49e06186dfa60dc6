"""Consumer groups of a simulated broker: read back as they were written, attributes merged."""

import json
from typing import Any

import pytest

from namesrv_core.fleet.broker_model import BrokerModel, BrokerSpec
from namesrv_core.fleet.request_handlers import handle_request
from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.protocol.command import RemotingCommand, build_request

NOW = 1_700_000_000_000


@pytest.fixture
def model() -> BrokerModel:
    topics = (make_topic_config("orders", 8), make_topic_config("%RETRY%g", 1))
    return BrokerModel(BrokerSpec("c", "b", 0, topics, {"orders": ("g",)}), "127.0.0.1:1000", [], NOW)


def ask(
    model: BrokerModel, code: int, ext: dict[str, str] | None = None, body: bytes = b""
) -> RemotingCommand:
    return handle_request(model, build_request(code, ext, body), NOW)[0]


def groups(model: BrokerModel) -> dict[str, Any]:
    answer = ask(model, 201)
    body: dict[str, Any] = json.loads(answer.body)
    assert answer.ext == {"totalGroupNum": str(len(body["subscriptionGroupTable"]))}
    return body


def put(model: BrokerModel, **settings: object) -> RemotingCommand:
    return ask(model, 200, body=json.dumps(settings).encode())


def test_a_broker_has_its_own_groups_and_those_of_its_topics(model: BrokerModel) -> None:
    table = groups(model)["subscriptionGroupTable"]
    assert {"g", "TOOLS_CONSUMER", "SELF_TEST_C_GROUP"} <= table.keys()
    assert table["g"]["groupName"] == "g"
    assert (table["g"]["retryMaxTimes"], table["g"]["groupRetryPolicy"]) == (16, {"type": "CUSTOMIZED"})


def test_a_group_is_replaced_but_for_its_attributes_which_are_merged(model: BrokerModel) -> None:
    before = groups(model)["dataVersion"]["counter"]
    assert put(model, groupName="g", retryMaxTimes=3, attributes={"+a": "1", "+b": "2"}).code == 0
    assert put(model, groupName="g", consumeEnable=False, attributes={"-a": ""}).code == 0
    stored_groups = groups(model)
    group = stored_groups["subscriptionGroupTable"]["g"]
    assert (group["retryMaxTimes"], group["consumeEnable"], group["attributes"]) == (16, False, {"b": "2"})
    assert stored_groups["dataVersion"]["counter"] == before + 2


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({}, 29),
        ({"groupName": " "}, 29),
        ({"groupName": "g" * 121}, 29),
        ({"groupName": "a.b"}, 29),
        ({"groupName": "g", "attributes": {"a": ""}}, 1),
    ],
)
def test_what_is_refused(model: BrokerModel, settings: dict[str, object], code: int) -> None:
    assert put(model, **settings).code == code


def test_a_deleted_group_has_no_clients_and_keeps_its_offsets_unless_told(model: BrokerModel) -> None:
    where = {"consumerGroup": "g", "topic": "orders", "queueId": "0"}
    before = ask(model, 14, where).ext
    assert ask(model, 207, {"groupName": "g", "cleanOffset": "false"}).code == 0
    assert "g" not in groups(model)["subscriptionGroupTable"]
    assert ask(model, 203, {"consumerGroup": "g"}).code == 206
    assert ask(model, 14, where).ext == before
    assert handle_request(model, build_request(14, where), NOW + 60_000)[0].ext == before
    assert ask(model, 207, {"groupName": "g", "cleanOffset": "true"}).code == 0
    assert ask(model, 14, where).code == 22


def test_the_clients_of_a_deleted_group_connect_again_when_it_exists_again(model: BrokerModel) -> None:
    where = {"consumerGroup": "g", "topic": "orders", "queueId": "0"}
    usual = handle_request(model, build_request(14, where), NOW + 60_000)[0].ext
    assert ask(model, 207, {"groupName": "g", "cleanOffset": "false"}).code == 0
    assert put(model, groupName="g").code == 0
    assert ask(model, 203, {"consumerGroup": "g"}).code == 0
    assert handle_request(model, build_request(14, where), NOW + 60_000)[0].ext == usual


def test_a_deleted_group_forgets_its_offsets_if_told(model: BrokerModel) -> None:
    assert ask(model, 207, {"groupName": "g", "cleanOffset": "true"}).code == 0
    assert ask(model, 14, {"consumerGroup": "g", "topic": "orders", "queueId": "0"}).code == 22
    assert json.loads(ask(model, 300, {"topic": "orders"}).body) == {"groupList": []}
