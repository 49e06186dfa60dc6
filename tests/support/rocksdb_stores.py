"""A broker's config folder with RocksDB stores in it, as releases since 5.3 lay them out."""

import json
from collections.abc import Collection
from pathlib import Path

from rocksdict import Options, Rdict

VERSION = {"counter": 3, "stateVersion": 0, "timestamp": 1_700_000_000_000}
ENTRIES: dict[str, dict[str, object]] = {
    "topics": {"orders": {"perm": 6, "topicName": "orders"}, "bills": {"perm": 4, "topicName": "bills"}},
    "subscriptionGroups": {"warehouse": {"groupName": "warehouse"}},
    "consumerOffsets": {"orders@warehouse": {"offsetTable": {"0": 7}}},
}
FAMILIES = {
    "topics": ("topic", "topicVersion"),
    "subscriptionGroups": ("subscriptionGroup", "subscriptionGroupVersion"),
    "consumerOffsets": ("consumerOffset", "unused"),
}


def separate_stores(config: Path) -> Path:
    """One for each kind, the version in a column family of its own."""
    for name, entries in ENTRIES.items():
        _write(config / name, {"default": entries}, set() if name == "consumerOffsets" else {"kvDataVersion"})
    return config


def shared_store(config: Path, kept: Collection[str] = ENTRIES.keys()) -> Path:
    """One for all, as with useSingleRocksDBForAllConfigs=true: a family is made with its first entry."""
    tables = {FAMILIES[name][0]: ENTRIES[name] for name in kept}
    _write(config / "metadata", tables, {FAMILIES[name][1] for name in kept} - {"unused"})
    return config


def _write(folder: Path, tables: dict[str, dict[str, object]], versions: set[str]) -> None:
    folder.mkdir(parents=True)
    raw = Options(raw_mode=True)
    raw.create_if_missing(True)
    store = Rdict(str(folder), raw)
    for name, entries in tables.items():
        family = store if name == "default" else store.create_column_family(name, Options(raw_mode=True))
        for key, value in entries.items():
            family[key.encode()] = json.dumps(value).encode()
    for name in versions:
        family = store.create_column_family(name, Options(raw_mode=True))
        family[b"kvDataVersionKey"] = json.dumps(VERSION).encode()
    store.close()
    (folder / "rocksdict-config.json").unlink()
