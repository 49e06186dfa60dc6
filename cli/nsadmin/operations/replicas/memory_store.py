"""The file that keeps the differences of slaves between two comparisons, in the folder of the inventory."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec

from namesrv_core.storage import atomic_write
from nsadmin.operations.inventory.keeper import InventoryKeeper
from nsadmin.operations.replicas.memory import Memory, RememberedDifference
from nsadmin.operations.replicas.records import Item, ItemKind
from nsadmin.operations.run_folder import convert_saved, read_json_file

_FILE_NAME = "replicas.json"
_FORMAT = 1


class ReplicaMemoryStore:
    """The memory of one cluster. `memory_folder` is None if nothing is kept."""

    def __init__(self, memory_folder: Path | None) -> None:
        self._memory_folder = memory_folder

    def load_memory(self) -> Memory:
        """Return the differences of the last comparison. Raises InvalidStateError."""
        if self._memory_folder is None:
            return {}
        return read_json_file(self._memory_folder / _FILE_NAME, _parse_memory) or {}

    def save_memory(self, memory: Memory) -> None:
        """Replace the file. A folder that cannot be written changes nothing: the next run has no memory."""
        if self._memory_folder is None:
            return
        file_record = {
            "format": _FORMAT,
            "differences": [
                [
                    *key,
                    remembered.since_ms,
                    remembered.master_item,
                    remembered.seen_ms,
                    remembered.slave_item,
                ]
                for key, remembered in memory.items()
            ],
        }
        file_bytes = json.dumps(file_record, ensure_ascii=False).encode("utf-8", "surrogatepass")
        with suppress(OSError):
            atomic_write.replace_file(self._memory_folder / _FILE_NAME, file_bytes, keeps_backup=False)


def open_replica_memory(inventory: InventoryKeeper | None) -> ReplicaMemoryStore:
    """Open the memory in the folder of an inventory; without one, nothing is kept."""
    if inventory is None or inventory.is_off:
        return ReplicaMemoryStore(None)
    return ReplicaMemoryStore(Path(inventory.store.inventory_folder))


class _SavedDifference(msgspec.Struct, array_like=True):
    cluster_name: str
    broker_name: str
    broker_id: int
    kind: ItemKind
    item_name: str
    since_ms: int
    master_item: Any
    seen_ms: int | None = None
    slave_item: Any = None
    """Earlier versions did not write the last two."""


class _SavedMemory(msgspec.Struct):
    format: Literal[1]
    differences: list[_SavedDifference]


def _parse_memory(json_value: Any) -> Memory:
    return {
        (saved.cluster_name, saved.broker_name, saved.broker_id, str(saved.kind), saved.item_name): (
            RememberedDifference(
                saved.since_ms,
                _parse_item(saved.kind, saved.master_item),
                saved.since_ms if saved.seen_ms is None else saved.seen_ms,
                _parse_item(saved.kind, saved.slave_item),
            )
        )
        for saved in convert_saved(json_value, _SavedMemory).differences
    }


def _parse_item(kind: ItemKind, item: Any) -> Item | None:
    if item is None:
        return None
    if kind is ItemKind.OFFSET:
        # JSON turns the queue ids into texts.
        return convert_saved(item, dict[int, int | None])
    return convert_saved(item, dict[str, Any])
