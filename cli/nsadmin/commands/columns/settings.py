"""Columns about settings of servers, of a tuple with the server, the key and the value."""

from nsadmin.console.output import AnyColumn, Column

KEY: AnyColumn = Column("key", "name of the setting", lambda r: r[1])
VALUE: AnyColumn = Column("value", "value of the setting", lambda r: r[2])
