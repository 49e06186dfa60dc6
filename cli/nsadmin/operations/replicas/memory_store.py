"""The file that keeps the differences of slaves between two comparisons, in the folder of the inventory."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from namesrv_core.storage import atomic_write
from nsadmin.operations.inventory.keeper import InventoryKeeper
from nsadmin.operations.replicas.memory import Memory, RememberedDifference
from nsadmin.operations.replicas.records import ItemKind

_FILE_NAME = "replicas.json"
_FORMAT = 1


class ReplicaMemoryStore:
    """The memory of one cluster. A file that cannot be read counts as empty.

    `memory_folder` is None if nothing is kept.
    """

    def __init__(self, memory_folder: Path | None) -> None:
        self._memory_folder = memory_folder

    def load_memory(self) -> Memory:
        """Return the differences of the last comparison."""
        if self._memory_folder is None:
            return {}
        try:
            file_record = json.loads((self._memory_folder / _FILE_NAME).read_bytes())
            if file_record["format"] != _FORMAT:
                return {}
            return dict(map(_parse_difference, file_record["differences"]))
        except (OSError, ValueError, TypeError, LookupError, AttributeError):
            return {}

    def save_memory(self, memory: Memory) -> None:
        """Replace the file. A folder that cannot be written changes nothing: the next run has no memory."""
        if self._memory_folder is None:
            return
        file_record = {
            "format": _FORMAT,
            "differences": [
                [*difference_key, remembered.since_ms, remembered.master_item, remembered.seen_ms]
                for difference_key, remembered in memory.items()
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


def _parse_difference(
    difference_record: list[Any],
) -> tuple[tuple[str, str, int, str, str], RememberedDifference]:
    cluster_name, broker_name, broker_id, kind, item_name, since_ms, master_item, *seen_ms = difference_record
    if isinstance(master_item, Mapping) and kind == ItemKind.OFFSET:
        # JSON turns the queue ids into texts.
        master_item = {int(queue_id): offset for queue_id, offset in master_item.items()}
    return (
        (str(cluster_name), str(broker_name), int(broker_id), str(kind), str(item_name)),
        # Earlier versions did not write when the difference was last seen.
        RememberedDifference(int(since_ms), master_item, int(seen_ms[0]) if seen_ms else int(since_ms)),
    )
