"""Requests to a released broker as a proxy sends them for its gRPC clients."""

import json
import time

from namesrv_core.protocol.stored_messages import decode_messages
from tests.interop.wire import ask

POP, SEND, SEND_BACK, CREATE_GROUP = 200050, 310, 36, 200


def create_group(port: int, group: str, **more: object) -> None:
    """A consumer group; `more` is properties of SubscriptionGroupConfig."""
    config = {"groupName": group, "consumeEnable": True, **more}
    assert ask(port, CREATE_GROUP, {}, json.dumps(config).encode()).code == 0


def pop(port: int, topic: str, group: str) -> list[bytes]:
    """The bodies of the next messages, also of those that the group gets again."""
    header = {
        "consumerGroup": group, "topic": topic, "queueId": "-1", "maxMsgNums": "32", "initMode": "0",
        "invisibleTime": "60000", "pollTime": "0", "bornTime": str(int(time.time() * 1000)),
        "expType": "TAG", "exp": "*", "order": "false",
    }  # fmt: skip
    return [message.body for message in decode_messages(ask(port, POP, header).body).messages]


def send(port: int, topic: str, body: bytes, unique_key: str) -> str:
    """Send a message; return its offset id."""
    header = {
        "a": "tests", "b": topic, "c": topic, "d": "1", "e": "0", "f": "0", "g": "1700000000000", "h": "0",
        "i": f"UNIQ_KEY\x01{unique_key}\x02", "j": "0", "k": "false", "m": "false",
    }  # fmt: skip
    answer = ask(port, SEND, header, body)
    assert answer.code == 0, answer.remark
    return (answer.ext or {})["msgId"]


def make_dead_letter(port: int, topic: str, group: str, offset_id: str) -> None:
    """Forward a message of the retry topic to the dead-letter topic, after its last attempt."""
    header = {
        "offset": str(int(offset_id[16:], 16)), "group": group, "delayLevel": "-1", "originMsgId": offset_id,
        "originTopic": topic, "unitMode": "false", "maxReconsumeTimes": "0",
    }  # fmt: skip
    answer = ask(port, SEND_BACK, header)
    assert answer.code == 0, answer.remark
