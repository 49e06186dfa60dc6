"""Columns about messages. A column reads the attribute of its name; `of` reads another one."""

from nsadmin.console.output import AnyColumn, ByteSize, Column
from nsadmin.console.output.quantities import to_millis
from nsadmin.console.output.timestamps import format_utc

MSG_ID: AnyColumn = Column(
    "msgId", "id that the producer assigned, or else the id of its position", lambda r: r.msg_id
)
OFFSET_MSG_ID: AnyColumn = Column(
    "offsetMsgId", "id with the position where the message is stored", lambda r: r.offset_msg_id
)
QUEUE_OFFSET: AnyColumn = Column("queueOffset", "position in the queue, from 0", lambda r: r.queue_offset)
PHYSICAL_OFFSET: AnyColumn = Column(
    "physicalOffset", "position in the commit log, in bytes", lambda r: r.physical_offset
)
KEYS: AnyColumn = Column("keys", "the message's business keys, separated by blanks", lambda r: r.keys)
TAGS: AnyColumn = Column("tags", "the message's tag", lambda r: r.tags)
STORE_TIME: AnyColumn = Column(
    "storeTime", "when the broker stored it (UTC)", lambda r: format_utc(r.store_timestamp)
)
BORN_TIME: AnyColumn = Column(
    "bornTime",
    "when the producer sent it, by the producer's clock (UTC)",
    lambda r: format_utc(r.born_timestamp),
)
STORE_HOST: AnyColumn = Column(
    "storeHost", "address of the broker that stored it, HOST:PORT", lambda r: r.store_host
)
BORN_HOST: AnyColumn = Column("bornHost", "address of the producer, HOST:PORT", lambda r: r.born_host)
STORE_SIZE: AnyColumn = Column(
    "storeSize", "size in the commit log, in bytes", lambda r: ByteSize(r.store_size)
)
PROPERTIES: AnyColumn = Column("properties", "properties by name", lambda r: r.properties)
COST: AnyColumn = Column("costMs", "duration, in ms", lambda r: to_millis(r.cost_ms))
FAILED: AnyColumn = Column("failed", "messages that the broker refused", lambda r: r.failed)
