"""Columns about groups and clients. A column reads the attribute of its name; `of` reads another one."""

from nsadmin.console.output import AnyColumn, Column

GROUP: AnyColumn = Column("group", "name of the consumer group", lambda r: r.group)
CLIENT_ID: AnyColumn = Column("clientId", "id of the client", lambda r: r.client_id)
CLIENT_ADDR: AnyColumn = Column(
    "clientAddr", "address of the client as the broker sees it, HOST:PORT", lambda r: r.client_addr
)
LANGUAGE: AnyColumn = Column("language", "language of the client", lambda r: r.language)
PROTOCOL: AnyColumn = Column("protocol", "remoting or gRPC; null if unknown", lambda r: r.protocol)
