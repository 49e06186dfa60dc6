"""Lite topics on a released broker: a parent topic, its group, messages, and a client that reads."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from tests.interop.wire import Connection, ask, frame, json_header

CONFIG = {"enableLmq": "true", "enableMultiDispatch": "true"}
"""What a broker needs for it."""

CREATE_TOPIC, CREATE_GROUP, SEND, HEARTBEAT, SUBSCRIBE, COMMIT = 17, 200, 310, 34, 200071, 15


def create(port: int, topic: str, group: str) -> None:
    """A parent topic whose lite topics live for an hour, and a group that may read it."""
    topic_config = {
        "topic": topic, "defaultTopic": "TBW102", "readQueueNums": "4", "writeQueueNums": "4", "perm": "6",
        "topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false",
        "attributes": "+message.type=LITE,+lite.topic.expiration=60",
    }  # fmt: skip
    assert ask(port, CREATE_TOPIC, topic_config).code == 0
    config = {
        "groupName": group, "consumeEnable": True, "retryQueueNums": 1, "retryMaxTimes": 16,
        "attributes": {"+lite.bind.topic": topic},
    }  # fmt: skip
    assert ask(port, CREATE_GROUP, body=json.dumps(config).encode()).code == 0


def send(port: int, topic: str, lite: str) -> None:
    """One message to a lite topic, as the proxy sends it."""
    properties = f"__LITE_TOPIC\x01{lite}\x02INNER_MULTI_DISPATCH\x01{queue(topic, lite)}\x02"
    header = {
        "a": "tests", "b": topic, "c": "TBW102", "d": "4", "e": "0", "f": "0", "g": "1700000000000", "h": "0",
        "i": properties, "j": "0", "k": "false", "m": "false",
    }  # fmt: skip
    assert ask(port, SEND, header, b"a test").code == 0


def queue(topic: str, lite: str) -> str:
    return f"%LMQ%${topic}${lite}"


def commit(port: int, topic: str, lite: str, group: str, offset: int) -> None:
    header = {
        "consumerGroup": group,
        "topic": queue(topic, lite),
        "queueId": "0",
        "commitOffset": str(offset),
    }
    assert ask(port, COMMIT, header).code == 0


@contextmanager
def client(port: int, topic: str, group: str, client_id: str, lites: list[str]) -> Iterator[None]:
    """A client that is there and subscribes to these lite topics."""
    connection = Connection(port)
    try:
        subscription = {
            "topic": topic, "subString": "*", "expressionType": "TAG", "tagsSet": [], "codeSet": [],
            "subVersion": 1,
        }  # fmt: skip
        consumer = {
            "groupName": group, "consumeType": "CONSUME_POP", "messageModel": "CLUSTERING",
            "consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET", "subscriptionDataSet": [subscription],
            "unitMode": False,
        }  # fmt: skip
        heartbeat = {"clientID": client_id, "consumerDataSet": [consumer], "producerDataSet": []}
        added = {
            "action": "PARTIAL_ADD", "clientId": client_id, "group": group, "topic": topic,
            "liteTopicSet": lites, "version": 1,
        }  # fmt: skip
        _call(connection, HEARTBEAT, heartbeat)
        _call(connection, SUBSCRIBE, {"subscriptionSet": [added]})
        yield
    finally:
        connection.close()


def _call(connection: Connection, code: int, body: object) -> None:
    """The broker's own requests, such as that its clients have changed, are passed over."""
    opaque = 1_000_000 + code
    connection.send(frame(json_header(code, None, opaque), json.dumps(body).encode()))
    while (answer := connection.receive()) is not None:
        if answer.opaque == opaque:
            assert answer.code == 0, answer
            return
    raise ConnectionError("closed instead of answering")
