"""Columns about groups and clients. A column reads the attribute of its name; `of` reads another one."""

from nsadmin.console.output import AnyColumn, Column
from nsadmin.console.output.timestamps import format_utc

GROUP: AnyColumn = Column("group", "name of the consumer group", lambda r: r.group)
CLIENT_ID: AnyColumn = Column("clientId", "id of the client", lambda r: r.client_id)
CLIENT_ADDR: AnyColumn = Column(
    "clientAddr", "address of the client as the broker sees it, HOST:PORT", lambda r: r.client_addr
)
LANGUAGE: AnyColumn = Column("language", "language of the client", lambda r: r.language)
PROTOCOL: AnyColumn = Column("protocol", "remoting or gRPC; null if unknown", lambda r: r.protocol)
PROXY_ADDRS: AnyColumn = Column(
    "proxyAddrs",
    "proxies in cluster mode that the client is connected to, by remoting port",
    lambda r: r.proxy_addrs,
)
CONSUME_TYPE: AnyColumn = Column(
    "consumeType", "CONSUME_PASSIVELY (push) or CONSUME_ACTIVELY (pull)", lambda r: r.consume_type
)
MESSAGE_MODEL: AnyColumn = Column(
    "messageModel",
    "CLUSTERING (each message to one client) or BROADCASTING (each message to all)",
    lambda r: r.message_model,
)
CLIENT_BROKERS: AnyColumn = Column(
    "brokerAddrs", "brokers that the client is connected to", lambda r: r.broker_addrs
)
LAST_HEARTBEAT: AnyColumn = Column(
    "lastHeartbeat",
    "when a server received the last heartbeat (UTC); null if unknown",
    lambda r: format_utc(r.last_heartbeat_ms),
    wide=True,
)
BROKER_OFFSET: AnyColumn = Column(
    "brokerOffset", "offset that the next message of the queue gets", lambda r: r.broker_offset
)
CONSUMER_OFFSET: AnyColumn = Column(
    "consumerOffset",
    "offset where the group continues; null if it never committed one",
    lambda r: r.consumer_offset,
)
LAST_TIME: AnyColumn = Column(
    "lastTime", "when the last consumed message was stored (UTC)", lambda r: format_utc(r.last_consumed_ms)
)
CONSUMER_GROUP: AnyColumn = Column("group", "a group that reads the topic; null for none", lambda r: r.group)
