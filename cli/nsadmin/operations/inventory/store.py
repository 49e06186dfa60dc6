"""The folder of an inventory: its brokers, its topics, and the lock of the process that writes.

Rule: a file is replaced as a whole, and only under the lock, so that commands at the same time lose nothing.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from namesrv_core import operator_files
from namesrv_core.errors import RocketMQError
from nsadmin.operations.inventory.records import (
    ExpectedBroker,
    TopicPlacements,
    find_move_of_last_seen,
    move_last_seen,
)
from nsadmin.operations.state_folder import name_folder

_BROKERS_FILE, _TOPICS_FILE, _LOOK_FILE, _LOCK_FILE = "brokers.json", "topics.json", "look.json", "lock"
_FORMAT = 1
_LOCK_ATTEMPTS = 20
"""Attempts to take the lock, of 50 ms each. A process holds it for a few milliseconds."""

_FIELD_TYPES: Mapping[str, tuple[type, ...]] = {
    "cluster_name": (str,),
    "broker_name": (str,),
    "broker_id": (int,),
    "broker_addr": (str,),
    "first_seen_ms": (int, type(None)),
    "last_seen_ms": (int, type(None)),
    "is_pinned": (bool,),
    "is_leaving": (bool,),
    "has_left": (bool,),
    "former_addr": (str,),
}


class InventoryBusyError(OSError):
    """Another process holds the lock of the inventory."""


class DamagedInventoryError(RocketMQError):
    """A file of the inventory cannot be read. The text is one line that names it."""


def inventory_folder_of(state_home: str, inventory_key: str) -> str:
    """Return the folder of the inventory with this key."""
    return os.path.join(state_home, "inventory", name_folder(inventory_key))


class InventoryStore:
    """The folder of one inventory. Methods that read a file raise DamagedInventoryError."""

    def __init__(self, inventory_folder: str) -> None:
        self.inventory_folder = inventory_folder

    def load_brokers(self) -> tuple[ExpectedBroker, ...]:
        """Return the expected brokers, in the order of names and ids."""
        records = self._load_list(_BROKERS_FILE, "brokers", _is_broker_record)
        brokers = tuple(ExpectedBroker(**record) for record in records)
        look = self._load_look()
        return move_last_seen(brokers, *look) if look else brokers

    def _load_look(self) -> list[int]:
        """Return two times, or none: what was seen at the first was also seen at the second."""
        look_path = os.path.join(self.inventory_folder, _LOOK_FILE)
        if os.path.exists(look_path) and not os.path.getsize(look_path):
            # A loss of power.
            return []
        look = self._load_list(_LOOK_FILE, "look", lambda time_ms: type(time_ms) is int)
        if len(look) not in (0, 2):
            raise _damage_error(look_path, "look must be a list of two times")
        return look

    def load_topics(self) -> TopicPlacements:
        """Return the topics per broker."""
        return {
            topic: placement["brokers"]
            for placement in self._load_list(_TOPICS_FILE, "placements", _is_placement)
            for topic in placement["topics"]
        }

    def _load_list(self, file_name: str, list_name: str, is_record: Callable[[object], bool]) -> list[Any]:
        file_path = os.path.join(self.inventory_folder, file_name)
        try:
            file_record = operator_files.parse_json(operator_files.read_bytes(file_path))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except (OSError, ValueError) as error:
            raise _damage_error(file_path, getattr(error, "strerror", None) or "it is not JSON") from None
        if not isinstance(file_record, dict) or file_record.get("format") != _FORMAT:
            raise _damage_error(file_path, f"its format is not {_FORMAT}")
        records = file_record.get(list_name)
        if not isinstance(records, list) or not all(map(is_record, records)):
            raise _damage_error(file_path, f"{list_name} has the wrong type")
        return records

    def change_brokers(
        self, change: Callable[[tuple[ExpectedBroker, ...]], Sequence[ExpectedBroker]]
    ) -> None:
        """Replace the expected brokers by the result of `change`. Raises OSError.

        If all listed brokers were only seen once more, that is saved as a time in a small file.
        """
        with self._lock():
            known = self.load_brokers()
            changed = tuple(change(known))
            move = find_move_of_last_seen(known, changed)
            if move is None:
                self._replace_file(_BROKERS_FILE, {"brokers": [broker._asdict() for broker in changed]})
            else:
                from_ms, to_ms = move
                look = self._load_look()
                # The file of the brokers still has the time at which the last look began.
                saved_ms = look[0] if look[1:] == [from_ms] else from_ms
                self._replace_file(_LOOK_FILE, {"look": [saved_ms, to_ms]})

    def change_topics(self, change: Callable[[TopicPlacements], TopicPlacements]) -> None:
        """Replace the topics per broker by the result of `change`. Raises OSError."""
        with self._lock():
            self._replace_file(_TOPICS_FILE, {"placements": _group_topics(change(self.load_topics()))})

    @contextmanager
    def _lock(self) -> Iterator[None]:
        # Imported late: most commands only read an inventory.
        from pathlib import Path

        from nsadmin.operations.process_lock import ProcessLock

        folder_lock = ProcessLock(Path(self.inventory_folder, _LOCK_FILE))
        if not any(folder_lock.acquire() for _ in range(_LOCK_ATTEMPTS)):
            raise InventoryBusyError(
                f"another process writes to {self.inventory_folder}: run the command again later"
            )
        try:
            yield
        finally:
            folder_lock.release()

    def _replace_file(self, file_name: str, record: Mapping[str, Any]) -> None:
        from pathlib import Path

        from namesrv_core.storage import atomic_write

        file_text = json.dumps({"format": _FORMAT, **record}, ensure_ascii=False)
        atomic_write.replace_file(
            Path(self.inventory_folder, file_name),
            file_text.encode("utf-8", "surrogatepass"),
            keeps_backup=False,
            # Every command writes a look: it does not wait for the disk.
            is_durable=file_name != _LOOK_FILE,
        )


def _damage_error(file_path: str, problem: str) -> DamagedInventoryError:
    return DamagedInventoryError(
        f"the inventory {file_path} cannot be read: {problem}: restore the file, or move it away"
    )


def _is_broker_record(json_value: object) -> bool:
    return (
        isinstance(json_value, dict)
        # Earlier releases did not save `former_addr`.
        and json_value.keys() | {"former_addr"} == _FIELD_TYPES.keys()
        and all(type(value) in _FIELD_TYPES[name] for name, value in json_value.items())
    )


def _is_placement(json_value: object) -> bool:
    return (
        isinstance(json_value, dict)
        and isinstance(json_value.get("brokers"), dict)
        and all(type(perm) is int for perm in json_value["brokers"].values())
        and isinstance(json_value.get("topics"), list)
        and all(isinstance(topic, str) for topic in json_value["topics"])
    )


def _group_topics(topic_placements: TopicPlacements) -> list[dict[str, Any]]:
    """Group the topics that have the same brokers: most topics of a cluster have."""
    topics_by_placement: dict[tuple[tuple[str, int], ...], list[str]] = {}
    for topic, perms_by_broker in sorted(topic_placements.items()):
        topics_by_placement.setdefault(tuple(sorted(perms_by_broker.items())), []).append(topic)
    return [{"brokers": dict(key), "topics": topics} for key, topics in topics_by_placement.items()]
