"""Brokers with static topics, that take and tell mappings as released ones do."""

from typing import Any

from namesrv_core.protocol import fastjson
from namesrv_core.protocol.command import RemotingCommand, build_reply
from tests.support.fake_servers import FakeBroker, answer_json
from tests.support.topic_brokers import keyed_by_queue


class StaticBroker(FakeBroker):
    """`topics` are configs with a mappingDetail by name; `ends` are where its own queues end."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.static: dict[str, dict[str, Any]] = {}
        self.ends: dict[int, int] = {}
        self.told: list[dict[str, Any]] = []
        self.handlers |= {351: self._get, 513: self._put, 202: self._stats, 30: self._end}

    def _get(self, asked: RemotingCommand) -> RemotingCommand:
        topic_mapping = self.static.get((asked.ext or {}).get("topic") or "")
        return (
            build_reply(asked, 17, remark="No topic in this broker.")
            if topic_mapping is None
            else answer_json(asked, topic_mapping)
        )

    def _put(self, asked: RemotingCommand) -> RemotingCommand:
        ext: dict[str, Any] = dict(asked.ext or {})
        detail = fastjson.decode_json(asked.body)
        self.told.append({**detail, "force": ext["force"]})
        present = self.static.get(ext["topic"], {"mappingDetail": {"epoch": -1}})["mappingDetail"]["epoch"]
        if detail["epoch"] < present:
            return build_reply(
                asked, 1, remark=f"Can't accept data with small epoch {detail['epoch']} < {present}"
            )
        numbers = {key: int(ext[key]) for key in ("readQueueNums", "writeQueueNums", "perm", "topicSysFlag")}
        self.static[ext["topic"]] = {
            "topicName": ext["topic"],
            "order": ext["order"] == "true",
            "topicFilterType": ext["topicFilterType"],
            "attributes": {},
            **numbers,
            "mappingDetail": detail,
        }
        return build_reply(asked, remark="not set any response code")

    def _end(self, asked: RemotingCommand) -> RemotingCommand:
        queue_id = int((asked.ext or {})["queueId"] or "")
        return build_reply(asked, ext={"offset": str(self.ends.get(queue_id, 0))})

    def _stats(self, asked: RemotingCommand) -> RemotingCommand:
        items = {queue: {"minOffset": 0, "maxOffset": end} for queue, end in self.ends.items()}
        return build_reply(asked, body=b"{" + keyed_by_queue("T", self.name, items) + b"}")
