"""What a broker keeps in RocksDB instead of in JSON files, read off its folder without writing into it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from namesrv_core.protocol import fastjson
from nsadmin.client.results import NotApplied


class Kind(NamedTuple):
    """One kind of settings: its table's name in JSON, the column families where all kinds share a store.

    `version_family` is None for what has no version; `file` is what a broker writes it to as JSON.
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
"""By mqadmin's names, which are those of the folders below a broker's config folder too."""
SHARED = "metadata"
"""The folder of a broker with useSingleRocksDBForAllConfigs=true."""
_VERSION_FAMILY, _VERSION_KEY = "kvDataVersion", b"kvDataVersionKey"
_TRIES = 3


class Missing(Exception):
    """The package that reads RocksDB is not installed."""


def document(config: Path, name: str, *, version: bool = True) -> dict[str, Any]:
    """The settings of a kind below a broker's config folder, as that broker writes them as JSON.

    `version` adds dataVersion. NotApplied where there are none or they cannot be read; Missing.
    """
    kind, error = KINDS[name], ""
    shared = not (config / name / "CURRENT").is_file() and (config / SHARED / "CURRENT").is_file()
    folder = config / (SHARED if shared else name)
    if not (folder / "CURRENT").is_file():
        raise NotApplied(_nothing(config, name))
    families = [kind.family, kind.version_family] if shared else ["default", kind.version_family]
    if not shared and kind.version_family:
        families[1] = _VERSION_FAMILY
    # A broker that runs may delete a file between the list of them and its opening.
    for _ in range(_TRIES):
        try:
            return _read(folder, kind, families, version=version)
        except (NotApplied, Missing):
            raise
        except Exception as failure:
            # The library has no error of its own.
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
        # A broker makes a family of the shared store when it first has something for it.
        kept = stores.get(entries or "")
        for key, value in kept.items() if kept is not None else ():
            # In a store of older releases the version stands among the rest.
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
    """The column families that are there, only to be read.

    The library leaves a file of its own in a folder that it opens, and by the store's own options its log
    where the broker has its logs. So it is given a folder of links, and options of its own.
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
