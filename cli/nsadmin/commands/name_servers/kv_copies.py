"""Owns kv diff, kv sync, kv export and kv import. Name servers never copy the KV config to each other."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Annotated

from typer import Argument, Option

from namesrv_core import operator_files, private_files
from namesrv_core.errors import RocketMQError
from nsadmin.client import NotFound, ServerResult
from nsadmin.client.advised_command import quote_command
from nsadmin.client.connection.addresses import parse_addr
from nsadmin.client.connection.name_server_reader import pick_result
from nsadmin.client.name_servers.kv_config import KvChange, KvTables
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.snapshots import ClusterSnapshot
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.changes import ServerChange, change_columns
from nsadmin.commands.columns.files import FILE
from nsadmin.commands.columns.name_servers import KV_KEY, NAMESPACE
from nsadmin.commands.columns.servers import NAMESRV_ADDR, result_notes
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, OutputText, ResultRows, of_part
from nsadmin.console.phrases import abbreviate_names, count_noun
from nsadmin.console.session import Session
from nsadmin.operations import kv_copies
from nsadmin.operations.divergence.causes import CauseEvidence, find_cause, find_pattern
from nsadmin.operations.divergence.comparison import ItemDifference, compare_snapshots
from nsadmin.operations.divergence.observer import find_namespaces
from nsadmin.operations.divergence.verdict import describe_difference, map_by_server

KV_DIFF_COLUMNS: Columns[tuple[ItemDifference, tuple[str, ...]]] = (
    NAMESPACE.of(lambda r: r[0].item.parent_name),
    KV_KEY.of(lambda r: r[0].item.name),
    Column("differs", "the difference: which name server has which value", lambda r: describe_difference(*r)),
    Column("values", "the value on each name server; null for none", lambda r: map_by_server(*r), wide=True),
)
KV_COPY_COLUMNS: Columns[tuple[ServerChange, KvChange | None]] = (
    NAMESRV_ADDR.of(lambda r: r[0].server),
    *of_part(itemgetter(1), (NAMESPACE, KV_KEY)),
    *of_part(
        itemgetter(0),
        change_columns(
            "the previous text; null if there was no key",
            "the new text; null if the key is deleted",
            "done, dry-run, failed or not found",
        ),
    ),
)
KV_FILE_COLUMNS: Columns[tuple[str, str, int]] = (
    FILE,
    NAMESPACE.of(lambda r: r[1]),
    Column("entries", "number of written keys", lambda r: r[2]),
)
NamespacesOption = Annotated[
    list[str] | None,
    Option(
        "-s",
        "--namespace",
        metavar="NAMESPACE",
        help="KV namespace. Default: ORDER_TOPIC_CONFIG. Repeatable.",
    ),
    Values("namespaces"),
]
PruneOption = Annotated[bool, Option("--prune", help="Delete keys that the file does not have.")]


class KvConfigsDifferError(RocketMQError):
    """The KV configs of the name servers differ."""


@command(columns=KV_DIFF_COLUMNS)
def kv_diff(
    session: Session,
    namespaces: Annotated[
        list[str] | None,
        Argument(metavar="NAMESPACE", help="Only this KV namespace. With -s repeatable."),
        Flags("-s", "--namespace"),
        Values("namespaces"),
    ],
) -> ResultRows:
    """Show the differences between the KV configs of the name servers.

    Name servers never copy the KV config to each other. Without a namespace, nsadmin compares
    ORDER_TOPIC_CONFIG and the namespaces that nsadmin's name servers list. Apache's cannot list theirs: name
    each. A line names the compared namespaces. The exit code is 0 if all name servers are equal, and 1 if
    they differ. It is 3 if a name server did not answer, or if there is only one, and 5 if none has the
    namespaces that you name.

    Examples:
        # Order configurations; one name server has an additional one (exit code 1)
        nsadmin kv diff
        # Another namespace, for a script (exit code 1)
        nsadmin kv diff DEPLOYMENT --json
    """
    wanted_namespaces, unlisted_addrs = (
        (_distinct_namespaces(namespaces), ()) if namespaces else find_namespaces(session.admin)
    )
    table_results = session.admin.name_server_tables.mark_duplicate_servers(
        session.admin.kv.get_tables_each(wanted_namespaces, session.admin.addresses.addrs)
    )
    tables_by_addr = {r.addr: r.result for r in table_results if r.result is not None}
    if namespaces and len(tables_by_addr) == len(table_results):
        _require_any("no name server", wanted_namespaces, list(tables_by_addr.values()))
    snapshots = [_make_kv_snapshot(addr, tables) for addr, tables in tables_by_addr.items()]
    comparison = compare_snapshots(snapshots, ["kv"])
    notes = []
    if unlisted_addrs:
        notes.append(f"{', '.join(unlisted_addrs)} cannot list namespaces: pass others with -s NAMESPACE")
    notes += result_notes(table_results, "name server")
    errors: list[RocketMQError | None] = [None]
    if comparison.differences:
        errors = [KvConfigsDifferError("the KV configs differ")]
        evidence = CauseEvidence(snapshots, {})
        # Keys that the same name servers have alike need one command.
        kinds = {(d.item.parent_name, find_pattern(d.server_values)): d for d in comparison.differences}
        found = count_noun(len(comparison.differences), "difference")
        notes.insert(0, f"{found} in {_describe_scope(wanted_namespaces, list(tables_by_addr.values()))}")
        notes += [f"next: {find_cause(difference, evidence).advice}" for difference in kinds.values()]
    elif len(tables_by_addr) < 2:
        answers = f"{len(tables_by_addr)} of {len(table_results)} name servers answered"
        notes.insert(0, f"nothing was compared: {answers}, and a comparison needs two")
        errors.append(KvConfigsDifferError("too few name servers to compare"))
    else:
        notes.insert(0, _describe_agreement(wanted_namespaces, list(tables_by_addr.values())))
        errors += [r.error for r in table_results if r.error is not None]
    differences = [(difference, comparison.server_addrs) for difference in comparison.differences]
    return ResultRows.from_records(KV_DIFF_COLUMNS, differences, errors, notes)


def _describe_scope(namespaces: Sequence[str], tables: Sequence[KvTables]) -> str:
    """Name the compared namespaces: an empty list of differences says nothing about others."""
    absent = [namespace for namespace in namespaces if not any(namespace in table for table in tables)]
    absent_text = f" (on no name server: {', '.join(absent)})" if absent and tables else ""
    return f"{', '.join(namespaces)}{absent_text}"


def _describe_agreement(namespaces: Sequence[str], tables: Sequence[KvTables]) -> str:
    counts = [f"{name} ({count_noun(len(tables[0].get(name, ())), 'key')})" for name in namespaces]
    return f"{len(tables)} name servers agree on {', '.join(counts)}"


def _require_any(nobody: str, namespaces: Sequence[str], tables: Sequence[KvTables]) -> None:
    if not any(namespace in table for namespace in namespaces for table in tables):
        raise NotFound(f'{nobody} has the namespace "{namespaces[0]}"')


def _make_kv_snapshot(namesrv_addr: str, kv_tables: KvTables) -> ClusterSnapshot:
    return ClusterSnapshot(namesrv_addr, 0, {}, {}, kv_tables, {})


@command(columns=KV_COPY_COLUMNS, agent_refusal="it connects to an address on the command line")
def kv_sync(
    session: Session,
    source_text: Annotated[
        str,
        Argument(metavar="SOURCE", help="The name server to copy from, HOST:PORT."),
        Flags("--from"),
        Values("name-servers"),
    ],
    namespaces: NamespacesOption = None,
    wanted_keys: Annotated[
        list[str] | None, Option("-k", "--key", metavar="KEY", help="Only this key. Repeatable.")
    ] = None,
    prune_missing: Annotated[
        bool, Option("--prune", help="Delete keys that the source does not have.")
    ] = False,
) -> ResultRows:
    """Copy KV config from one name server to all others, and verify it.

    nsadmin writes only differences. It keeps keys that only the other name servers have, unless you pass
    --prune. In a script without a terminal, pass --yes with --prune. nsadmin refuses a namespace that the
    source does not have.

    Examples:
        # Preview the copy
        nsadmin kv sync --from 127.0.0.1:9876 --dry-run
        # Make order configurations equal to those of one name server
        nsadmin kv sync --from 127.0.0.1:9876 --prune --yes
    """
    wanted_namespaces = _distinct_namespaces(namespaces)
    source_addr = _parse_source(session, source_text, ("kv", "sync"))
    if prune_missing and wanted_keys:
        raise UsageError("--prune and --key exclude each other: --prune applies to whole namespaces")
    [source_result] = session.admin.kv.get_tables_each(wanted_namespaces, [source_addr])
    if source_result.result is None:
        raise source_result.error or NotFound(f"{source_addr} did not answer")
    missing = [namespace for namespace in wanted_namespaces if namespace not in source_result.result]
    if missing:
        raise NotFound(f'{source_addr} has no namespace "{missing[0]}": nothing was changed')
    wanted_tables = _select_keys(source_result.result, wanted_keys)
    other_addrs = [addr for addr in session.admin.addresses.addrs if addr != source_addr]
    if not other_addrs:
        raise UsageError(f"no name server other than {source_addr}: pass all of them with -n")
    return _apply_tables(session, "kv sync", wanted_tables, other_addrs, prune_missing)


def _parse_source(session: Session, source_text: str, command_words: Sequence[str]) -> str:
    """Parse the address of a name server. A word without a port that is no host of one may be a namespace."""
    source_addr, addrs = parse_addr(source_text), session.admin.addresses.addrs
    if ":" not in source_text and source_addr not in addrs:
        advised = quote_command(*command_words, "--from", addrs[0], "-s", source_text)
        raise UsageError(
            f'"{source_text}" is not HOST:PORT of the source: use one of {", ".join(addrs)}; '
            f"for a namespace: `{advised}`"
        )
    return source_addr


def _select_keys(kv_tables: KvTables, wanted_keys: Sequence[str] | None) -> KvTables:
    if not wanted_keys:
        return kv_tables
    absent_keys = [key for key in wanted_keys if not any(key in table for table in kv_tables.values())]
    if absent_keys:
        raise NotFound(f'no key "{absent_keys[0]}" in {", ".join(kv_tables)}')
    return {
        namespace: {key: table[key] for key in wanted_keys if key in table}
        for namespace, table in kv_tables.items()
    }


@command(columns=KV_FILE_COLUMNS)
def kv_export(
    session: Session,
    file_name: Annotated[
        str | None,
        Argument(metavar="FILE", help="File to write. Default: standard output."),
        Flags("--out", "--file"),
    ],
    namespaces: NamespacesOption = None,
    source_text: Annotated[
        str | None,
        Option("--from", metavar="HOST:PORT", help="Export the KV config of this name server."),
        Values("name-servers"),
    ] = None,
) -> ResultRows | OutputText:
    """Write the KV config to a JSON file, in the format of a name server's kvConfigPath.

    All name servers that answer must have equal values. Otherwise, select one with --from. nsadmin overwrites
    no file. The file contains all values, also secrets.

    Examples:
        # Print the order configurations
        nsadmin kv export
        # Save two namespaces in a file, as a backup
        nsadmin kv export kv.json -s ORDER_TOPIC_CONFIG -s DEPLOYMENT
    """
    wanted_namespaces = _distinct_namespaces(namespaces)
    namesrv_addrs = (
        session.admin.addresses.addrs
        if source_text is None
        else (_parse_source(session, source_text, ("kv", "export")),)
    )
    table_results = session.admin.kv.get_tables_each(wanted_namespaces, namesrv_addrs)
    answered = [(r.addr, r.result) for r in table_results if r.result is not None]
    if not answered:
        pick_result(table_results)
    comparison = compare_snapshots([_make_kv_snapshot(*tables) for tables in answered], ["kv"])
    if comparison.differences:
        first_item = comparison.differences[0].item
        raise KvConfigsDifferError(
            f"name servers have different values of {first_item.parent_name} {first_item.name}: "
            "run nsadmin kv diff, or select one with --from"
        )
    kv_tables = answered[0][1]
    missing_namespaces = [namespace for namespace in wanted_namespaces if namespace not in kv_tables]
    nobody = "no name server" if len(answered) == len(table_results) else "no name server that answered"
    _require_any(nobody, wanted_namespaces, [kv_tables])
    errors, file_text = [r.error for r in table_results], kv_copies.format_kv_file(kv_tables)
    notes = result_notes(table_results, "name server")
    notes += [f'{nobody} has the namespace "{namespace}"' for namespace in missing_namespaces]
    if file_name is None:
        for note in notes:
            session.write_remark(note)
        return OutputText(file_text, errors)
    try:
        with open(
            file_name,
            "x",
            encoding="utf-8",
            errors="surrogatepass",
            opener=private_files.open_private_file,
        ) as output_file:
            output_file.write(file_text + "\n")
    except OSError as error:
        raise UsageError(f"cannot write {file_name}: {error.strerror}") from None
    entry_counts = [(file_name, namespace, len(table)) for namespace, table in kv_tables.items()]
    return ResultRows.from_records(KV_FILE_COLUMNS, entry_counts, errors, notes)


@command(columns=KV_COPY_COLUMNS, agent_refusal="it reads local files")
def kv_import(
    session: Session,
    file_name: Annotated[
        str,
        Argument(metavar="FILE", help="A file from `nsadmin kv export`, or a name server's file."),
        Flags("--file"),
    ],
    namespaces: Annotated[
        list[str] | None,
        Option("-s", "--namespace", metavar="NAMESPACE", help="Only this namespace of the file. Repeatable."),
    ] = None,
    prune_missing: PruneOption = False,
) -> ResultRows:
    """Write the KV config of a file to every name server, and verify it.

    The file is from `nsadmin kv export`, or from a name server's kvConfigPath, also Java's. nsadmin writes
    only differences. Keys of these namespaces that are not in the file stay, unless you pass --prune. Off a
    terminal, --prune needs --yes.

    Examples:
        # Restore a saved KV config: preview the import
        nsadmin kv import kv.json --dry-run
        # Import one namespace of the file
        nsadmin kv import kv.json -s DEPLOYMENT --yes
    """
    try:
        file_tables = kv_copies.parse_kv_file(operator_files.read_text(file_name))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(operator_files.explain_unreadable(file_name, error)) from None
    except kv_copies.InvalidKvFileError as error:
        raise UsageError(f"{file_name}: {error}") from None
    if not file_tables:
        raise UsageError(f"{file_name} has no namespace")
    absent = [namespace for namespace in namespaces or () if namespace not in file_tables]
    if absent:
        raise UsageError(f'{file_name} has no namespace "{absent[0]}": use {", ".join(file_tables)}')
    chosen_tables = {
        namespace: table
        for namespace, table in file_tables.items()
        if not namespaces or namespace in namespaces
    }
    return _apply_tables(session, "kv import", chosen_tables, session.admin.addresses.addrs, prune_missing)


def _apply_tables(
    session: Session,
    command_name: str,
    wanted_tables: KvTables,
    namesrv_addrs: Sequence[str],
    prune_missing: bool,
) -> ResultRows:
    """Write these tables to the name servers; a row for each change, and for each server that failed."""
    kv = session.admin.kv
    table_results = kv.get_tables_each(list(wanted_tables), namesrv_addrs)
    tables_by_addr = {r.addr: r.result for r in table_results if r.result is not None}
    due = kv_copies.plan_kv_changes(wanted_tables, tables_by_addr, prune=prune_missing)
    if session.is_dry_run:
        results = [ServerResult[KvChange](change.addr, change, None) for change in due]
    else:
        pruned = [change for change in due if change.after is None]
        if pruned:
            names = list(dict.fromkeys(f"{change.namespace} {change.key}" for change in pruned))
            session.require_yes(f"{command_name} --prune", f"this would delete {abbreviate_names(names, 10)}")
        if due:
            session.confirm_change(_confirm_question(due))
        results = kv.apply_changes(due)
    done = "dry-run" if session.is_dry_run else "done"
    changes: list[tuple[ServerChange, KvChange | None]] = [
        (ServerChange(c.addr, c.before, None if error else c.after, error, done), c)
        for c, (_, _, error) in zip(due, results, strict=True)
    ]
    changes += [(ServerChange(r.addr, None, None, r.error), None) for r in table_results if r.error]
    changed_addrs = {change.addr for change in due}
    unchanged_addrs = [addr for addr in tables_by_addr if addr not in changed_addrs]
    errors = [*(None for _ in unchanged_addrs), *(change.error for change, _ in changes)]
    notes = [f"{addr} already has all values" for addr in unchanged_addrs]
    failed_addrs = {change.server for change, _ in changes if change.error is not None}
    if failed_addrs:
        notes.append(f"failed on {len(failed_addrs)} of {count_noun(len(namesrv_addrs), 'name server')}")
    return ResultRows.from_records(KV_COPY_COLUMNS, changes, errors, notes)


def _confirm_question(changes: Sequence[KvChange]) -> str:
    write_count = sum(change.after is not None for change in changes)
    actions = [f"write {count_noun(write_count, 'value')}"] if write_count else []
    if write_count < len(changes):
        actions.append(f"delete {count_noun(len(changes) - write_count, 'value')}")
    addrs = ", ".join(dict.fromkeys(change.addr for change in changes))
    return f"{' and '.join(actions).capitalize()} on {addrs}?"


def _distinct_namespaces(namespaces: Sequence[str] | None) -> list[str]:
    return list(dict.fromkeys(namespaces or (ORDER_CONF_NAMESPACE,)))
