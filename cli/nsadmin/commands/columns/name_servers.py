"""Columns about the KV config of name servers. A column reads the attribute of its name."""

from nsadmin.console.output import AnyColumn, Column

NAMESPACE: AnyColumn = Column("namespace", "namespace of the KV config", lambda r: r.namespace)
KV_KEY: AnyColumn = Column("key", "key within the namespace", lambda r: r.key)
