"""Where readers of simulated brokers are, and where they go when they are moved."""

from typing import Any

import pytest

from namesrv_core.fleet.broker_model import BrokerModel, BrokerSpec
from namesrv_core.fleet.offsets import LATE_GROUP, group_delay_ms
from namesrv_core.fleet.request_handlers import handle_request
from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.protocol.object_keys import decode_object_keys

NOW = 1_700_000_000_000
TOPICS = (make_topic_config("orders", 4), make_topic_config("payments", 4), make_topic_config("%RETRY%g", 1))
READERS = {"orders": ("g", LATE_GROUP)}


@pytest.fixture
def model() -> BrokerModel:
    return BrokerModel(BrokerSpec("c", "b", 0, TOPICS, READERS), "127.0.0.1:1000", [], NOW)


def ask(model: BrokerModel, code: int, now: int = NOW, **ext: str) -> RemotingCommand:
    return handle_request(model, build_request(code, ext), now)[0]


def offset(model: BrokerModel, code: int, now: int = NOW, **ext: str) -> int:
    answer = ask(model, code, now, **{"topic": "orders", "queueId": "1", **ext})
    return int((answer.ext or {})["offset"] or "") if answer.code == 0 else -answer.code


def at(model: BrokerModel, now: int = NOW, group: str = "g", **ext: str) -> int:
    return offset(model, 14, now, consumerGroup=group, **ext)


def lags(model: BrokerModel, group: str, now: int = NOW) -> dict[tuple[str, int], Any]:
    table = decode_object_keys(ask(model, 208, now, consumerGroup=group).body)["offsetTable"]
    return {(key["topic"], key["queueId"]): item for key, item in table}


def test_a_queue_begins_before_it_ends_and_a_time_is_in_between(model: BrokerModel) -> None:
    low, high = offset(model, 31), offset(model, 30)
    assert 0 <= low < offset(model, 29, timestamp=str(NOW - 3_600_000)) < high
    assert offset(model, 29, timestamp=str(NOW + 2)) == high
    assert offset(model, 30, queueId="9") == offset(model, 31, topic="nope") == 0


def test_groups_read_a_while_behind_and_one_of_them_a_long_while(model: BrokerModel) -> None:
    assert at(model) == offset(model, 29, timestamp=str(NOW - group_delay_ms("g") + 1))
    assert at(model, group=LATE_GROUP) == offset(
        model, 29, timestamp=str(NOW - group_delay_ms(LATE_GROUP) + 1)
    )
    assert group_delay_ms(LATE_GROUP) > 100 * group_delay_ms("g")
    assert at(model, group="nobody") == at(model, topic="payments") == at(model, queueId="9") == -22


def test_what_one_request_says_of_an_offset_the_others_say_too(model: BrokerModel) -> None:
    item = lags(model, "g")["orders", 1]
    assert (item["brokerOffset"], item["consumerOffset"]) == (offset(model, 30), at(model))
    assert lags(model, "g")["%RETRY%g", 0]["brokerOffset"] == 0
    everybody = decode_object_keys(ask(model, 317, isOrder="false").body)
    [mine] = [s for g in everybody["consumeStatsList"] for n, s in g.items() if n == "g"]
    table = {(key["topic"], key["queueId"]): lag for stats in mine for key, lag in stats["offsetTable"]}
    assert table["orders", 1] == {**item, "pullOffset": 0}
    assert everybody["totalDiff"] == sum(
        i["brokerOffset"] - i["consumerOffset"] for n in ("g", LATE_GROUP) for i in lags(model, n).values()
    )
    assert all(
        stats == []
        for groups in decode_object_keys(ask(model, 317, isOrder="true").body)["consumeStatsList"]
        for stats in groups.values()
    )


def test_a_group_that_was_moved_back_pauses_and_catches_up(model: BrokerModel) -> None:
    ago = str(NOW - 3_600_000)
    goal = offset(model, 29, timestamp=ago)
    body = decode_object_keys(ask(model, 222, group="g", topic="orders", timestamp=ago, isForce="true").body)
    assert [item for key, item in body["offsetTable"] if key["queueId"] == 1] == [goal]
    assert at(model) == at(model, NOW + 4000) == goal
    assert lags(model, "g")["orders", 1]["lastTimestamp"] == pytest.approx(NOW - 3_600_000, abs=1000)
    assert goal < at(model, NOW + 6000) < at(model, NOW + 86_400_000)
    # 500 per second of each of its 4 queues.
    assert b'"consumeTps":2000.0' in ask(model, 208, NOW + 80_000, consumerGroup="g").body
    usual = offset(model, 29, NOW + 86_400_000, timestamp=str(NOW + 86_400_001 - group_delay_ms("g")))
    assert at(model, NOW + 86_400_000) == usual


@pytest.mark.parametrize("group", ["g", LATE_GROUP])
def test_a_group_that_was_moved_to_the_end_goes_on_there(model: BrokerModel, group: str) -> None:
    ask(model, 222, group=group, topic="orders", timestamp="-1", isForce="true")
    end = offset(model, 30)
    assert at(model, group=group) == end
    for later in (NOW + 60_000, NOW + 86_400_000):
        assert at(model, later, group) == offset(model, 30, later - group_delay_ms("g")) > end


def test_a_late_group_that_was_moved_forward_a_little_stays_late(model: BrokerModel) -> None:
    lag = offset(model, 30) - at(model, group=LATE_GROUP)
    goal = at(model, group=LATE_GROUP) + lag // 2
    ask(model, 15, consumerGroup=LATE_GROUP, topic="orders", queueId="1", commitOffset=str(goal))
    assert at(model, group=LATE_GROUP) == goal
    later = NOW + 60_000
    arrived = offset(model, 30, later - group_delay_ms("g")) - offset(model, 30)
    assert at(model, later, LATE_GROUP) == goal + arrived > goal


def test_a_group_without_consume_enable_stands_still(model: BrokerModel) -> None:
    later = NOW + 60_000

    def put(enabled: bool, now: int) -> None:
        body = fastjson.encode_json({"groupName": "g", "consumeEnable": enabled})
        assert handle_request(model, build_request(200, {}, body), now)[0].code == 0

    held = at(model)
    put(False, NOW)
    assert (at(model, later), at(model, later, LATE_GROUP) > at(model, NOW, LATE_GROUP)) == (held, True)
    before, soon_after, a_minute_after = (
        decode_object_keys(ask(model, 208, now, consumerGroup="g").body)["consumeTps"]
        for now in (NOW, NOW + 30_000, later)
    )
    assert before > soon_after > a_minute_after == 0
    put(True, later)
    assert at(model, later + 60_000) > held


def test_one_queue_is_moved_to_an_offset_within_its_bounds(model: BrokerModel) -> None:
    whole: dict[str, Any] = {"group": "g", "topic": "orders", "timestamp": "-1", "isForce": "true"}
    others = at(model, queueId="0")
    low = offset(model, 31)
    assert ask(model, 222, **whole, queueId="1", offset=str(low)).code == 0
    assert (at(model), at(model, queueId="0")) == (low, others)
    assert ask(model, 222, **whole, queueId="1").code == 0
    assert at(model) == offset(model, 30)
    refused = ask(model, 222, **whole, queueId="1", offset="99999999999")
    assert refused.code == 1
    assert "not in consume queue range" in (refused.remark or "")
    assert ask(model, 222, **whole, queueId="4").code == 1


def test_offsets_are_committed_by_hand_for_groups_without_clients_too(model: BrokerModel) -> None:
    key: dict[str, Any] = {"consumerGroup": "TOOLS_CONSUMER", "topic": "payments", "queueId": "2"}
    assert ask(model, 15, **key, commitOffset="7").code == 0
    assert at(model, NOW + 60_000, "TOOLS_CONSUMER", topic="payments", queueId="2") == 7
    assert lags(model, "TOOLS_CONSUMER")["payments", 2]["consumerOffset"] == 7
    assert decode_object_keys(ask(model, 300, topic="payments").body) == {"groupList": ["TOOLS_CONSUMER"]}
    ask(model, 215, topic="payments")
    assert decode_object_keys(ask(model, 300, topic="payments").body) == {"groupList": []}


@pytest.mark.parametrize(
    ("ext", "code"), [({"group": "g", "topic": "nope"}, 17), ({"group": "nobody", "topic": "orders"}, 26)]
)
def test_moving_what_is_not_there(model: BrokerModel, ext: dict[str, Any], code: int) -> None:
    assert ask(model, 222, **ext, timestamp="-1", isForce="true").code == code
    wanted: dict[str, Any] = {
        "consumerGroup": ext["group"],
        "topic": ext["topic"],
        "queueId": "0",
        "commitOffset": "1",
    }
    assert ask(model, 15, **wanted).code == code


def test_a_slave_moves_nobody() -> None:
    slave = BrokerModel(BrokerSpec("c", "b", 1, TOPICS, READERS), "127.0.0.1:1001", [], NOW)
    answer = ask(slave, 222, group="g", topic="orders", timestamp="-1", isForce="true")
    assert (answer.code, answer.remark) == (1, "Can not reset offset in slave broker")


def test_all_offsets_are_those_that_were_committed(model: BrokerModel) -> None:
    ask(model, 15, consumerGroup="g", topic="payments", queueId="2", commitOffset="7")
    table = decode_object_keys(ask(model, 43).body)["offsetTable"]
    assert table["payments@g"] == {"2": 7}
    assert {int(queue): value for queue, value in table["orders@g"].items()} == {
        queue: at(model, queueId=str(queue)) for queue in range(4)
    }


def ends(model: BrokerModel, topic: str, queues: int, now: int) -> list[int]:
    return [offset(model, 30, now, topic=topic, queueId=str(queue_id)) for queue_id in range(queues)]


def put_topic(model: BrokerModel, topic: str, reads: int, writes: int) -> None:
    model.put_topic(make_topic_config(topic, reads, write_queues=writes), NOW)


def test_consumers_of_a_topic_read_it_again_when_it_is_restored(model: BrokerModel) -> None:
    committed = at(model)
    assert ask(model, 215, topic="orders").code == 0
    put_topic(model, "orders", 4, 4)
    ask(model, 15, consumerGroup="g", topic="orders", queueId="1", commitOffset=str(committed))
    assert (at(model), at(model, NOW + 5000)) == (committed, committed)
    assert at(model, NOW + 3_600_000) == ends(model, "orders", 4, NOW + 3_599_000)[1] > committed


def test_a_group_keeps_its_offsets_of_queues_that_the_topic_loses(model: BrokerModel) -> None:
    committed = at(model, queueId="3")
    put_topic(model, "orders", 2, 2)
    table = decode_object_keys(ask(model, 43).body)["offsetTable"]
    assert at(model, NOW + 5000, queueId="3") == table["orders@g"]["3"] == committed


def test_producers_follow_routes_and_messages_keep_their_places(model: BrokerModel) -> None:
    put_topic(model, "orders", 4, 0)
    put_topic(model, "payments", 6, 6)
    closed, spread = ends(model, "orders", 4, NOW), ends(model, "payments", 6, NOW)
    assert model.follow_routes(NOW) == ["payments"]
    later = NOW + 60_000
    assert (ends(model, "orders", 4, later), spread[4:]) == (closed, [0, 0])
    assert NOW - 1000 < model.offsets.last_stored_ms("orders", 0, closed[0], later) <= NOW
    assert all(end > before for end, before in zip(ends(model, "payments", 6, later), spread, strict=True))
    put_topic(model, "orders", 4, 2)
    model.follow_routes(later)
    end = later + 60_000
    assert [now > before for now, before in zip(ends(model, "orders", 4, end), closed, strict=True)] == [
        True,
        True,
        False,
        False,
    ]
    total = model.traffic.stored_count(end)
    for number in range(total - 10_000, total, 97):
        topic, (queue_id, queue_offset) = (
            model.offsets.topic_of_message(number),
            model.offsets.place_in_queue(number),
        )
        assert model.offsets.number_of_queue_message(topic, queue_id, queue_offset) == number
        assert model.offsets.number_of_topic_message(topic, model.offsets.index_in_topic(number)) == number


def test_a_broker_with_a_new_topic_gets_the_clients_of_the_topic(model: BrokerModel) -> None:
    other = BrokerModel(BrokerSpec("c", "d", 0, TOPICS[1:2]), "127.0.0.1:2000", [], NOW)
    model.peer_models["d", 0], other.peer_models = other, model.peer_models
    put_topic(other, "orders", 2, 2)
    put_topic(other, "nobody", 2, 2)
    assert ends(other, "orders", 2, NOW + 60_000) == [0, 0]
    assert other.follow_routes(NOW) == ["payments", "orders"]
    assert min(ends(other, "orders", 2, NOW + 60_000)) > at(other, NOW + 30_000) > 0
    assert ends(other, "nobody", 2, NOW + 60_000) == [0, 0]


def test_a_slave_has_the_offsets_of_its_master() -> None:
    readers = {**READERS, "new": ("g",)}
    master = BrokerModel(BrokerSpec("c", "b", 0, TOPICS, READERS), "127.0.0.1:1000", [], NOW)
    slave = BrokerModel(BrokerSpec("c", "b", 1, TOPICS, READERS), "127.0.0.1:1010", [], NOW)
    other_topics = (make_topic_config("new", 2),)
    other = BrokerModel(BrokerSpec("c", "d", 0, other_topics, readers), "127.0.0.1:2000", [], NOW)
    peers = {("b", 0): master, ("b", 1): slave, ("d", 0): other}
    master.peer_models = slave.peer_models = other.peer_models = peers
    put_topic(master, "new", 2, 2)
    ask(master, 15, consumerGroup="g", topic="payments", queueId="2", commitOffset="7")
    master.follow_routes(NOW)
    slave.topic_table.copy_from(master.topic_table.configs, master.topic_table.data_version)
    of_master, of_slave = (
        decode_object_keys(ask(broker, 43, NOW + 60_000).body)["offsetTable"] for broker in (master, slave)
    )
    assert {"new@g", "payments@g"} <= of_master.keys() == of_slave.keys()
