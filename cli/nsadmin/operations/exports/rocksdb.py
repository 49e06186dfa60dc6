"""Reads the settings that a broker keeps in RocksDB from its folder, without writing into that folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from namesrv_core.protocol import fastjson
from nsadmin.client.extras import describe_missing
from nsadmin.client.results import NotApplied


class RocksDbTable(NamedTuple):
    """One kind of settings: its table name in JSON and its column families in a shared store.

    `version_family` is None if the kind has no version. `file_name` is the broker's JSON file for this kind.
    """

    table_name: str
    column_family: str
    version_family: str | None
    file_name: str


ROCKSDB_TABLES = {
    "topics": RocksDbTable("topicConfigTable", "topic", "topicVersion", "topics.json"),
    "subscriptionGroups": RocksDbTable(
        "subscriptionGroupTable", "subscriptionGroup", "subscriptionGroupVersion", "subscriptionGroup.json"
    ),
    "consumerOffsets": RocksDbTable("offsetTable", "consumerOffset", None, "consumerOffset.json"),
}
"""The kinds by mqadmin's names, which are also the names of the folders below a broker's config folder."""
SHARED_STORE = "metadata"
"""The folder of the shared store, used by brokers with useSingleRocksDBForAllConfigs=true."""
_VERSION_FAMILY, _VERSION_KEY = "kvDataVersion", b"kvDataVersionKey"
_READ_ATTEMPTS = 3


class RocksDbReaderMissing(Exception):
    """The Python package that reads RocksDB is not installed."""


def read_rocksdb_document(
    config_folder: Path, table_kind: str, *, include_version: bool = True
) -> dict[str, Any]:
    """The settings of one kind below a broker's config folder, in the broker's JSON form.

    `include_version` adds dataVersion.

    Raises:
        NotApplied: the folder has no such settings, or they cannot be read.
        RocksDbReaderMissing: the Python package that reads RocksDB is not installed.
    """
    rocksdb_table, last_error = ROCKSDB_TABLES[table_kind], ""
    is_shared = (
        not (config_folder / table_kind / "CURRENT").is_file()
        and (config_folder / SHARED_STORE / "CURRENT").is_file()
    )
    store_folder = config_folder / (SHARED_STORE if is_shared else table_kind)
    if not (store_folder / "CURRENT").is_file():
        raise NotApplied(_explain_missing_store(config_folder, table_kind))
    column_families = (
        [rocksdb_table.column_family, rocksdb_table.version_family]
        if is_shared
        else ["default", rocksdb_table.version_family]
    )
    if not is_shared and rocksdb_table.version_family:
        column_families[1] = _VERSION_FAMILY
    # A running broker may delete a file after we list the folder and before we open the file.
    for _ in range(_READ_ATTEMPTS):
        try:
            return _read_table(store_folder, rocksdb_table, column_families, include_version=include_version)
        except (NotApplied, RocksDbReaderMissing):
            raise
        except Exception as failure:
            # rocksdict raises plain Exception.
            last_error = str(failure)
    raise NotApplied(f"{store_folder}: not readable: {last_error}")


def _explain_missing_store(folder: Path, table_kind: str) -> str:
    if not folder.is_dir():
        return f"{folder} is not a folder: use a broker's config folder"
    if (folder / "rdb" / "CURRENT").is_file():
        return f"{folder}: the broker has configManagerVersion=v2, and only the broker can read this format"
    if (folder / "CURRENT").is_file():
        return f"{folder}: use the parent folder, which is the broker's config folder and has {table_kind}"
    return f"{folder}: no RocksDB {table_kind} or {SHARED_STORE} in this folder: use a broker's config folder"


def _read_table(
    store_folder: Path,
    rocksdb_table: RocksDbTable,
    column_families: list[str | None],
    *,
    include_version: bool,
) -> dict[str, Any]:
    entry_family, version_family = column_families
    with _open_stores(store_folder, [family for family in column_families if family]) as family_stores:
        table_items: dict[str, Any] = {}
        # A broker creates a column family of the shared store with the first entry.
        entry_store = family_stores.get(entry_family or "")
        for entry_key, entry_value in entry_store.items() if entry_store is not None else ():
            # In stores of older releases the version is among the entries.
            if entry_key != _VERSION_KEY:
                parsed_value = _parse_value(store_folder, entry_key, entry_value)
                table_items[_decode_key(entry_key)] = (
                    parsed_value["offsetTable"] if rocksdb_table.table_name == "offsetTable" else parsed_value
                )
        version_fields: dict[str, Any] = {}
        if include_version and version_family and version_family in family_stores:
            version_data = family_stores[version_family].get(_VERSION_KEY)
            if version_data is not None:
                version_fields["dataVersion"] = _parse_value(store_folder, _VERSION_KEY, version_data)
    return {**version_fields, rocksdb_table.table_name: dict(sorted(table_items.items()))}


def _parse_value(store_folder: Path, entry_key: bytes, entry_value: bytes) -> Any:
    try:
        return fastjson.decode_json(entry_value)
    except ValueError:
        raise NotApplied(f"{store_folder}: the value of {_decode_key(entry_key)} is not JSON") from None


def _decode_key(entry_key: bytes) -> str:
    return entry_key.decode("utf-8", "replace")


@contextmanager
def _open_stores(store_folder: Path, column_families: list[str]) -> Iterator[dict[str, Any]]:
    """Open the column families that exist, read-only.

    The library writes a file into each folder that it opens, and with the store's own options it would write
    its log to the broker's log folder. So it opens a temporary folder of links, with default options.
    """
    try:
        from rocksdict import AccessType, Options, Rdict
    except ImportError:
        raise RocksDbReaderMissing(describe_missing("rocksdict", "rocksdb")) from None
    with TemporaryDirectory(prefix="nsadmin-rocksdb-") as links_name:
        links_folder = Path(links_name)
        for store_file in store_folder.iterdir():
            if store_file.is_file() and store_file.name not in ("LOCK", "rocksdict-config.json"):
                (links_folder / store_file.name).symlink_to(store_file.resolve())
        present_families = [
            f for f in column_families if f in Rdict.list_cf(links_name, Options(raw_mode=True))
        ]
        family_options = {column_family: Options(raw_mode=True) for column_family in present_families}
        rocksdb_store = Rdict(
            links_name,
            Options(raw_mode=True),
            column_families=family_options,
            access_type=AccessType.read_only(),
        )
        try:
            yield {f: rocksdb_store.get_column_family(f) for f in present_families}
        finally:
            rocksdb_store.close()
