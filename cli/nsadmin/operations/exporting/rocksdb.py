"""Reads the settings that a broker keeps in RocksDB from its folder, without writing into that folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from namesrv_core.protocol import fastjson
from nsadmin.client.results import NotApplied


class Kind(NamedTuple):
    """One kind of settings: its table name in JSON and its column families in a shared store.

    `version_family` is None if the kind has no version. `file_name` is the broker's JSON file for this kind.
    """

    table: str
    family: str
    version_family: str | None
    file: str


KINDS = {
    "topics": Kind("topicConfigTable", "topic", "topicVersion", "topics.json"),
    "subscriptionGroups": Kind(
        "subscriptionGroupTable", "subscriptionGroup", "subscriptionGroupVersion", "subscriptionGroup.json"
    ),
    "consumerOffsets": Kind("offsetTable", "consumerOffset", None, "consumerOffset.json"),
}
"""The kinds by mqadmin's names, which are also the names of the folders below a broker's config folder."""
SHARED = "metadata"
"""The folder of the shared store, used by brokers with useSingleRocksDBForAllConfigs=true."""
_VERSION_FAMILY, _VERSION_KEY = "kvDataVersion", b"kvDataVersionKey"
_TRIES = 3


class Missing(Exception):
    """The Python package that reads RocksDB is not installed."""


def document(config: Path, name: str, *, version: bool = True) -> dict[str, Any]:
    """The settings of one kind below a broker's config folder, in the broker's JSON form.

    `include_version` adds dataVersion.

    Raises:
        NotApplied: the folder has no such settings, or they cannot be read.
        RocksDbReaderMissing: the Python package that reads RocksDB is not installed.
    """
    kind, error = KINDS[name], ""
    shared = not (config / name / "CURRENT").is_file() and (config / SHARED / "CURRENT").is_file()
    folder = config / (SHARED if shared else name)
    if not (folder / "CURRENT").is_file():
        raise NotApplied(_nothing(config, name))
    families = [kind.family, kind.version_family] if shared else ["default", kind.version_family]
    if not shared and kind.version_family:
        families[1] = _VERSION_FAMILY
    # A running broker may delete a file after we list the folder and before we open the file.
    for _ in range(_TRIES):
        try:
            return _read(folder, kind, families, version=version)
        except (NotApplied, Missing):
            raise
        except Exception as failure:
            # rocksdict raises plain Exception.
            error = str(failure)
    raise NotApplied(f"{folder}: cannot be read: {error}")


def _nothing(config: Path, name: str) -> str:
    if (config / "rdb" / "CURRENT").is_file():
        return f"{config}: it is of a broker with configManagerVersion=v2, which no tool reads but the broker"
    if (config / "CURRENT").is_file():
        return f"{config}: type the folder above it: a broker's config folder, with {name} in it"
    return f"{config}: there is no RocksDB {name} or {SHARED} in it: type a broker's config folder"


def _read(folder: Path, kind: Kind, families: list[str | None], *, version: bool) -> dict[str, Any]:
    entries, version_family = families
    with _opened(folder, [family for family in families if family]) as stores:
        table: dict[str, Any] = {}
        # A broker creates a column family of the shared store with the first entry.
        kept = stores.get(entries or "")
        for key, value in kept.items() if kept is not None else ():
            # In stores of older releases the version is among the entries.
            if key != _VERSION_KEY:
                item = _json(folder, key, value)
                table[_text(key)] = item["offsetTable"] if kind.table == "offsetTable" else item
        found: dict[str, Any] = {}
        if version and version_family and version_family in stores:
            data = stores[version_family].get(_VERSION_KEY)
            if data is not None:
                found["dataVersion"] = _json(folder, _VERSION_KEY, data)
    return {**found, kind.table: dict(sorted(table.items()))}


def _json(folder: Path, key: bytes, value: bytes) -> Any:
    try:
        return fastjson.loads(value)
    except ValueError:
        raise NotApplied(f"{folder}: what stands for {_text(key)} is not JSON") from None


def _text(key: bytes) -> str:
    return key.decode("utf-8", "replace")


@contextmanager
def _opened(folder: Path, families: list[str]) -> Iterator[dict[str, Any]]:
    """Open the column families that exist, read-only.

    The library writes a file into each folder that it opens, and with the store's own options it would write
    its log to the broker's log folder. So it opens a temporary folder of links, with default options.
    """
    try:
        from rocksdict import AccessType, Options, Rdict
    except ImportError:
        raise Missing("RocksDB needs a package: pip install 'nsadmin[rocksdb]'") from None
    with TemporaryDirectory(prefix="nsadmin-rocksdb-") as name:
        links = Path(name)
        for file in folder.iterdir():
            if file.is_file() and file.name not in ("LOCK", "rocksdict-config.json"):
                (links / file.name).symlink_to(file.resolve())
        there = [family for family in families if family in Rdict.list_cf(name, Options(raw_mode=True))]
        options = {family: Options(raw_mode=True) for family in there}
        store = Rdict(
            name, Options(raw_mode=True), column_families=options, access_type=AccessType.read_only()
        )
        try:
            yield {family: store.get_column_family(family) for family in there}
        finally:
            store.close()
