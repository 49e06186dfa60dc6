"""The KV config: values by namespace and key (upstream: `KVConfigManager`)."""

from collections.abc import Mapping

from namesrv_core.events import KvDeleted, KvPut

ORDER_TOPIC_CONFIG = "ORDER_TOPIC_CONFIG"
"""The namespace of ordered topics: the key is the topic, the value is like `brokerA:8;brokerB:8`."""

NamespaceTables = dict[str, dict[str, str | None]]


def entry_size(namespace: str, key: str, value: str | None) -> int:
    """The approximate size of an entry in bytes."""
    return sum(len(entry_text.encode("utf-8", "replace")) for entry_text in (namespace, key, value or ""))


class KvConfig:
    """The tables of the KV config. `total_bytes` is the size of all entries, `generation` counts changes.

    A value may be null, which reads as absent.
    """

    def __init__(self, namespace_tables: Mapping[str, Mapping[str, str | None]] | None = None) -> None:
        self.tables_by_namespace: NamespaceTables = {
            namespace: dict(kv_table) for namespace, kv_table in (namespace_tables or {}).items()
        }
        self.generation = 0
        self.total_bytes = self._measure_total_bytes()

    def get_value(self, namespace: str | None, key: str | None) -> str | None:
        return self.tables_by_namespace.get(namespace or "", {}).get(key or "")

    def put_value(self, namespace: str, key: str, value: str | None) -> KvPut:
        kv_table = self.tables_by_namespace.setdefault(namespace, {})
        previous_value = kv_table.get(key)
        self.total_bytes += entry_size(namespace, key, value) - self.entry_size_of(namespace, key)
        kv_table[key] = value
        self.generation += 1
        return KvPut(namespace, key, previous_value, value)

    def delete_key(self, namespace: str, key: str) -> KvDeleted | None:
        """Delete a key. Return None if it does not exist. A namespace stays even if it is empty now."""
        kv_table = self.tables_by_namespace.get(namespace, {})
        if key not in kv_table:
            return None
        self.generation += 1
        self.total_bytes -= self.entry_size_of(namespace, key)
        return KvDeleted(namespace, key, kv_table.pop(key))

    def restore_tables(self, namespace_tables: Mapping[str, Mapping[str, str | None]]) -> None:
        """Go back to earlier tables, because the later changes could not be saved."""
        self.tables_by_namespace = {
            namespace: dict(kv_table) for namespace, kv_table in namespace_tables.items()
        }
        self.generation += 1
        self.total_bytes = self._measure_total_bytes()

    def entry_size_of(self, namespace: str, key: str) -> int:
        """The size of an entry in bytes; 0 if it does not exist."""
        kv_table = self.tables_by_namespace.get(namespace, {})
        return entry_size(namespace, key, kv_table[key]) if key in kv_table else 0

    def _measure_total_bytes(self) -> int:
        return sum(
            entry_size(namespace, key, value)
            for namespace, kv_table in self.tables_by_namespace.items()
            for key, value in kv_table.items()
        )
