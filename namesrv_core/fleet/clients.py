"""The clients of simulated brokers: consumers that share the queues of their topics, and producers. Pure.

They are the same on every broker of a fleet, so all brokers report the same clients.
"""

import random
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from namesrv_core.errors import RequestError, ResponseCode
from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.fleet.offsets import group_delay_ms
from namesrv_core.protocol import broker_headers, fastjson, object_keys
from namesrv_core.protocol.codes import MASTER_BROKER_ID, V5_5_0, VERSION_NAMES
from namesrv_core.protocol.resource_names import GROUP_TOPIC_PREFIXES

_HEARTBEAT_PERIOD_MS = 30_000
_CONSUMERS_PER_GROUP = 3
_PRODUCERS_PER_GROUP = 2
_LONGEST_UPTIME_MS = 9 * 86_400_000
_TPS_WINDOW_MS = 10_000

ClientQueue = tuple[str, str, int]
"""Topic, broker name, queue id: the sort order of Java."""


class SimulatedClient(NamedTuple):
    """A client. `addr` is the source address of its connection."""

    client_id: str
    client_addr: str
    started_at_ms: int

    def connection_json(self) -> dict[str, object]:
        return {
            "clientAddr": self.client_addr,
            "clientId": self.client_id,
            "language": "JAVA",
            "version": V5_5_0,
        }


def _simulate_clients(group: str, client_count: int, model: BrokerModel) -> list[SimulatedClient]:
    rng = random.Random(f"clients {group}")
    network_number, start_offset_ms = rng.randrange(250), rng.randrange(_LONGEST_UPTIME_MS)
    return [
        SimulatedClient(
            f"10.0.{network_number}.{10 + client_index}@{group}-{client_index + 1}",
            f"10.0.{network_number}.{10 + client_index}:{40_000 + rng.randrange(20_000)}",
            model.started_at_ms - start_offset_ms - client_index * 60_000,
        )
        for client_index in range(client_count)
    ]


def connected_consumers(model: BrokerModel, group: str) -> list[SimulatedClient]:
    """The connected consumers of a group; empty if the group reads nothing from this broker."""
    is_reader = bool(model.offsets.read_topics_of_group(group))
    return _simulate_clients(group, _CONSUMERS_PER_GROUP, model) if is_reader else []


def consumer_connection_json(model: BrokerModel, header: broker_headers.ConsumerGroup, _: int) -> bytes:
    """ConsumerConnection. Raises RequestError 206 if no client is connected."""
    group = header.consumer_group or ""
    clients = connected_consumers(model, group)
    if not clients:
        raise RequestError(f"the consumer group[{group}] not online", ResponseCode.CONSUMER_NOT_ONLINE)
    other_fields = fastjson.encode_json(
        {
            "connectionSet": [client.connection_json() for client in clients],
            "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
            "consumeType": "CONSUME_PASSIVELY",
            "messageModel": "CLUSTERING",
        }
    )
    table = _encode_subscriptions(_subscribed_topics(model, group), _subscribed_at_ms(model))
    return other_fields[:-1] + b',"subscriptionTable":' + table + b"}"


def _subscribed_topics(model: BrokerModel, group: str) -> tuple[str, ...]:
    """The topics that the group subscribes to, on all brokers together."""
    topics = [peer.offsets.read_topics_of_group(group) for peer in model.peer_models.values()]
    return tuple(sorted(frozenset().union(*topics)))


def _subscribed_at_ms(model: BrokerModel) -> int:
    """When clients subscribed. They tell all brokers the same time."""
    return min(peer.started_at_ms for peer in model.peer_models.values())


@lru_cache(maxsize=32)
def _encode_subscriptions(topics: tuple[str, ...], subscribed_at_ms: int) -> bytes:
    """The subscriptionTable, which all brokers of a fleet have in common."""
    return fastjson.encode_json({topic: _subscription_json(topic, subscribed_at_ms) for topic in topics})


def _subscription_json(topic: str, subscribed_at_ms: int) -> dict[str, object]:
    """SubscriptionData for all messages of a topic."""
    return {
        "classFilterMode": False,
        "codeSet": [],
        "expressionType": "TAG",
        "subString": "*",
        "subVersion": subscribed_at_ms,
        "tagsSet": [],
        "topic": topic,
    }


def _allocate_queues(model: BrokerModel, group: str, client_count: int) -> list[list[ClientQueue]]:
    """Allocate the sorted queues of each topic to clients (`AllocateMessageQueueAveragely`)."""
    shares: list[list[ClientQueue]] = [[] for _ in range(client_count)]
    for topic in _subscribed_topics(model, group):
        topic_queues = sorted(
            (topic, name, queue_id)
            for (name, broker_id), peer in model.peer_models.items()
            if broker_id == MASTER_BROKER_ID
            for queue_id in range(peer.read_queue_count(topic))
        )
        base_count, extra_count = divmod(len(topic_queues), client_count)
        for client_index, share in enumerate(shares):
            begin_index = client_index * base_count + min(client_index, extra_count)
            share += topic_queues[begin_index : begin_index + base_count + (client_index < extra_count)]
    return shares


def running_info_json(model: BrokerModel, header: broker_headers.ConsumerClient, now_ms: int) -> bytes:
    """ConsumerRunningInfo of a client, as a broker relays it. Raises RequestError if it is not connected."""
    group, client_id = header.consumer_group or "", header.client_id or ""
    clients = connected_consumers(model, group)
    for client, share in zip(clients, _allocate_queues(model, group, len(clients) or 1), strict=False):
        if client.client_id == client_id:
            return _client_running_info(model, group, client, share, header.jstack_enable, now_ms)
    raise RequestError(f"The Consumer <{group}> <{client_id}> not online")


def _client_running_info(
    model: BrokerModel,
    group: str,
    client: SimulatedClient,
    share: list[ClientQueue],
    with_stacks: bool,
    now_ms: int,
) -> bytes:
    other_fields = {
        "properties": {
            "PROP_CLIENT_VERSION": VERSION_NAMES[V5_5_0],
            "PROP_CONSUMEORDERLY": "false",
            "PROP_CONSUMER_START_TIMESTAMP": str(client.started_at_ms),
            "PROP_CONSUME_TYPE": "CONSUME_PASSIVELY",
            "PROP_NAMESERVER_ADDR": ";".join(model.namesrv_addrs),
            "PROP_THREADPOOL_CORE_SIZE": "20",
            "consumerGroup": group,
            "instanceName": client.client_id.partition("@")[2],
        },
        "statusTable": {
            t: _consume_status_json(model, group, t, share, now_ms) for t in _subscribed_topics(model, group)
        },
        "subscriptionSet": [
            _subscription_json(topic, _subscribed_at_ms(model)) for topic in _subscribed_topics(model, group)
        ],
        "userConsumerInfo": {},
        **({"jstack": _THREAD_DUMP} if with_stacks else {}),
    }
    queues = object_keys.encode_object_key_map(_process_queue_items(model, group, share, now_ms))
    return b'{"mqPopTable":{},"mqTable":' + queues + b"," + fastjson.encode_json(other_fields)[1:]


def _process_queue_items(
    model: BrokerModel, group: str, share: list[ClientQueue], now_ms: int
) -> Iterator[tuple[dict[str, object], dict[str, object]]]:
    """ProcessQueueInfo of each queue. The group has consumed all fetched messages."""
    for topic, broker_name, queue_id in share:
        peer = model.peer_models[broker_name, MASTER_BROKER_ID]
        committed = (
            peer.offsets.committed_offset((group, topic, queue_id), peer.read_queue_count(topic), now_ms) or 0
        )
        yield (
            {"brokerName": broker_name, "queueId": queue_id, "topic": topic},
            {
                "cachedMsgCount": 0,
                "cachedMsgMaxOffset": 0,
                "cachedMsgMinOffset": 0,
                "cachedMsgSizeInMiB": 0,
                "commitOffset": committed,
                "droped": False,
                "lastConsumeTimestamp": now_ms - 20
                if peer.offsets.has_traffic(topic)
                else model.started_at_ms,
                "lastLockTimestamp": model.started_at_ms,
                "lastPullTimestamp": now_ms - 15,
                "locked": False,
                "transactionMsgCount": 0,
                "transactionMsgMaxOffset": 0,
                "transactionMsgMinOffset": 0,
                "tryUnlockTimes": 0,
            },
        )


def _consume_status_json(
    model: BrokerModel, group: str, topic: str, share: list[ClientQueue], now_ms: int
) -> Mapping[str, object]:
    """ConsumeStatus of the client's queues, each with an equal part of its topic's messages."""
    tps = 0.0
    for broker_name in (name for queue_topic, name, _ in share if queue_topic == topic):
        peer = model.peer_models[broker_name, MASTER_BROKER_ID]
        tps += (
            peer.offsets.count_recent_messages(topic, now_ms - group_delay_ms(group), _TPS_WINDOW_MS)
            * 1000
            / _TPS_WINDOW_MS
            / peer.read_queue_count(topic)
        )
    rng = random.Random(f"status {group} {topic}")
    return {
        "consumeFailedMsgs": 0,
        "consumeFailedTPS": 0.0,
        "consumeOKTPS": round(tps, 3),
        "consumeRT": round(rng.uniform(0.4, 12), 2) if tps else 0.0,
        "pullRT": round(rng.uniform(0.5, 3), 2) if tps else 0.0,
        "pullTPS": round(tps, 3),
    }


_THREAD_DUMP = """\
TID: 1 STATE: WAITING
main java.lang.Object.wait(Native Method)

TID: 31 STATE: TIMED_WAITING
ConsumeMessageThread_1 java.util.concurrent.LinkedBlockingQueue.poll(LinkedBlockingQueue.java:460)
"""


def _producers_by_group(model: BrokerModel) -> dict[str, list[SimulatedClient]]:
    """One producer group per first word of topic names. Producers connect only to masters."""
    if not model.spec.is_master:
        return {}
    topics = [config["topicName"] for config in model.spec.topic_configs]
    first_words = sorted(
        {topic.partition("-")[0] for topic in topics if not topic.startswith(GROUP_TOPIC_PREFIXES)}
    )
    return {f"{word}-producer": producers_of_topic(model, word) for word in first_words}


def producers_of_topic(model: BrokerModel, topic: str) -> list[SimulatedClient]:
    return _simulate_clients(f"{topic.partition('-')[0]}-producer", _PRODUCERS_PER_GROUP, model)


def producer_connection_json(model: BrokerModel, header: broker_headers.ProducerGroup, _: int) -> bytes:
    group = header.producer_group or ""
    clients = _producers_by_group(model).get(group)
    if clients is None:
        raise RequestError(f"the producer group[{group}] not exist")
    return fastjson.encode_json({"connectionSet": [client.connection_json() for client in clients]})


def producer_table_json(model: BrokerModel, now_ms: int) -> bytes:
    """ProducerTableInfo. Every client, also a consumer, has an inner producer."""
    producers = _producers_by_group(model)
    groups = sorted({group for groups in model.offsets.readers_by_topic.values() for group in groups})
    all_clients = [client for clients in producers.values() for client in clients]
    all_clients += [client for group in groups for client in connected_consumers(model, group)]
    clients_by_group: dict[str, list[SimulatedClient]] = {**producers, "CLIENT_INNER_PRODUCER": all_clients}
    producer_data: dict[str, Any] = {
        group: [
            {
                "clientId": client.client_id,
                "language": "JAVA",
                "lastUpdateTimestamp": now_ms - (now_ms - client.started_at_ms) % _HEARTBEAT_PERIOD_MS,
                "remoteIP": f"/{client.client_addr}",
                "version": V5_5_0,
            }
            for client in clients
        ]
        for group, clients in clients_by_group.items()
        if clients
    }
    return fastjson.encode_json({"data": producer_data})
