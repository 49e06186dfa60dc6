"""The heartbeats of consumers behind cluster-mode proxies, as proxies pass them on to each other. Pure.

A cluster-mode proxy registers none of its consumers with brokers. It writes each of their heartbeats to the
topic DefaultHeartBeatSyncerTopic, from which the other proxies read (HeartbeatSyncer upstream).
"""

import json
from collections.abc import Iterable
from typing import NamedTuple

from namesrv_core.protocol.codes import version_text
from nsadmin.client.connection.json_object import JsonObject, to_integer
from nsadmin.client.consumers.connected_clients import ConnectedClient, TopicSubscription, parse_subscription

HEARTBEAT_TOPIC = "DefaultHeartBeatSyncerTopic"
PROXY_GROUP = f"CID_{HEARTBEAT_TOPIC}"
"""The group in which cluster-mode proxies read the topic; brokers list a member for each proxy."""

GRPC, REMOTING = "gRPC", "remoting"
_PROTOCOLS = {"GRPC_V2": GRPC, "GRPC_V1": GRPC, "REMOTING": REMOTING}
# Three heartbeats: gRPC clients send one every 10 seconds, remoting clients one every 30.
_SILENCE_LIMITS_MS = {GRPC: 35_000, REMOTING: 95_000}
READ_WINDOW_MS = max(_SILENCE_LIMITS_MS.values()) + 5_000
"""How far back heartbeats matter, in ms."""


class ProxyIdentity(NamedTuple):
    """A cluster-mode proxy as it calls itself in heartbeats.

    Attributes:
        serve_addr: Its localServeAddr: the address of its host, without a port.
        remoting_port: The port for remoting clients, 8080 by default.
        grpc_port: The port for gRPC clients, 8081 by default.
    """

    serve_addr: str
    remoting_port: int
    grpc_port: int

    @property
    def remoting_addr(self) -> str:
        """The address for remoting clients, "host:port"."""
        return f"{self.serve_addr}:{self.remoting_port}"

    @property
    def grpc_addr(self) -> str:
        """The address for gRPC clients, "host:port"."""
        return f"{self.serve_addr}:{self.grpc_port}"


class ClientHeartbeat(NamedTuple):
    """A heartbeat of a consumer behind a proxy (HeartbeatSyncerData upstream).

    Attributes:
        proxy: The proxy that received it.
        group: The consumer group.
        client: The client, with its protocol, consume type and subscriptions.
        message_model: "CLUSTERING" or "BROADCASTING"; None if not reported, like the next.
        consume_from_where: Where a new group starts.
        is_leaving: Whether the client left the group with it.
        sent_ms: When the proxy sent it, in ms since 1970, by the clock of the proxy.
        age_ms: How long ago a broker stored it, in ms, by the clock of the broker.
    """

    proxy: ProxyIdentity
    group: str
    client: ConnectedClient
    message_model: str | None
    consume_from_where: str | None
    is_leaving: bool
    sent_ms: int
    age_ms: int

    @property
    def is_connected(self) -> bool:
        """Whether the client is connected: it did not leave, and missed fewer than three heartbeats."""
        silence_limit_ms = _SILENCE_LIMITS_MS.get(self.client.protocol or "", READ_WINDOW_MS)
        return not self.is_leaving and self.age_ms <= silence_limit_ms


def parse_heartbeat(message_body: bytes, age_ms: int, now_ms: int) -> ClientHeartbeat | None:
    """Parse a message of the topic."""
    try:
        record = JsonObject(json.loads(message_body))
        channel = JsonObject(json.loads(record.text("channelData")), "channelData")
        return _make_heartbeat(record, channel, _parse_settings(channel), age_ms, now_ms)
    except (ValueError, RecursionError):
        return None


def _make_heartbeat(
    record: JsonObject, channel: JsonObject, settings: JsonObject, age_ms: int, now_ms: int
) -> ClientHeartbeat:
    proxy = _parse_identity(record.text("localProxyId"))
    protocol = _PROTOCOLS.get(channel.text("type", ""))
    subscriptions = sorted(
        parse_subscription(s.text("topic"), s) for s in record.children("subscriptionDataSet")
    )
    client = ConnectedClient(
        record.text("clientId"),
        channel.text("remoteAddress", None),
        record.text("language", None),
        _find_version(record, settings, protocol),
        (),
        protocol=protocol,
        proxy_addrs=(proxy.remoting_addr,),
        consume_type=record.text("consumeType", None),
        subscriptions=tuple(subscriptions),
        last_heartbeat_ms=now_ms - age_ms,
    )
    return ClientHeartbeat(
        proxy,
        record.text("group"),
        client,
        record.text("messageModel", None),
        record.text("consumeFromWhere", None),
        record.text("heartbeatType") == "UNREGISTER",
        record.integer("lastUpdateTimestamp", 0),
        age_ms,
    )


def _parse_identity(identity_text: str) -> ProxyIdentity:
    """Parse a localProxyId: address, remoting port and gRPC port, separated by "%"."""
    serve_addr, remoting_port, grpc_port = identity_text.rsplit("%", 2)
    return ProxyIdentity(
        serve_addr, to_integer(remoting_port, "the remoting port"), to_integer(grpc_port, "the gRPC port")
    )


def _parse_settings(channel: JsonObject) -> JsonObject:
    """Parse the settings of a gRPC client. Its first heartbeat has none."""
    settings = json.loads(channel.text("extendAttribute", "") or "null")
    return JsonObject(settings if isinstance(settings, dict) else None, "extendAttribute")


def _find_version(record: JsonObject, settings: JsonObject, protocol: str | None) -> str | None:
    """Return the release of the client. For a gRPC client, `version` is the release of the proxy."""
    if protocol == REMOTING:
        version_ordinal = record.integer("version", None)
        return None if version_ordinal is None else version_text(version_ordinal)
    return settings.child("userAgent").text("version", "") or None


def select_latest(heartbeats: Iterable[ClientHeartbeat]) -> list[ClientHeartbeat]:
    """Return the last heartbeat of each client in each group at each proxy.

    A heartbeat without the version of the client gets that of an earlier one.
    """
    latest_heartbeats: dict[tuple[str, str, ProxyIdentity], ClientHeartbeat] = {}
    for heartbeat in sorted(heartbeats, key=lambda heartbeat: heartbeat.sent_ms):
        key = (heartbeat.group, heartbeat.client.client_id, heartbeat.proxy)
        earlier_heartbeat = latest_heartbeats.get(key)
        if earlier_heartbeat is not None and heartbeat.client.version is None:
            heartbeat = heartbeat._replace(
                client=heartbeat.client._replace(version=earlier_heartbeat.client.version)
            )
        latest_heartbeats[key] = heartbeat
    return [latest_heartbeats[key] for key in sorted(latest_heartbeats)]


def list_topics(subscriptions: Iterable[TopicSubscription]) -> list[str]:
    """Return the topics of subscriptions, in order."""
    return sorted({subscription.topic for subscription in subscriptions})
