"""Each request as a broker of 5.5.0 answers it; refusals word for word as captured."""

import json
from typing import Any

import pytest

from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.fleet.request_handlers import HandlerOutcome, handle_request
from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_request
from tests.namesrv_core.fleet.conftest import NOW

CREATE = {
    "topic": "new", "defaultTopic": "TBW102", "readQueueNums": "4", "writeQueueNums": "2", "perm": "6",
    "topicFilterType": "SINGLE_TAG", "order": "false",
}  # fmt: skip


def ask(
    model: BrokerModel, code: int, ext: dict[str, str] | None = None, body: bytes = b""
) -> RemotingCommand:
    return handle_request(model, build_request(code, ext, body), NOW + 1)[0]


def outcome(
    model: BrokerModel, code: int, ext: dict[str, str] | None = None, body: bytes = b""
) -> HandlerOutcome:
    return handle_request(model, build_request(code, ext, body), NOW + 1)[1]


def body(command: RemotingCommand) -> Any:
    assert command.code == 0
    return json.loads(command.body)


@pytest.mark.parametrize(
    ("code", "ext", "text", "expected"),
    [
        (9999, {}, b"", (3, " request type 9999 not supported")),
        (513, {}, b"", (3, "simulated brokers do not support UPDATE_AND_CREATE_STATIC_TOPIC (513)")),
        (310, {}, b"x", (3, "simulated brokers take no messages")),
        (351, {"topic": "nope"}, b"", (17, "No topic in this broker. topic: nope")),
        (215, {}, b"", (29, "The specified topic is blank.")),
        (215, {"topic": "TBW102"}, b"", (29, "The topic[TBW102] is conflict with system topic.")),
        (215, {"topic": "nope"}, b"", (0, None)),
        (17, CREATE, b"", (0, "not set any response code")),
        (17, {**CREATE, "topic": "b"}, b"", (29, "The topic[b] is conflict with system topic.")),
        (17, {**CREATE, "topicFilterType": "x"}, b"", (1, "topicFilterType = [x] value invalid")),
        (17, {**CREATE, "attributes": "+foo=FIFO"}, b"", (1, "unsupported key: foo")),
        (25, {}, b"brokerConfigPath=/x\n", (16, "Can not update config in black list.")),
        (25, {}, b"traceOn=\\u12", (1, None)),
        (21, {"topicSeq": "x", "maxTopicNum": "1"}, b"", (1, None)),
        (905, {"minBrokerId": "0"}, b"", (0, None)),
    ],
)
def test_code_and_remark(
    model: BrokerModel, code: int, ext: dict[str, str], text: bytes, expected: tuple[int, str | None]
) -> None:
    answer = ask(model, code, ext, text)
    assert answer.code == expected[0]
    if expected[1] is not None:
        assert answer.remark == expected[1]


def test_creating_a_topic_registers_it_alone(model: BrokerModel) -> None:
    registration = outcome(
        model, RequestCode.UPDATE_AND_CREATE_TOPIC, {**CREATE, "attributes": "+message.type=FIFO"}
    )
    assert (registration.needs_registration, registration.changed_topics) == (True, ("new",))
    config = body(ask(model, RequestCode.GET_TOPIC_CONFIG, {"topic": "new"}))
    assert (config["readQueueNums"], config["writeQueueNums"]) == (4, 2)
    assert config["attributes"] == {"message.type": "FIFO"}


def test_the_same_topic_again_registers_nothing(model: BrokerModel) -> None:
    assert outcome(model, RequestCode.UPDATE_AND_CREATE_TOPIC, CREATE).needs_registration
    assert not outcome(model, RequestCode.UPDATE_AND_CREATE_TOPIC, CREATE).needs_registration


def test_deleting_a_topic_registers_nothing_but_moves_the_version_on(model: BrokerModel) -> None:
    assert not outcome(model, RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "orders"}).needs_registration
    assert model.topic_table.data_version == (1, 0, NOW + 1)
    assert ask(model, RequestCode.GET_TOPIC_CONFIG, {"topic": "orders"}).code == 17
    assert ask(model, RequestCode.GET_TOPIC_STATS_INFO, {"topic": "orders"}).code == 17


def test_all_topics_in_one_answer_or_in_pages(model: BrokerModel) -> None:
    whole = ask(model, RequestCode.GET_ALL_TOPIC_CONFIG)
    names = sorted(body(whole)["topicConfigTable"])
    assert whole.ext == {"totalTopicNum": "17"}
    version = json.dumps(body(whole)["dataVersion"])
    pages: list[str] = []
    while len(pages) < 17:
        ext = {"topicSeq": str(len(pages)), "maxTopicNum": "7", "dataVersion": version}
        pages += body(ask(model, RequestCode.GET_ALL_TOPIC_CONFIG, ext))["topicConfigTable"]
    assert pages == names


def test_pages_begin_anew_when_the_table_has_changed(model: BrokerModel) -> None:
    ext = {"topicSeq": "7", "maxTopicNum": "7", "dataVersion": '{"counter":9,"stateVersion":0,"timestamp":1}'}
    page = body(ask(model, RequestCode.GET_ALL_TOPIC_CONFIG, ext))["topicConfigTable"]
    assert list(page) == sorted(model.topic_table.configs)[:7]


def test_a_list_of_topics(model: BrokerModel) -> None:
    fifo = {**make_topic_config("new", 4), "attributes": {"+message.type": "FIFO"}}
    listed = json.dumps({"topicConfigList": [fifo, make_topic_config("payments", 2)]}).encode()
    answer = outcome(model, RequestCode.UPDATE_AND_CREATE_TOPIC_LIST, {}, listed)
    assert (answer.needs_registration, answer.changed_topics) == (True, ("new", "payments"))
    assert model.topic_table.configs["new"]["attributes"] == {"message.type": "FIFO"}
    assert model.topic_table.configs["payments"]["readQueueNums"] == 2


def test_a_list_with_one_topic_that_is_there_does_nothing_at_all(model: BrokerModel) -> None:
    listed = json.dumps(
        {"topicConfigList": [make_topic_config("new", 4), make_topic_config("payments", 8)]}
    ).encode()
    assert ask(model, 18, {}, listed).code == 0
    assert "new" not in model.topic_table.configs


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (make_topic_config("TBW102", 1), (29, "The topic[TBW102] is conflict with system topic.")),
        ({**make_topic_config("new", 1), "attributes": {"+foo": "1"}}, (1, "unsupported key: foo")),
    ],
)
def test_a_list_that_is_refused(model: BrokerModel, config: Any, expected: tuple[int, str]) -> None:
    answered = ask(model, 18, {}, json.dumps({"topicConfigList": [config]}).encode())
    assert (answered.code, answered.remark) == expected


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


def test_a_list_of_groups(model: BrokerModel) -> None:
    listed = json.dumps({"groupConfigList": [{"groupName": "g", "retryMaxTimes": 3}, {"groupName": "h"}]})
    assert ask(model, 225, {}, listed.encode()).code == 0
    assert model.group_table.configs["g"]["retryMaxTimes"] == 3
    assert "h" in model.group_table.configs
