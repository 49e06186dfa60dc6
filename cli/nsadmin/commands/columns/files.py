"""Columns about files that a command wrote, of a tuple that begins with the path and the size."""

from nsadmin.console.output import AnyColumn, Column
from nsadmin.console.output.quantities import to_bytes

FILE: AnyColumn = Column("file", "the file that was written", lambda r: r[0])
SIZE: AnyColumn = Column("size", "size in bytes", lambda r: to_bytes(r[1]))
