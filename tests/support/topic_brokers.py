"""A broker with settings, topic configs, queues and counters, as plain tables that a test fills."""

from collections.abc import Mapping
from typing import Any

from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from tests.support.fake_servers import FakeBroker, Handler, answer_json


def topic_config(name: str, **more: Any) -> dict[str, Any]:
    """A TopicConfig as it stands in bodies: 8 queues, perm 6."""
    return {
        "attributes": {},
        "order": False,
        "perm": 6,
        "readQueueNums": 8,
        "topicFilterType": "SINGLE_TAG",
        "topicName": name,
        "topicSysFlag": 0,
        "writeQueueNums": 8,
        **more,
    }


def keyed_by_queue(topic: str, broker: str, items: Mapping[int, Mapping[str, int]]) -> bytes:
    """An offsetTable: queue number to its members."""
    pairs = (
        fastjson.encode_json({"topic": topic, "brokerName": broker, "queueId": queue})
        + b":"
        + fastjson.encode_json(item)
        for queue, item in items.items()
    )
    return b'"offsetTable":{' + b",".join(pairs) + b"}"


class TopicBroker(FakeBroker):
    """`configs` are topic configs by name, `items` the settings, `counts` are the sums of (name, key)."""

    def __init__(self, *topics: dict[str, Any], name: str = "broker-a") -> None:
        super().__init__()
        self.name = name
        self.configs = {topic["topicName"]: topic for topic in topics}
        self.items = {
            "brokerRole": "ASYNC_MASTER", "brokerName": name, "brokerId": "0", "fileReservedTime": "72",
        }  # fmt: skip
        self.offsets: dict[str, dict[int, dict[str, int]]] = {}
        self.counts: dict[tuple[str, str], int] = {}
        self.handlers |= {
            RequestCode.GET_TOPIC_CONFIG: self._topic,
            RequestCode.UPDATE_AND_CREATE_TOPIC: self._put_topic,
            RequestCode.GET_BROKER_CONFIG: self._items,
            RequestCode.UPDATE_BROKER_CONFIG: self._put_item,
            RequestCode.GET_TOPIC_STATS_INFO: self._stats,
            RequestCode.VIEW_BROKER_STATS_DATA: self._count,
            RequestCode.CLEAN_UNUSED_TOPIC: build_reply,
            RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE: build_reply,
            RequestCode.DELETE_EXPIRED_COMMITLOG: build_reply,
        }

    def as_slave(self) -> None:
        self.items |= {"brokerRole": "SLAVE", "brokerId": "1"}

    def as_4_9(self) -> None:
        """Cannot be asked for one topic, knows no attributes."""
        del self.handlers[RequestCode.GET_TOPIC_CONFIG]
        self.handlers[RequestCode.GET_ALL_TOPIC_CONFIG] = lambda asked: answer_json(
            asked, {"topicConfigTable": self.configs}
        )

    def answer_lags(self, *queues: tuple[int, int]) -> Handler:
        """GET_CONSUME_STATS with these (broker offset, consumer offset)."""
        items = {at: {"brokerOffset": end, "consumerOffset": read} for at, (end, read) in enumerate(queues)}
        return lambda asked: build_reply(asked, body=b"{" + keyed_by_queue("T", self.name, items) + b"}")

    def _topic(self, asked: RemotingCommand) -> RemotingCommand:
        config = self.configs.get((asked.ext or {}).get("topic") or "")
        return (
            build_reply(asked, 17, remark="No topic in this broker.")
            if config is None
            else answer_json(asked, config)
        )

    def _put_topic(self, asked: RemotingCommand) -> RemotingCommand:
        ext: dict[str, Any] = dict(asked.ext or {})
        name = ext["topic"]
        attributes = dict(self.configs.get(name, {}).get("attributes", {}))
        for part in filter(None, ext.get("attributes", "").split(",")):
            key, _, value = part[1:].partition("=")
            attributes.pop(key, None)
            attributes |= {key: value} if part[0] == "+" else {}
        self.configs[name] = topic_config(
            name,
            attributes=attributes,
            order=ext["order"] == "true",
            topicFilterType=ext["topicFilterType"],
            **{key: int(ext[key]) for key in ("perm", "readQueueNums", "writeQueueNums", "topicSysFlag")},
        )
        return build_reply(asked)

    def _items(self, asked: RemotingCommand) -> RemotingCommand:
        return build_reply(
            asked, body="".join(f"{key}={value}\n" for key, value in self.items.items()).encode()
        )

    def _put_item(self, asked: RemotingCommand) -> RemotingCommand:
        key, _, value = asked.body.decode().rstrip("\n").partition("=")
        if key == "brokerConfigPath":
            return build_reply(asked, 16, remark="Can not update config in black list.")
        if key in self.items and (value.isdigit() or not self.items[key].isdigit()):
            self.items[key] = value
        return build_reply(asked)

    def _stats(self, asked: RemotingCommand) -> RemotingCommand:
        topic = (asked.ext or {}).get("topic") or ""
        if topic not in self.offsets:
            return build_reply(asked, 17, remark=f"topic[{topic}] not exist")
        table = keyed_by_queue(topic, self.name, self.offsets[topic])
        return build_reply(asked, body=b"{" + table + b',"topicPutTps":0.5}')

    def _count(self, asked: RemotingCommand) -> RemotingCommand:
        ext: dict[str, Any] = dict(asked.ext or {})
        counter = self.counts.get((ext["statsName"], ext["statsKey"]))
        if counter is None:
            return build_reply(
                asked, 1, remark=f"The stats <{ext['statsName']}> <{ext['statsKey']}> not exist"
            )
        spans = {"statsMinute": {"tps": counter / 60, "sum": counter}, "statsHour": {"tps": 0.0, "sum": 0}}
        return answer_json(asked, {**spans, "statsDay": {"tps": 0.0, "sum": 0}})
