"""Owns exportMetadataInRocksDB and rocksDBConfigToJson, which turn a broker's RocksDB configs into JSON."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from namesrv_core.errors import RocketMQError
from nsadmin.client import NotApplied, ServerResult
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.results import outcome
from nsadmin.commands.targets import (
    IDENTITY,
    AddrOption,
    addrs,
    identity,
    matched,
    members_at,
    places,
)
from nsadmin.commands.units import size
from nsadmin.commands.values import flag
from nsadmin.diagnostics import UsageError
from nsadmin.operations.exporting import rocksdb
from nsadmin.operations.exporting.saving import save, text_of
from nsadmin.output import Row, Rows, Text
from nsadmin.session import Session

ENTRIES = ("key", "value")
FILES = ("file", "size")
ORDERS = (*IDENTITY, "changes", "result", "error")


@shows(ENTRIES)
def export_metadata_in_rocks_db(
    session: Session,
    path: Annotated[str, Word(("-p", "--path"), "DIR", "A broker's config folder, read here.")],
    kind: Annotated[
        str,
        Word(("-t", "--configType"), "KIND", "What to read.", values="topics|subscriptionGroups"),
    ],
    as_json: Annotated[
        str | None,
        Option(
            "-j", "--jsonEnable", metavar="true|false", help="true: JSON as brokers have it, instead of rows."
        ),
    ] = None,
) -> Rows | Text:
    """Show the topics or consumer groups that a broker keeps in RocksDB, read off its files.

    The folder is store/config of a broker with storeType=defaultRocksDB; the broker may run, and nothing is
    written there. A broker with useSingleRocksDBForAllConfigs=true is read too. The package nsadmin[rocksdb]
    has to be installed.

    Examples:
        # Topics, a row for each
        nsadmin exportMetadataInRocksDB store/config topics
        # Groups as JSON
        nsadmin exportMetadataInRocksDB store/config subscriptionGroups -j true
    """
    command = "exportMetadataInRocksDB"
    [name] = _kinds(command, kind, ["topics", "subscriptionGroups"])
    found = _document(command, path, name, version=False)
    return Text(text_of(found)) if flag(command, "-j", as_json) else _entries(found, name)


@shows(ENTRIES, FILES, ORDERS)
def rocks_dbconfig_to_json(
    session: Session,
    broker: AddrOption = None,
    cluster: Annotated[
        str | None,
        Option("-c", "--cluster", "--clusterName", metavar="CLUSTER", help="Every master and slave of it."),
    ] = None,
    kinds: Annotated[
        str | None,
        Option(
            "-t",
            "--configType",
            metavar="KINDS",
            help="topics;subscriptionGroups;consumerOffsets, or some of them; with -p, one.",
        ),
    ] = None,
    path: Annotated[
        str | None, Option("-p", "--configPath", metavar="DIR", help="A broker's config folder, read here.")
    ] = None,
    file: Annotated[
        str | None, Option("-e", "--exportFile", metavar="FILE", help="With -p: write this file.")
    ] = None,
    as_json: Annotated[
        str | None,
        Option("-j", "--jsonEnable", metavar="true|false", help="With -p: false shows rows instead of JSON."),
    ] = None,
) -> Rows | Text:
    """Turn what a broker keeps in RocksDB into JSON: read off its files here, or have brokers write it.

    With -p, the config folder of a broker (store/config) is read, and nothing is written there; the package
    nsadmin[rocksdb] has to be installed. With -b or -c, brokers since 5.3.2 write topics.json and others into
    that folder on their own machines, over what is there. A broker that keeps nothing in RocksDB writes
    nothing, and is not asked, as it would say that it did.

    Examples:
        # Topics, read off the files of a broker
        nsadmin rocksDBConfigToJson -p store/config -t topics
        # What brokers of a cluster would write
        nsadmin rocksDBConfigToJson -c cluster-a --dry-run
        # Have one broker write its offsets
        nsadmin rocksDBConfigToJson -b 127.0.0.1:10911 -t consumerOffsets --yes
    """
    command = "rocksDBConfigToJson"
    names = _kinds(command, kinds or ";".join(rocksdb.KINDS), list(rocksdb.KINDS))
    shown = flag(command, "-j", as_json) is not False
    if path is None:
        if file is not None or as_json is not None:
            raise UsageError(
                f"{command}: -e and -j are for files that are read here: name their folder by -p"
            )
        return _ordered(session, command, broker, cluster, names)
    if broker is not None or cluster is not None or session.dry_run:
        raise UsageError(f"{command}: -p reads files here: leave -b, -c and --dry-run out")
    if len(names) > 1:
        raise UsageError(f"{command}: with -p, say which: -t {' or -t '.join(rocksdb.KINDS)}")
    found = _document(command, path, names[0])
    if file is not None:
        return _saved(file, found)
    return Text(text_of(found)) if shown else _entries(found, names[0])


def _kinds(command: str, text: str, known: Sequence[str]) -> list[str]:
    by_lower = {name.lower(): name for name in known}
    names = [name.strip() for name in text.split(";") if name.strip()]
    wrong = [name for name in names if name.lower() not in by_lower]
    if wrong or not names:
        raise UsageError(f"{command}: -t {text!r} cannot be: give {' or '.join(known)}")
    return list(dict.fromkeys(by_lower[name.lower()] for name in names))


def _document(command: str, path: str, name: str, *, version: bool = True) -> dict[str, Any]:
    try:
        return rocksdb.document(Path(path), name, version=version)
    except (rocksdb.Missing, NotApplied, OSError) as failure:
        raise UsageError(f"{command}: {failure}") from None


def _entries(found: dict[str, Any], name: str) -> Rows:
    table = found[rocksdb.KINDS[name].table]
    return Rows(ENTRIES, [{"key": key, "value": value} for key, value in table.items()])


def _saved(file: str, found: dict[str, Any]) -> Rows:
    try:
        written = save(Path(file), found)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    return Rows(FILES, [{"file": file, "size": size(written)}])


def _ordered(
    session: Session, command: str, broker: str | None, cluster: str | None, names: Sequence[str]
) -> Rows:
    session.require_writable(command)
    targets = members_at(session, command, broker, cluster)
    stores = session.admin.upkeep.config_stores
    kept = stores.kept(addrs(targets))
    able = [item.addr for item in kept if item.result and item.result.reason is None]
    done: dict[str, ServerResult[bool]] = {}
    if able and not session.dry_run:
        session.confirm(f"Have {places(targets)} write JSON files over those they have?")
        done = {result.addr: result for result in stores.write_json(able, names)}
    files = ", ".join(rocksdb.KINDS[name].file for name in names)
    rows, errors = list[Row](), list[RocketMQError | None]()
    for target, item in zip(targets, matched(targets, kept), strict=True):
        error = done[item.addr].error if item.addr in done else item.error
        changes, word = None, "failed"
        if item.result is not None:
            reason = item.result.reason
            changes = f"nothing: {reason}" if reason else f"writes {files} in {item.result.folder}"
            word = "unchanged" if reason else "dry-run" if session.dry_run else "done"
        rows.append({**identity(target), "changes": changes, **outcome(error, word)})
        errors.append(error)
    return Rows(ORDERS, rows, errors)
