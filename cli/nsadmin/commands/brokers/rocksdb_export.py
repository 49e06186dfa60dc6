"""Owns exportMetadataInRocksDB and rocksDBConfigToJson, which turn a broker's RocksDB configs into JSON."""

from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client import NotApplied
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.command_line.argument_values import parse_boolean
from nsadmin.command_line.broker_targets import (
    OptionalBrokerAddrOption,
    describe_targets,
    distinct_addrs,
    match_results,
    select_members,
)
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.brokers import TARGET_COLUMNS
from nsadmin.commands.columns.changes import CHANGES, RESULT
from nsadmin.commands.columns.files import FILE, SIZE
from nsadmin.commands.columns.servers import ERROR, outcome_word
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, OutputText, ResultRows, of_part
from nsadmin.console.session import Session
from nsadmin.operations.exports import rocksdb
from nsadmin.operations.exports.document_file import format_document, save_document

ENTRY_COLUMNS: Columns[tuple[str, Any]] = (
    Column("key", "topic or group; for offsets, TOPIC@GROUP", lambda e: e[0]),
    Column("value", "its settings; for offsets, the offsets of its queues", lambda e: e[1]),
)
JSON_FILE_COLUMNS: Columns[tuple[str, int]] = (FILE, SIZE)


class JsonOrder(NamedTuple):
    """The order to a broker to write JSON files."""

    changes: str | None
    error: RocketMQError | None
    result: str


JSON_ORDER_COLUMNS: Columns[tuple[BrokerTarget, JsonOrder]] = (
    *TARGET_COLUMNS,
    *of_part(
        itemgetter(1),
        (
            CHANGES,
            RESULT.means("done, dry-run, failed, or unchanged (the broker has no such data in RocksDB)"),
            ERROR,
        ),
    ),
)


@command(
    columns=ENTRY_COLUMNS,
    agent_refusal="it reads local files",
    examples=("elsewhere", "it reads files of a real broker"),
)
def export_metadata_in_rocks_db(
    session: Session,
    config_folder: Annotated[
        str, Argument(metavar="DIR", help="A broker's config folder on this machine."), Flags("-p", "--path")
    ],
    kind_text: Annotated[
        str,
        Argument(metavar="KIND", help="The tables to read."),
        Flags("-t", "--configType"),
        Values("topics|subscriptionGroups"),
    ],
    json_text: Annotated[
        str | None,
        Option(
            "-j",
            "--jsonEnable",
            metavar="true|false",
            help="true: print JSON in the broker's format instead of rows.",
        ),
    ] = None,
) -> ResultRows | OutputText:
    """Show the topics or consumer groups that a broker keeps in RocksDB, from its files.

    The folder is store/config of a broker with storeType=defaultRocksDB or
    useSingleRocksDBForAllConfigs=true. The broker may run. nsadmin writes nothing there. This needs the
    package nsadmin[rocksdb].

    Examples:
        # Topics, one row each
        nsadmin exportMetadataInRocksDB store/config topics
        # Groups as JSON
        nsadmin exportMetadataInRocksDB store/config subscriptionGroups -j true
    """
    [kind_name] = _parse_config_kinds(kind_text, ["topics", "subscriptionGroups"])
    config_document = _read_document(config_folder, kind_name, with_version=False)
    return (
        OutputText(format_document(config_document))
        if parse_boolean("-j", json_text)
        else _entry_rows(config_document, kind_name)
    )


@command(
    columns=(*ENTRY_COLUMNS, *JSON_FILE_COLUMNS, *JSON_ORDER_COLUMNS),
    agent_refusal="it reads local files",
    examples=("elsewhere", "it reads files of a real broker"),
)
def rocks_dbconfig_to_json(
    session: Session,
    broker_text: OptionalBrokerAddrOption = None,
    cluster_name: Annotated[
        str | None,
        Option(
            "-c",
            "--cluster",
            "--clusterName",
            metavar="CLUSTER",
            help="Every master and slave of this cluster.",
        ),
    ] = None,
    kind_list: Annotated[
        str | None,
        Option(
            "-t",
            "--configType",
            metavar="KINDS",
            help="topics;subscriptionGroups;consumerOffsets, or some of them. With -p, one.",
        ),
    ] = None,
    config_folder: Annotated[
        str | None,
        Option("-p", "--configPath", metavar="DIR", help="A broker's config folder on this machine."),
    ] = None,
    output_file: Annotated[
        str | None, Option("-e", "--exportFile", metavar="FILE", help="With -p: write to this file.")
    ] = None,
    json_text: Annotated[
        str | None,
        Option(
            "-j", "--jsonEnable", metavar="true|false", help="With -p: false prints rows instead of JSON."
        ),
    ] = None,
) -> ResultRows | OutputText:
    """Export the tables that a broker keeps in RocksDB as JSON.

    With -p, nsadmin reads the config folder of a broker (store/config) on this machine and writes nothing
    there. This needs the package nsadmin[rocksdb]. With -b or -c, brokers since 5.3.2 write topics.json and
    similar files to that folder on their own machines, and replace existing files. nsadmin does not ask a
    broker without data in RocksDB, because that broker would report a success and write nothing.

    Examples:
        # Topics from the files of a broker
        nsadmin rocksDBConfigToJson -p store/config -t topics
        # Preview the files that brokers of a cluster would write
        nsadmin rocksDBConfigToJson -c cluster-a --dry-run
        # Make one broker write its offsets
        nsadmin rocksDBConfigToJson -b 127.0.0.1:10911 -t consumerOffsets --yes
    """
    command_name = "rocksDBConfigToJson"
    kind_names = _parse_config_kinds(
        kind_list or ";".join(rocksdb.ROCKSDB_TABLES), list(rocksdb.ROCKSDB_TABLES)
    )
    shows_json = parse_boolean("-j", json_text) is not False
    if config_folder is None:
        if output_file is not None or json_text is not None:
            raise UsageError("-e and -j need -p DIR: they apply to files on this machine")
        return _order_json_files(session, command_name, broker_text, cluster_name, kind_names)
    if broker_text is not None or cluster_name is not None or session.is_dry_run:
        raise UsageError("-p excludes -b, -c and --dry-run: it reads files on this machine")
    if len(kind_names) > 1:
        raise UsageError(f"missing table: with -p, pass -t {' or -t '.join(rocksdb.ROCKSDB_TABLES)}")
    config_document = _read_document(config_folder, kind_names[0])
    if output_file is not None:
        return _save_document(output_file, config_document)
    return (
        OutputText(format_document(config_document))
        if shows_json
        else _entry_rows(config_document, kind_names[0])
    )


def _parse_config_kinds(kind_list: str, known_kinds: Sequence[str]) -> list[str]:
    kinds_by_lower = {kind_name.lower(): kind_name for kind_name in known_kinds}
    typed_kinds = [kind_name.strip() for kind_name in kind_list.split(";") if kind_name.strip()]
    wrong_kinds = [kind_name for kind_name in typed_kinds if kind_name.lower() not in kinds_by_lower]
    if wrong_kinds or not typed_kinds:
        raise UsageError(f'invalid table "{kind_list}" for -t: use {" or ".join(known_kinds)}')
    return list(dict.fromkeys(kinds_by_lower[kind_name.lower()] for kind_name in typed_kinds))


def _read_document(config_folder: str, kind_name: str, *, with_version: bool = True) -> dict[str, Any]:
    try:
        return rocksdb.read_rocksdb_document(Path(config_folder), kind_name, include_version=with_version)
    except OSError as error:
        raise UsageError(f"cannot read {config_folder}: {error.strerror or error}") from None
    except (rocksdb.RocksDbReaderMissing, NotApplied) as read_error:
        raise UsageError(f"{read_error}") from None


def _entry_rows(config_document: dict[str, Any], kind_name: str) -> ResultRows:
    entry_table = config_document[rocksdb.ROCKSDB_TABLES[kind_name].table_name]
    return ResultRows.from_records(ENTRY_COLUMNS, entry_table.items())


def _save_document(output_file: str, config_document: dict[str, Any]) -> ResultRows:
    try:
        written_bytes = save_document(Path(output_file), config_document)
    except OSError as error:
        raise UsageError(f"{output_file}: {error.strerror}") from None
    return ResultRows.from_records(JSON_FILE_COLUMNS, [(output_file, written_bytes)])


def _order_json_files(
    session: Session,
    command_name: str,
    broker_text: str | None,
    cluster_name: str | None,
    kind_names: Sequence[str],
) -> ResultRows:
    session.require_writable(command_name)
    targets = select_members(session, broker_text, cluster_name)
    config_stores = session.admin.upkeep.config_stores
    states = config_stores.check_json_export(distinct_addrs(targets))
    writing_addrs = [s.addr for s in states if s.result and s.result.reason is None]
    errors_by_addr: dict[str, RocketMQError | None] = {}
    if writing_addrs and not session.is_dry_run:
        session.confirm_change(
            f"Make {describe_targets(targets)} write JSON files, which replaces existing ones?"
        )
        errors_by_addr = {r.addr: r.error for r in config_stores.export_json(writing_addrs, kind_names)}
    file_names = ", ".join(rocksdb.ROCKSDB_TABLES[name].file_name for name in kind_names)
    done = "dry-run" if session.is_dry_run else "done"
    orders: list[JsonOrder] = []
    for addr, state, read_error in match_results(targets, states):
        error = errors_by_addr.get(addr, read_error)
        if state is None:
            orders.append(JsonOrder(None, error, outcome_word(error, "failed")))
        elif state.reason:
            orders.append(JsonOrder(f"nothing: {state.reason}", error, outcome_word(error, "unchanged")))
        else:
            changes = f"writes {file_names} in {state.folder}"
            orders.append(JsonOrder(changes, error, outcome_word(error, done)))
    errors = [order.error for order in orders]
    return ResultRows.from_records(JSON_ORDER_COLUMNS, zip(targets, orders, strict=True), errors)
