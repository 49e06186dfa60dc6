"""The KV config: values by namespace and key (upstream: `KVConfigManager`)."""

from collections.abc import Mapping

from namesrv_core.events import KvDeleted, KvPut

ORDER_TOPIC_CONFIG = "ORDER_TOPIC_CONFIG"
"""The namespace of ordered topics: the key is the topic, the value is like `brokerA:8;brokerB:8`."""

Tables = dict[str, dict[str, str | None]]


def entry_size(namespace: str, key: str, value: str | None) -> int:
    """The approximate size of an entry in bytes."""
    return sum(len(text.encode("utf-8", "replace")) for text in (namespace, key, value or ""))


class KvConfig:
    """The tables of the KV config. `total_bytes` is the size of all entries, `generation` counts changes.

    A value may be null, which reads as absent.
    """

    def __init__(self, tables: Mapping[str, Mapping[str, str | None]] | None = None) -> None:
        self.tables: Tables = {namespace: dict(table) for namespace, table in (tables or {}).items()}
        self.generation = 0
        self.size = self._measured()

    def get(self, namespace: str | None, key: str | None) -> str | None:
        return self.tables.get(namespace or "", {}).get(key or "")

    def put(self, namespace: str, key: str, value: str | None) -> KvPut:
        table = self.tables.setdefault(namespace, {})
        before = table.get(key)
        self.size += entry_size(namespace, key, value) - self.size_of(namespace, key)
        table[key] = value
        self.generation += 1
        return KvPut(namespace, key, before, value)

    def delete(self, namespace: str, key: str) -> KvDeleted | None:
        """Delete a key. Return None if it does not exist. A namespace stays even if it is empty now."""
        table = self.tables.get(namespace, {})
        if key not in table:
            return None
        self.generation += 1
        self.size -= self.size_of(namespace, key)
        return KvDeleted(namespace, key, table.pop(key))

    def restore(self, tables: Mapping[str, Mapping[str, str | None]]) -> None:
        """Go back to earlier tables, because the later changes could not be saved."""
        self.tables = {namespace: dict(table) for namespace, table in tables.items()}
        self.generation += 1
        self.size = self._measured()

    def size_of(self, namespace: str, key: str) -> int:
        """The size of an entry in bytes; 0 if it does not exist."""
        table = self.tables.get(namespace, {})
        return entry_size(namespace, key, table[key]) if key in table else 0

    def _measured(self) -> int:
        return sum(
            entry_size(namespace, key, value)
            for namespace, table in self.tables.items()
            for key, value in table.items()
        )
