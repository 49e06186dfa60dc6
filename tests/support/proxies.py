"""A broker with heartbeats of cluster-mode proxies, and proxies that answer on their remoting ports."""

import json
import time
from typing import Any

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin.client.proxies.client_heartbeats import HEARTBEAT_TOPIC
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import Answer, Handler, Server, answer_json
from tests.support.messages import encode_message


def heartbeat_body(
    client_id: str = "host@1@0@abc",
    group: str = "G",
    *,
    proxy: str = "10.0.0.9%8080%8081",
    protocol: str = "GRPC_V2",
    version: str | None = "5.2.0",
    expression: str = "*",
    kind: str = "REGISTER",
    sent_ms: int = 1000,
    client_addr: str = "10.0.0.1:5",
) -> bytes:
    """A message as HeartbeatSyncer writes it; `version` is in the settings, which a first heartbeat lacks."""
    settings = {"clientType": "PUSH_CONSUMER", "userAgent": {"language": "JAVA", "version": version}}
    channel: dict[str, Any] = {"remoteProxyIp": "10.0.0.9", "type": protocol, "remoteAddress": client_addr}
    if version is not None:
        channel["extendAttribute"] = json.dumps(settings)
    subscription = {"topic": "T", "expressionType": "TAG", "subString": expression}
    heartbeat = {
        "channelData": json.dumps(channel),
        "clientId": client_id,
        "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
        "consumeType": "CONSUME_PASSIVELY",
        "group": group,
        "heartbeatType": kind,
        "language": "JAVA",
        "lastUpdateTimestamp": sent_ms,
        "localProxyId": proxy,
        "messageModel": "CLUSTERING",
        "subscriptionDataSet": [subscription] if kind == "REGISTER" else None,
        "version": 513,
    }
    return json.dumps(heartbeat).encode()


class ProxiedBroker(ConsumerBroker):
    """`heartbeats` are the stored messages of the topic; `clock_ms` is how far its clock is ahead."""

    def __init__(self, name: str = "broker-a", clock_ms: int = 0) -> None:
        super().__init__(name)
        self.heartbeats: list[bytes] = []
        self.clock_ms = clock_ms
        others = dict(self.handlers)
        code = RequestCode
        own: dict[int, Handler] = {
            code.GET_MIN_OFFSET: lambda asked: self._offset(asked, 0),
            code.GET_MAX_OFFSET: lambda asked: self._offset(asked, len(self.heartbeats)),
            code.SEARCH_OFFSET_BY_TIMESTAMP: lambda asked: self._offset(asked, 0),
            code.PULL_MESSAGE: self._pull,
        }
        for number, handler in own.items():
            self.handlers[number] = self._choose_by_topic(handler, others.get(number))
        self.handlers[code.GET_BROKER_RUNTIME_INFO] = self._runtime

    def _choose_by_topic(self, handler: Handler, other: Handler | None) -> Handler:
        """A handler for queue 0 of the topic, with `other` for other topics; other queues are empty."""

        def answer(asked: RemotingCommand) -> Answer:
            ext = asked.ext or {}
            if ext.get("topic") != HEARTBEAT_TOPIC:
                return other(asked) if other else build_reply(asked, 3)
            return handler(asked) if ext.get("queueId") == "0" else self._offset(asked, 0)

        return answer

    def store_heartbeat(self, message_body: bytes, age_seconds: float = 1) -> None:
        """Store a heartbeat of that age."""
        stored_ms = int(time.time() * 1000) + self.clock_ms - int(age_seconds * 1000)
        self.heartbeats.append(
            encode_message(message_body, HEARTBEAT_TOPIC, queue_offset=len(self.heartbeats), stored=stored_ms)
        )

    def _offset(self, asked: RemotingCommand, offset: int) -> RemotingCommand:
        return build_reply(asked, ext={"offset": str(offset)})

    def _runtime(self, asked: RemotingCommand) -> RemotingCommand:
        boot_ms = int(time.time() * 1000) + self.clock_ms - 3_700_000
        table = {
            "brokerVersionDesc": "V5_5_0",
            "bootTimestamp": str(boot_ms),
            "runtime": "[ 0 days, 1 hours, 1 minutes, 40 seconds ]",
        }
        return answer_json(asked, {"table": table})

    def _pull(self, asked: RemotingCommand) -> RemotingCommand:
        begin = int((asked.ext or {}).get("queueOffset") or 0)
        page = self.heartbeats[begin : begin + int((asked.ext or {}).get("maxMsgNums") or 1)]
        return build_reply(asked, ext={"nextBeginOffset": str(begin + len(page))}, body=b"".join(page))


class FakeProxy(Server):
    """The remoting port of a proxy; `is_local` is its mode, `clients` are its clients by group."""

    def __init__(self, *, is_local: bool = False) -> None:
        super().__init__()
        self.clients: dict[str, list[str]] = {}
        self.is_local = is_local
        self.handlers = {
            RequestCode.GET_ROUTEINFO_BY_TOPIC: self._route,
            RequestCode.GET_CONSUMER_CONNECTION_LIST: self._consumers,
        }

    def _route(self, asked: RemotingCommand) -> RemotingCommand:
        own_addr = "10.0.0.7:8081" if self.is_local else self.addr
        broker = {"brokerName": "broker-a", "cluster": "C", "brokerAddrs": {"0": own_addr}}
        return answer_json(asked, {"brokerDatas": [broker], "queueDatas": []})

    def _consumers(self, asked: RemotingCommand) -> RemotingCommand:
        clients = self.clients.get((asked.ext or {}).get("consumerGroup") or "")
        if not clients:
            return build_reply(asked, 206, remark="the consumer group not online")
        connections = [
            {"clientId": client, "clientAddr": "10.0.0.2:6", "language": "JAVA", "version": 513}
            for client in clients
        ]
        return answer_json(
            asked,
            {
                "connectionSet": connections,
                "consumeType": "CONSUME_ACTIVELY",
                "messageModel": "CLUSTERING",
                "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
                "subscriptionTable": {"T": {"topic": "T", "expressionType": "TAG", "subString": "TagA"}},
            },
        )
