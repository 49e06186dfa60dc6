"""Columns about the records of journals, read off a JournalRecord."""

from namesrv_core.history.records import JournalRecord
from nsadmin.console.output import Column
from nsadmin.console.output.timestamps import format_utc

SEQ: Column[JournalRecord] = Column("seq", "number of the record, without gaps", lambda r: r.seq)
TIME: Column[JournalRecord] = Column(
    "time", "time of the event, by the name server's clock (UTC)", lambda r: format_utc(r.time_ms)
)
SERVER: Column[JournalRecord] = Column(
    "server", "the name server that wrote the record", lambda r: r.server_name, wide=True
)
TYPE: Column[JournalRecord] = Column(
    "type", "type of the event, one of nsadmin guide journal", lambda r: r.event_type
)
CAUSE: Column[JournalRecord] = Column("cause", "the request, or another cause", lambda r: r.origin.cause)
CLIENT: Column[JournalRecord] = Column(
    "client", "address of the client that sent the request, HOST:PORT", lambda r: r.origin.client_addr
)
