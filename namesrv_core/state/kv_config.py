"""The KV config: values by namespace and key (upstream: `KVConfigManager`)."""

from collections.abc import Mapping

from namesrv_core.events import KvDeleted, KvPut
from namesrv_core.protocol import fastjson

ORDER_TOPIC_CONFIG = "ORDER_TOPIC_CONFIG"
"""The namespace of ordered topics: the key is the topic, the value is like `brokerA:8;brokerB:8`."""

ENTRY_OVERHEAD_BYTES = 128
"""Counts for each entry beside its texts: the punctuation in the file, and Python's objects in memory."""

NamespaceTables = dict[str, dict[str, str | None]]


def entry_size(namespace: str, key: str, value: str | None) -> int:
    """The approximate size of an entry in bytes, as an operator counts it: its texts."""
    return sum(len(text.encode("utf-8", "replace")) for text in (namespace, key, value or ""))


def stored_size(namespace: str, key: str, value: str | None) -> int:
    """The most bytes that an entry takes in the file. A control character takes six of them."""
    return ENTRY_OVERHEAD_BYTES + sum(len(fastjson.encode_json(t)) for t in (namespace, key, value or ""))


class KvConfig:
    """The tables of the KV config. `total_bytes` is the size of all entries, `generation` counts changes.

    A value may be null, which reads as absent. A namespace disappears with its last key, except for
    ORDER_TOPIC_CONFIG: registrations are answered with its table, and an empty one differs from none.
    """

    def __init__(self, tables: Mapping[str, Mapping[str, str | None]] | None = None) -> None:
        self.tables_by_namespace = _copy_used_tables(tables or {})
        self.generation = 0
        self.total_bytes = self._measure_total_bytes()

    def get_value(self, namespace: str | None, key: str | None) -> str | None:
        return self.tables_by_namespace.get(namespace or "", {}).get(key or "")

    def put_value(self, namespace: str, key: str, value: str | None) -> KvPut:
        table = self.tables_by_namespace.setdefault(namespace, {})
        previous = table.get(key)
        self.total_bytes += stored_size(namespace, key, value) - self.stored_size_of(namespace, key)
        table[key] = value
        self.generation += 1
        return KvPut(namespace, key, previous, value)

    def delete_key(self, namespace: str, key: str) -> KvDeleted | None:
        """Delete a key. Return None if it does not exist."""
        table = self.tables_by_namespace.get(namespace, {})
        if key not in table:
            return None
        self.generation += 1
        self.total_bytes -= self.stored_size_of(namespace, key)
        event = KvDeleted(namespace, key, table.pop(key))
        if not table and namespace != ORDER_TOPIC_CONFIG:
            del self.tables_by_namespace[namespace]
        return event

    def restore_tables(self, tables: Mapping[str, Mapping[str, str | None]]) -> None:
        """Go back to earlier tables, because the later changes could not be saved."""
        self.tables_by_namespace = _copy_used_tables(tables)
        self.generation += 1
        self.total_bytes = self._measure_total_bytes()

    def stored_size_of(self, namespace: str, key: str) -> int:
        """The part of an entry in `total_bytes`; 0 if it does not exist."""
        table = self.tables_by_namespace.get(namespace, {})
        return stored_size(namespace, key, table[key]) if key in table else 0

    def _measure_total_bytes(self) -> int:
        return sum(
            stored_size(n, key, v) for n, t in self.tables_by_namespace.items() for key, v in t.items()
        )


def _copy_used_tables(tables: Mapping[str, Mapping[str, str | None]]) -> NamespaceTables:
    return {n: dict(t) for n, t in tables.items() if t or n == ORDER_TOPIC_CONFIG}
