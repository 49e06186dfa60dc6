"""The clients of simulated brokers: consumers that share the queues of their topics, and producers.

They are the same on every broker of a fleet, so that whoever is asked tells the same of them. Pure.
"""

import random
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from namesrv_core.errors import RequestError, ResponseCode
from namesrv_core.fleet.model import BrokerModel
from namesrv_core.fleet.offsets import behind
from namesrv_core.fleet.topics import DLQ_PREFIX, RETRY_PREFIX
from namesrv_core.protocol import fastjson, object_keys
from namesrv_core.protocol.codes import MASTER_ID, V5_5_0, version_text

_HEARTBEAT = 30_000
_CONSUMERS = 3
_PRODUCERS = 2
_UP = 9 * 86_400_000
_WINDOW = 10_000

Queue = tuple[str, str, int]
"""Topic, broker name, queue id: the order in which Java sorts them, too."""


class Client(NamedTuple):
    """A client; `addr` is where its connection comes from."""

    client_id: str
    addr: str
    started: int

    def connection(self) -> dict[str, object]:
        """Connection."""
        return {"clientAddr": self.addr, "clientId": self.client_id, "language": "JAVA", "version": V5_5_0}


def _clients(group: str, number: int, model: BrokerModel) -> list[Client]:
    chance = random.Random(f"clients {group}")
    network, started = chance.randrange(250), chance.randrange(_UP)
    return [
        Client(
            f"10.0.{network}.{10 + at}@{group}-{at + 1}",
            f"10.0.{network}.{10 + at}:{40_000 + chance.randrange(20_000)}",
            model.started - started - at * 60_000,
        )
        for at in range(number)
    ]


def consumers(model: BrokerModel, group: str) -> list[Client]:
    """Who of the group is connected; nobody of one that reads nothing here."""
    reads = any(group in groups for groups in model.offsets.readers.values())
    return _clients(group, _CONSUMERS, model) if reads else []


def consumer_connection(model: BrokerModel, group: str) -> bytes:
    """ConsumerConnection; RequestError 206 where nobody is connected."""
    clients = consumers(model, group)
    if not clients:
        raise RequestError(f"the consumer group[{group}] not online", ResponseCode.CONSUMER_NOT_ONLINE)
    return fastjson.dumps(
        {
            "connectionSet": [client.connection() for client in clients],
            "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
            "consumeType": "CONSUME_PASSIVELY",
            "messageModel": "CLUSTERING",
            "subscriptionTable": {topic: _subscription(model, topic) for topic in _topics(model, group)},
        }
    )


def _topics(model: BrokerModel, group: str) -> list[str]:
    """What the group subscribes to, on all brokers together."""
    readers = [peer.offsets.readers for peer in model.peers.values()]
    return sorted({topic for table in readers for topic, groups in table.items() if group in groups})


def _subscription(model: BrokerModel, topic: str) -> dict[str, object]:
    """SubscriptionData of everything in a topic."""
    return {
        "classFilterMode": False,
        "codeSet": [],
        "expressionType": "TAG",
        "subString": "*",
        "subVersion": model.started,
        "tagsSet": [],
        "topic": topic,
    }


def _shares(model: BrokerModel, group: str, clients: int) -> list[list[Queue]]:
    """Which client has which queues: each topic's sorted ones in a row (`AllocateMessageQueueAveragely`)."""
    shares: list[list[Queue]] = [[] for _ in range(clients)]
    for topic in _topics(model, group):
        queues = sorted(
            (topic, name, queue)
            for (name, broker_id), peer in model.peers.items()
            if broker_id == MASTER_ID
            for queue in range(peer.queues(topic))
        )
        least, more = divmod(len(queues), clients)
        for at, share in enumerate(shares):
            begin = at * least + min(at, more)
            share += queues[begin : begin + least + (at < more)]
    return shares


def running_info(model: BrokerModel, group: str, client_id: str, stacks: bool, now: int) -> bytes:
    """ConsumerRunningInfo of a client, as it would be relayed; RequestError where it is not connected."""
    clients = consumers(model, group)
    for client, share in zip(clients, _shares(model, group, len(clients) or 1), strict=False):
        if client.client_id == client_id:
            return _running(model, group, client, share, stacks, now)
    raise RequestError(f"The Consumer <{group}> <{client_id}> not online")


def _running(
    model: BrokerModel, group: str, client: Client, share: list[Queue], stacks: bool, now: int
) -> bytes:
    rest = {
        "properties": {
            "PROP_CLIENT_VERSION": version_text(V5_5_0),
            "PROP_CONSUMEORDERLY": "false",
            "PROP_CONSUMER_START_TIMESTAMP": str(client.started),
            "PROP_CONSUME_TYPE": "CONSUME_PASSIVELY",
            "PROP_NAMESERVER_ADDR": ";".join(model.name_servers),
            "PROP_THREADPOOL_CORE_SIZE": "20",
            "consumerGroup": group,
            "instanceName": client.client_id.partition("@")[2],
        },
        "statusTable": {topic: _status(model, group, topic, share, now) for topic in _topics(model, group)},
        "subscriptionSet": [_subscription(model, topic) for topic in _topics(model, group)],
        "userConsumerInfo": {},
        **({"jstack": _STACKS} if stacks else {}),
    }
    table = object_keys.dumps_table(_held(model, group, share, now))
    return b'{"mqPopTable":{},"mqTable":' + table + b"," + fastjson.dumps(rest)[1:]


def _held(
    model: BrokerModel, group: str, share: list[Queue], now: int
) -> Iterator[tuple[dict[str, object], dict[str, object]]]:
    """ProcessQueueInfo of each queue: what the group has fetched it has consumed."""
    for topic, name, queue in share:
        peer = model.peers[name, MASTER_ID]
        at = peer.offsets.committed((group, topic, queue), peer.queues(topic), now) or 0
        yield (
            {"brokerName": name, "queueId": queue, "topic": topic},
            {
                "cachedMsgCount": 0,
                "cachedMsgMaxOffset": 0,
                "cachedMsgMinOffset": 0,
                "cachedMsgSizeInMiB": 0,
                "commitOffset": at,
                "droped": False,
                "lastConsumeTimestamp": now - 20 if peer.offsets.counts(topic) else model.started,
                "lastLockTimestamp": model.started,
                "lastPullTimestamp": now - 15,
                "locked": False,
                "transactionMsgCount": 0,
                "transactionMsgMaxOffset": 0,
                "transactionMsgMinOffset": 0,
                "tryUnlockTimes": 0,
            },
        )


def _status(model: BrokerModel, group: str, topic: str, share: list[Queue], now: int) -> Mapping[str, object]:
    """ConsumeStatus: what came into the client's queues, each of them an equal part of its topic."""
    tps = 0.0
    for name in (name for at, name, _ in share if at == topic):
        peer = model.peers[name, MASTER_ID]
        tps += peer.offsets.put(topic, now - behind(group), _WINDOW) * 1000 / _WINDOW / peer.queues(topic)
    chance = random.Random(f"status {group} {topic}")
    return {
        "consumeFailedMsgs": 0,
        "consumeFailedTPS": 0.0,
        "consumeOKTPS": round(tps, 3),
        "consumeRT": round(chance.uniform(0.4, 12), 2) if tps else 0.0,
        "pullRT": round(chance.uniform(0.5, 3), 2) if tps else 0.0,
        "pullTPS": round(tps, 3),
    }


_STACKS = """\
TID: 1 STATE: WAITING
main java.lang.Object.wait(Native Method)

TID: 31 STATE: TIMED_WAITING
ConsumeMessageThread_1 java.util.concurrent.LinkedBlockingQueue.poll(LinkedBlockingQueue.java:460)
"""


def _producers(model: BrokerModel) -> dict[str, list[Client]]:
    """One group for all topics whose names begin with the same word; they talk to masters only."""
    if not model.spec.is_master:
        return {}
    names = [config["topicName"] for config in model.spec.topics]
    words = sorted(
        {name.partition("-")[0] for name in names if not name.startswith((RETRY_PREFIX, DLQ_PREFIX))}
    )
    return {f"{word}-producer": producers_of(model, word) for word in words}


def producers_of(model: BrokerModel, topic: str) -> list[Client]:
    """Who sends to the topic."""
    return _clients(f"{topic.partition('-')[0]}-producer", _PRODUCERS, model)


def producer_connection(model: BrokerModel, group: str) -> bytes:
    """ProducerConnection."""
    clients = _producers(model).get(group)
    if clients is None:
        raise RequestError(f"the producer group[{group}] not exist")
    return fastjson.dumps({"connectionSet": [client.connection() for client in clients]})


def all_producers(model: BrokerModel, now: int) -> bytes:
    """ProducerTableInfo; every client has an inner producer of its own, consumers too."""
    table = _producers(model)
    groups = sorted({group for groups in model.offsets.readers.values() for group in groups})
    everybody = [client for clients in table.values() for client in clients]
    everybody += [client for group in groups for client in consumers(model, group)]
    named: dict[str, list[Client]] = {**table, "CLIENT_INNER_PRODUCER": everybody}
    data: dict[str, Any] = {
        group: [
            {
                "clientId": client.client_id,
                "language": "JAVA",
                "lastUpdateTimestamp": now - (now - client.started) % _HEARTBEAT,
                "remoteIP": f"/{client.addr}",
                "version": V5_5_0,
            }
            for client in clients
        ]
        for group, clients in named.items()
        if clients
    }
    return fastjson.dumps({"data": data})
