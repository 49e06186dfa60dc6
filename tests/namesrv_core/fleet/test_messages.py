"""Messages that are made when they are asked for: the same one by place, by key and by either id."""

import json
from typing import Any

import pytest

from namesrv_core.fleet.broker_model import BrokerModel, BrokerSpec
from namesrv_core.fleet.request_handlers import handle_request
from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.protocol.stored_messages import StoredMessage, decode_messages

NOW = 1_700_000_000_000
TOPICS = (make_topic_config("orders", 4), make_topic_config("payments", 3), make_topic_config("%RETRY%g", 1))


@pytest.fixture
def model() -> BrokerModel:
    return BrokerModel(BrokerSpec("c", "b", 0, TOPICS, {"orders": ("g",)}, 5), "127.0.0.1:1000", [], NOW)


def ask(model: BrokerModel, code: int, now: int = NOW, **ext: str) -> RemotingCommand:
    return handle_request(model, build_request(code, ext), now)[0]


def messages(answered: RemotingCommand) -> list[StoredMessage]:
    decoded = decode_messages(answered.body)
    assert (answered.code, decoded.unread_bytes) == (0, 0)
    return list(decoded.messages)


def pull(model: BrokerModel, offset: int, **ext: str) -> RemotingCommand:
    wanted: dict[str, Any] = {
        "consumerGroup": "TOOLS_CONSUMER", "topic": "payments", "queueId": "1", "queueOffset": str(offset),
        "maxMsgNums": "32", "sysFlag": "4", "commitOffset": "0", "suspendTimeoutMillis": "0",
        "subVersion": "0",
    }  # fmt: skip
    return ask(model, 11, **{**wanted, **ext})


def bounds(model: BrokerModel) -> tuple[int, int]:
    ends = (ask(model, code, topic="payments", queueId="1").ext or {} for code in (31, 30))
    low, high = (int(end["offset"] or "") for end in ends)
    return low, high


def query(
    model: BrokerModel, key: str, topic: str = "payments", by_id: bool = False, **ext: str
) -> RemotingCommand:
    wanted: dict[str, Any] = {
        "topic": topic, "key": key, "maxNum": "64", "beginTimestamp": "0", "endTimestamp": str(2**63 - 1),
        "_UNIQUE_KEY_QUERY": str(by_id).lower(),
    }  # fmt: skip
    return ask(model, 12, **{**wanted, **ext})


def test_a_page_of_a_queue(model: BrokerModel) -> None:
    _, high = bounds(model)
    answered = pull(model, high - 100)
    page = messages(answered)
    assert [message.queue_offset for message in page] == list(range(high - 100, high - 68))
    assert (answered.ext or {})["nextBeginOffset"] == str(high - 68)
    assert {(message.topic, message.queue_id, message.crc_ok) for message in page} == {("payments", 1, True)}
    times = [message.store_timestamp for message in page]
    assert times == sorted(times)
    assert NOW - 86_400_000 < times[0] <= times[-1] < NOW
    assert {message.store_host for message in page} == {"127.0.0.1:1000"}
    assert all(b"Nobody ever sent this message" in message.body for message in page)


def test_a_time_and_an_offset_agree(model: BrokerModel) -> None:
    _, high = bounds(model)
    [message] = messages(pull(model, high - 5000, maxMsgNums="1"))
    for later, offset in ((0, high - 5000), (1, high - 4999)):
        answer = ask(model, 29, topic="payments", queueId="1", timestamp=str(message.store_timestamp + later))
        assert int((answer.ext or {})["offset"] or "") == offset


def test_the_same_message_by_key_by_id_and_by_its_place(model: BrokerModel) -> None:
    _, high = bounds(model)
    [message] = messages(pull(model, high - 77, maxMsgNums="1"))
    assert messages(query(model, message.keys[0])) == [message]
    assert messages(query(model, message.msg_id, by_id=True)) == [message]
    assert messages(ask(model, 33, topic="payments", offset=str(message.physical_offset))) == [message]
    table = json.loads(ask(model, 28).body)["table"]
    ends = int(table["commitLogMinOffset"]), int(table["commitLogMaxOffset"])
    assert ends[0] <= message.physical_offset < ends[1]


def test_keys_and_ids_of_others_are_not_found(model: BrokerModel) -> None:
    _, high = bounds(model)
    [message] = messages(pull(model, high - 77, maxMsgNums="1"))
    key, stored = message.keys[0], message.store_timestamp
    other = BrokerModel(BrokerSpec("c", "x", 0, TOPICS, {}, 5), "127.0.0.1:1000", [], NOW)
    for answered in (
        query(model, "order-4711"),
        query(model, "payments-999999999999"),
        query(model, "payments-x"),
        query(model, "%RETRY%g-1", topic="%RETRY%g"),
        query(model, key, topic="orders"),
        query(model, message.msg_id, topic="orders", by_id=True),
        query(model, "FF", by_id=True),
        query(other, message.msg_id, by_id=True),
        query(model, key, beginTimestamp=str(stored + 1)),
        query(model, key, endTimestamp=str(stored - 1)),
    ):
        assert (answered.code, answered.body) == (22, b"")


def test_a_place_between_messages_or_behind_them(model: BrokerModel) -> None:
    _, high = bounds(model)
    [message] = messages(pull(model, high - 77, maxMsgNums="1"))
    for place in (message.physical_offset + 1, 2**60, 0):
        answered = ask(model, 33, topic="payments", offset=str(place))
        assert (answered.code, answered.remark) == (1, f"can not find message by the offset, {place}")


def test_offsets_outside_of_a_queue_say_where_it_goes_on(model: BrokerModel) -> None:
    low, high = bounds(model)
    assert 0 < low < high
    for offset, code, following in ((high, 19, high), (high + 9, 21, high), (0, 21, low)):
        answered = pull(model, offset)
        assert (answered.code, answered.body) == (code, b"")
        assert answered.ext == {
            "nextBeginOffset": str(following),
            "minOffset": str(low),
            "maxOffset": str(high),
            "suggestWhichBrokerId": "0",
        }


def test_only_messages_with_a_tag(model: BrokerModel) -> None:
    _, high = bounds(model)
    everything = messages(pull(model, high - 50))
    assert {message.tags for message in everything} == {"created", "updated", "cancelled", "settled"}
    some = messages(pull(model, high - 50, subscription="settled || created"))
    assert some == [message for message in everything if message.tags in ("settled", "created")]
    none = pull(model, high - 50, subscription="nope")
    assert (none.code, (none.ext or {})["nextBeginOffset"]) == (20, str(high - 18))


def test_topics_and_queues_that_are_not_there(model: BrokerModel) -> None:
    assert pull(model, 0, topic="nope").code == 17
    assert pull(model, 0, queueId="3").code == 29
    _, high = bounds(model)
    [message] = messages(pull(model, high - 77, maxMsgNums="1"))
    ask(model, 215, topic="payments")
    assert query(model, message.keys[0]).code == 22
    assert pull(model, 0, topic="TBW102").code == 19
