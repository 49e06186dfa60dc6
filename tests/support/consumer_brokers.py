"""A broker with consumer groups, their offsets and clients, as far as commands about them ask for it."""

import json
from collections.abc import Mapping
from typing import Any

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from tests.support.fake_servers import FakeBroker, answer_json

Queue = tuple[str, int]
"""Topic and queue id."""


def format_queue_map(name: str, table: Mapping[Queue, Any]) -> str:
    """A map keyed by message queues, as fastjson writes it."""
    items = (
        json.dumps({"brokerName": name, "queueId": queue, "topic": topic}) + ":" + json.dumps(value)
        for (topic, queue), value in table.items()
    )
    return "{" + ",".join(items) + "}"


class ConsumerBroker(FakeBroker):
    """`ends` has the offsets at which each queue begins and ends, `offsets` what groups have committed.

    Resets that no client has heeded yet are in `pending`: the broker then ignores what is committed.
    """

    def __init__(self, name: str = "broker-a") -> None:
        self.name = name
        self.ends: dict[Queue, tuple[int, int]] = {("T", 0): (0, 100), ("T", 1): (10, 50)}
        self.configs: dict[str, dict[str, Any]] = {"G": {"groupName": "G", "retryMaxTimes": 3}}
        self.offsets: dict[tuple[str, str, int], int] = {("G", "T", 0): 90}
        self.pending: set[tuple[str, str, int]] = set()
        self.clients: dict[str, list[str]] = {}
        self.message_model = "CLUSTERING"
        self.expressions: dict[str, str] = {"T": "*"}
        self.running: dict[str, str] = {}
        self.producers: dict[str, list[str]] = {}
        self.producer_version = 407
        self.forbidden: dict[str, dict[str, int]] = {}
        """Group to topic to bits: 4 means that the group may not read the topic."""
        self.properties = {"brokerId": "0", "useServerSideResetOffset": "true"}
        super().__init__()
        code = RequestCode
        self.handlers.update(
            {
                code.QUERY_CONSUMER_OFFSET: self._query,
                code.UPDATE_CONSUMER_OFFSET: self._commit,
                code.GET_BROKER_CONFIG: self._properties,
                code.SEARCH_OFFSET_BY_TIMESTAMP: lambda asked: self._end(asked, None),
                code.GET_MAX_OFFSET: lambda asked: self._end(asked, 1),
                code.GET_MIN_OFFSET: lambda asked: self._end(asked, 0),
                code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: self._update_group,
                code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: lambda asked: answer_json(
                    asked, {"subscriptionGroupTable": self.configs, "forbiddenTable": self.forbidden}
                ),
                code.GET_CONSUMER_CONNECTION_LIST: self._consumers,
                code.GET_PRODUCER_CONNECTION_LIST: self._producers,
                code.DELETE_SUBSCRIPTIONGROUP: self._delete_group,
                code.UPDATE_AND_GET_GROUP_FORBIDDEN: self._forbid,
                code.GET_CONSUME_STATS: self._stats,
                code.GET_ALL_CONSUMER_OFFSET: self._all_offsets,
                code.INVOKE_BROKER_TO_RESET_OFFSET: self._reset,
                code.GET_CONSUMER_RUNNING_INFO: self._running_info,
                code.GET_BROKER_CONSUME_STATS: self._all_stats,
                code.GET_ALL_PRODUCER_INFO: self._all_producers,
            }
        )

    def _properties(self, asked: RemotingCommand) -> RemotingCommand:
        return build_reply(
            asked, body="".join(f"{key}={value}\n" for key, value in self.properties.items()).encode()
        )

    def _query(self, asked: RemotingCommand) -> RemotingCommand:
        ext = dict(asked.ext or {})
        offset = self.offsets.get((ext["consumerGroup"] or "", ext["topic"] or "", int(ext["queueId"] or 0)))
        if offset is None:
            return build_reply(asked, 22, remark="Not found, maybe this group consumer boot first")
        return build_reply(asked, ext={"offset": str(offset)})

    def _commit(self, asked: RemotingCommand) -> RemotingCommand:
        ext = dict(asked.ext or {})
        if ext["consumerGroup"] not in self.configs:
            return build_reply(asked, 26, remark="subscription group not exist")
        place = ext["consumerGroup"] or "", ext["topic"] or "", int(ext["queueId"] or 0)
        if place in self.pending:
            return build_reply(asked, remark="Offset has been previously reset")
        self.offsets[place] = int(ext["commitOffset"] or 0)
        return build_reply(asked)

    def _end(self, asked: RemotingCommand, which: int | None) -> RemotingCommand:
        """The offset at a time is that time, so that tests can choose it."""
        ext = dict(asked.ext or {})
        ends = self.ends[ext["topic"] or "", int(ext["queueId"] or 0)]
        offset = int(ext["timestamp"] or 0) if which is None else ends[which]
        return build_reply(asked, ext={"offset": str(offset)})

    def _update_group(self, asked: RemotingCommand) -> RemotingCommand:
        config = json.loads(asked.body)
        kept = dict(self.configs.get(config["groupName"], {}).get("attributes") or {})
        for key, value in (config.get("attributes") or {}).items():
            if key.startswith("+"):
                kept[key[1:]] = value
            else:
                kept.pop(key[1:], None)
        self.configs[config["groupName"]] = {**config, "attributes": kept}
        return build_reply(asked)

    def _forbid(self, asked: RemotingCommand) -> RemotingCommand:
        ext = dict(asked.ext or {})
        self.forbidden.setdefault(ext["group"] or "", {})[ext["topic"] or ""] = (
            0 if ext["readable"] == "true" else 4
        )
        return build_reply(asked)

    def _delete_group(self, asked: RemotingCommand) -> RemotingCommand:
        ext = dict(asked.ext or {})
        self.configs.pop(ext["groupName"] or "", None)
        self.forbidden.pop(ext["groupName"] or "", None)
        if ext["cleanOffset"] == "true":
            self.offsets = {key: value for key, value in self.offsets.items() if key[0] != ext["groupName"]}
        return build_reply(asked)

    def _connections(self, clients: list[str]) -> list[dict[str, object]]:
        return [
            {"clientId": client, "clientAddr": "10.0.0.1:5", "language": "JAVA", "version": 513}
            for client in clients
        ]

    def _consumers(self, asked: RemotingCommand) -> RemotingCommand:
        clients = self.clients.get((asked.ext or {}).get("consumerGroup") or "")
        if not clients:
            return build_reply(asked, 206, remark="the consumer group not online")
        table = {
            topic: {"topic": topic, "expressionType": "TAG", "subString": text}
            for topic, text in self.expressions.items()
        }
        return answer_json(
            asked,
            {
                "connectionSet": self._connections(clients),
                "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
                "consumeType": "CONSUME_PASSIVELY",
                "messageModel": self.message_model,
                "subscriptionTable": table,
            },
        )

    def _producers(self, asked: RemotingCommand) -> RemotingCommand:
        clients = self.producers.get((asked.ext or {}).get("producerGroup") or "")
        if not clients:
            return build_reply(asked, 1, remark="the producer group[P] not exist")
        return answer_json(asked, {"connectionSet": self._connections(clients)})

    def _all_producers(self, asked: RemotingCommand) -> RemotingCommand:
        data = {
            group: [
                {
                    "clientId": client,
                    "language": "JAVA",
                    "lastUpdateTimestamp": 1000,
                    "remoteIP": "/10.0.0.1:5",
                    "version": self.producer_version,
                }
                for client in clients
            ]
            for group, clients in self.producers.items()
        }
        return answer_json(asked, {"data": data})

    def _table(self, group: str, topic: str | None) -> str:
        known = {name for owner, name, _ in self.offsets if owner == group}
        return format_queue_map(
            self.name,
            {
                queue: {
                    "brokerOffset": end,
                    "consumerOffset": self.offsets.get((group, *queue), 0),
                    "lastTimestamp": 1000 if (group, *queue) in self.offsets else 0,
                    "pullOffset": self.offsets.get((group, *queue), 0) + 2,
                }
                for queue, (_, end) in self.ends.items()
                if queue[0] in known and topic in (None, queue[0])
            },
        )

    def _stats(self, asked: RemotingCommand) -> RemotingCommand:
        ext = asked.ext or {}
        table = self._table(ext.get("consumerGroup") or "", ext.get("topic"))
        return build_reply(asked, body=b'{"consumeTps":1.5,"offsetTable":%s}' % table.encode())

    def _all_offsets(self, asked: RemotingCommand) -> RemotingCommand:
        table: dict[str, dict[int, int]] = {}
        for (group, topic, queue), offset in self.offsets.items():
            table.setdefault(f"{topic}@{group}", {})[queue] = offset
        return answer_json(asked, {"offsetTable": table})

    def _all_stats(self, asked: RemotingCommand) -> RemotingCommand:
        stats = ",".join(
            '{"' + group + '":[{"consumeTps":1.5,"offsetTable":' + self._table(group, None) + "}]}"
            for group in self.configs
        )
        return build_reply(asked, body=b'{"brokerAddr":"x","consumeStatsList":[%s]}' % stats.encode())

    def _reset(self, asked: RemotingCommand) -> RemotingCommand:
        ext = dict(asked.ext or {})
        group, topic = ext["group"] or "", ext["topic"] or ""
        if self.properties.get("useServerSideResetOffset") != "true" and not self.clients.get(group):
            return build_reply(asked, 206, remark="Consumer not online, so can not reset offset")
        if ext.get("queueId") is not None:
            table = {(topic, int(ext["queueId"] or 0)): int(ext["offset"] or 0)}
        else:
            time = int(ext["timestamp"] or 0)
            table = {
                queue: ends[1] if time < 0 else time for queue, ends in self.ends.items() if queue[0] == topic
            }
        for (name, queue), offset in table.items():
            self.offsets[group, name, queue] = offset
            if self.properties.get("useServerSideResetOffset") == "true":
                self.pending.add((group, name, queue))
        return build_reply(asked, body=b'{"offsetTable":%s}' % format_queue_map(self.name, table).encode())

    def _running_info(self, asked: RemotingCommand) -> RemotingCommand:
        client = (asked.ext or {}).get("clientId") or ""
        if client not in self.running:
            return build_reply(asked, 1, remark=f"The Consumer <G> <{client}> not online")
        return build_reply(asked, body=self.running[client].encode())
