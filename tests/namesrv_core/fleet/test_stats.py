"""Queues, readers and counters of a simulated broker, which have to agree with each other."""

from itertools import pairwise
from typing import Any

import pytest

from namesrv_core.fleet.broker_model import BrokerModel, BrokerSpec
from namesrv_core.fleet.request_handlers import handle_request
from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.protocol.command import build_request
from namesrv_core.protocol.object_keys import decode_object_keys

NOW = 1_700_000_000_000
TOPICS = (make_topic_config("orders", 8), make_topic_config("payments", 3))


@pytest.fixture
def model() -> BrokerModel:
    return BrokerModel(BrokerSpec("c", "b", 0, TOPICS, {"orders": ("g",)}), "127.0.0.1:1000", [], NOW)


def ask(model: BrokerModel, code: int, now: int = NOW, **ext: str) -> Any:
    answer = handle_request(model, build_request(code, ext), now)[0]
    return decode_object_keys(answer.body) if answer.code == 0 else (answer.code, answer.remark)


def ends(model: BrokerModel, topic: str, now: int = NOW) -> list[int]:
    return [item["maxOffset"] for _, item in ask(model, 202, now, topic=topic)["offsetTable"]]


def test_queues_add_up_to_what_the_broker_has_stored(model: BrokerModel) -> None:
    total = sum(ends(model, "orders")) + sum(ends(model, "payments"))
    assert total == model.traffic.stored_count(NOW) > 0
    table = ask(model, 202, topic="orders")["offsetTable"]
    assert [key["queueId"] for key, _ in table] == list(range(8))
    assert all(0 <= item["minOffset"] <= item["maxOffset"] for _, item in table)


def test_offsets_never_go_back(model: BrokerModel) -> None:
    end_offsets = [ends(model, "payments", NOW + later) for later in range(0, 3000, 7)]
    assert all(a <= b for before, after in pairwise(end_offsets) for a, b in zip(before, after, strict=True))
    assert end_offsets[0] < end_offsets[-1]


def test_topics_made_later_are_empty_and_others_unknown(model: BrokerModel) -> None:
    assert ends(model, "TBW102") == [0] * 8
    assert ask(model, 202, topic="nope") == (17, "topic[nope] not exist")


def test_a_group_is_a_second_behind(model: BrokerModel) -> None:
    table = ask(model, 208, consumerGroup="g")["offsetTable"]
    assert [item["brokerOffset"] for _, item in table] == ends(model, "orders")
    assert [item["consumerOffset"] for _, item in table] == ends(model, "orders", NOW - 1000)
    assert ask(model, 208, consumerGroup="g", topic="orders")["offsetTable"] == table
    for nothing in (
        ask(model, 208, consumerGroup="nobody"),
        ask(model, 208, consumerGroup="g", topic="payments"),
    ):
        assert nothing == {"consumeTps": 0.0, "offsetTable": {}}


def test_times_are_those_of_the_offsets(model: BrokerModel) -> None:
    spans = ask(model, 303, topic="orders", group="g")["consumeTimeSpanSet"]
    assert [span["messageQueue"]["queueId"] for span in spans] == list(range(8))
    assert {span["delayTime"] for span in spans} == {1000}
    assert all(s["minTimeStamp"] <= s["consumeTimeStamp"] <= s["maxTimeStamp"] == NOW for s in spans)
    assert {
        span["minTimeStamp"] for span in ask(model, 303, topic="TBW102", group="g")["consumeTimeSpanSet"]
    } == {-1}
    assert ask(model, 303, topic="nope", group="g") == (17, "topic[nope] not exist")


def test_counters_are_differences_of_the_same_offsets(model: BrokerModel) -> None:
    counted = ask(model, 315, statsName="TOPIC_PUT_NUMS", statsKey="orders")
    came = sum(ends(model, "orders")) - sum(ends(model, "orders", NOW - 60_000))
    assert (counted["statsMinute"]["sum"], counted["statsMinute"]["tps"]) == (came, came / 60)
    sizes = ask(model, 315, statsName="TOPIC_PUT_SIZE", statsKey="orders")["statsMinute"]
    assert sizes["sum"] == came * model.traffic.message_size
    assert ask(model, 315, statsName="GROUP_GET_NUMS", statsKey="orders@g")["statsDay"]["sum"] >= came


def test_messages_that_a_group_reads_again_are_counted_again(model: BrokerModel) -> None:
    def count(now: int) -> int:
        return int(
            ask(model, 315, now, statsName="GROUP_GET_NUMS", statsKey="orders@g")["statsMinute"]["sum"]
        )

    usual, former = count(NOW), model.offsets.committed_offset(("g", "orders", 1), 8, NOW)
    assert former is not None
    model.offsets.move_offset(("g", "orders", 1), former - 1000, NOW)
    assert count(NOW) == usual
    assert count(NOW + 20_000) == pytest.approx(usual + 1000, rel=0.05)
    assert count(NOW + 3_600_000) == pytest.approx(usual, rel=0.5)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("TOPIC_PUT_NUMS", "TBW102"), ("TOPIC_PUT_NUMS", "orders@g"), ("GROUP_GET_NUMS", "orders@x"),
        ("GROUP_GET_NUMS", "orders"), ("ODD", "orders"),
    ],
)  # fmt: skip
def test_what_was_never_counted(model: BrokerModel, name: str, key: str) -> None:
    assert ask(model, 315, statsName=name, statsKey=key) == (1, f"The stats <{name}> <{key}> not exist")


def test_a_slave_counts_nothing_and_has_its_master_s_queues(model: BrokerModel) -> None:
    slave = BrokerModel(BrokerSpec("c", "b", 1, TOPICS), "127.0.0.1:1001", [], NOW)
    assert ask(slave, 315, statsName="TOPIC_PUT_NUMS", statsKey="orders")[0] == 1
    slave.topic_table.copy_from(model.topic_table.configs, model.topic_table.data_version)
    assert ends(slave, "orders") == ends(model, "orders")


@pytest.mark.parametrize("code", [306, 316])
def test_orders_about_files_are_taken(model: BrokerModel, code: int) -> None:
    assert handle_request(model, build_request(code), NOW)[0].code == 0
