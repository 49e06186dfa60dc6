"""Requests about the broker itself, as one of 5.5.0 answers them."""

import json

from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.protocol.codes import RequestCode
from tests.namesrv_core.fleet.conftest import NOW
from tests.namesrv_core.fleet.test_request_handlers import ask, body, outcome


def test_a_permission_change_registers_everything_with_a_new_version(model: BrokerModel) -> None:
    registration = outcome(model, RequestCode.UPDATE_BROKER_CONFIG, body=b"brokerPermission=4")
    assert (registration.needs_registration, registration.changed_topics) == (True, None)
    assert model.topic_table.data_version == (1, 0, NOW + 1)
    config = ask(model, RequestCode.GET_BROKER_CONFIG)
    assert b"brokerPermission=4\n" in config.body
    assert json.loads((config.ext or {})["version"] or "")["counter"] == 1


def test_system_topics_groups_and_runtime_info(model: BrokerModel) -> None:
    assert len(body(ask(model, RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER))["topicList"]) == 18
    groups = body(ask(model, RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, {"topic": "orders"}))
    assert groups == {"groupList": ["a", "z"]}
    table = body(ask(model, RequestCode.GET_BROKER_RUNTIME_INFO))["table"]
    assert table["brokerVersionDesc"] == "V5_5_0"
    assert "commitLogDiskRatio_/home/rocketmq/store-b-0/commitlog" in table
