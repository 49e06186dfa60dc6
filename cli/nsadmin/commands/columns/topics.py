"""Columns about topics and their queues. A column reads the attribute of its name; `of` reads another one."""

from nsadmin.console.output import AnyColumn, Column

TOPIC: AnyColumn = Column("topic", "name of the topic", lambda r: r.topic)
QUEUE_ID: AnyColumn = Column("queueId", "number of the queue on its broker, from 0", lambda r: r.queue_id)
MIN_OFFSET: AnyColumn = Column("minOffset", "offset of the oldest message", lambda r: r.min_offset)
MAX_OFFSET: AnyColumn = Column("maxOffset", "offset of the next message", lambda r: r.max_offset)
