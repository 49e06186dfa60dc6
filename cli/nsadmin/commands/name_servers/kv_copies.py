"""Owns kv diff, kv sync, kv export and kv import. Name servers never copy the KV config to each other."""

from collections.abc import Sequence
from typing import Annotated

from typer import Argument, Option

from namesrv_core import operator_files, private_files
from namesrv_core.errors import RocketMQError
from nsadmin.client import NotFound, ServerResult
from nsadmin.client.connection.addresses import parse_addr
from nsadmin.client.name_servers.kv_config import KvChange, KvTables
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.results import error_text
from nsadmin.client.snapshots import ClusterSnapshot
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.changes import CHANGE_RESULT_COLUMNS, change_cells
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import OutputText, ResultRow, ResultRows
from nsadmin.console.output.quantities import count_noun
from nsadmin.console.session import Session
from nsadmin.operations import kv_copies
from nsadmin.operations.divergence.comparison import compare_snapshots
from nsadmin.operations.divergence.findings import describe_difference, map_by_server
from nsadmin.operations.divergence.observer import find_namespaces

KV_DIFF_COLUMNS = ("namespace", "key", "differs", "values")
KV_COPY_COLUMNS = ("namesrvAddr", "namespace", "key", *CHANGE_RESULT_COLUMNS)
KV_COPY_TABLE_COLUMNS = ("namesrvAddr", "namespace", "key", "changes", "result", "error")
KV_FILE_COLUMNS = ("file", "namespace", "entries")

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
def kv_diff(session: Session, namespaces: NamespacesOption = None) -> ResultRows:
    """Show the differences between the KV configs of the name servers.

    Name servers never copy the KV config to each other. Without -s, nsadmin compares ORDER_TOPIC_CONFIG and
    the namespaces that nsadmin's name servers list. Apache's cannot list theirs: pass each with -s. A line
    names the compared namespaces. The exit code is 0 if all name servers are equal, and 1 if they differ. It
    is 3 if a name server did not answer, or if there is only one.

    Examples:
        # Order configurations; one name server has an additional one (exit code 1)
        nsadmin kv diff
        # Another namespace, for a script (exit code 1)
        nsadmin kv diff -s DEPLOYMENT --json
    """
    wanted_namespaces, unlisted_addrs = (
        (_distinct_namespaces(namespaces), ()) if namespaces else find_namespaces(session.admin)
    )
    table_results = session.admin.name_server_tables.mark_duplicate_servers(
        session.admin.kv.get_tables_each(wanted_namespaces, session.admin.addresses.addrs)
    )
    tables_by_addr = {
        namesrv_addr: kv_tables for namesrv_addr, kv_tables, _ in table_results if kv_tables is not None
    }
    kv_comparison = compare_snapshots(
        [_make_kv_snapshot(namesrv_addr, kv_tables) for namesrv_addr, kv_tables in tables_by_addr.items()],
        ["kv"],
    )
    difference_rows: list[ResultRow] = [
        {
            "namespace": kv_difference.item.parent_name,
            "key": kv_difference.item.name,
            "differs": describe_difference(kv_difference, kv_comparison.server_addrs),
            "values": map_by_server(kv_difference, kv_comparison.server_addrs),
        }
        for kv_difference in kv_comparison.differences
    ]
    diff_notes = [
        _describe_scope(wanted_namespaces, list(tables_by_addr.values())),
        *(
            [f"{', '.join(unlisted_addrs)} cannot list namespaces: pass others with -s NAMESPACE"]
            if unlisted_addrs
            else []
        ),
        *(
            f"name server {namesrv_addr}: {error_text(error)}"
            for namesrv_addr, _, error in table_results
            if error is not None
        ),
    ]
    exit_errors: list[RocketMQError | None] = (
        [KvConfigsDifferError("the KV configs differ")] if difference_rows else [None]
    )
    if difference_rows:
        count_text = count_noun(len(difference_rows), "difference")
        diff_notes.insert(
            0, f"{count_text}: run nsadmin kv sync --from HOST:PORT to copy the config of one name server"
        )
    elif len(tables_by_addr) < 2:
        diff_notes.insert(
            0,
            f"unknown: {len(tables_by_addr)} of {len(table_results)} name servers answered, a "
            "comparison needs two",
        )
        exit_errors.append(KvConfigsDifferError("too few name servers to compare"))
    else:
        exit_errors += [error for _, _, error in table_results if error is not None]
    return ResultRows(KV_DIFF_COLUMNS, difference_rows, exit_errors, diff_notes, KV_DIFF_COLUMNS[:3])


def _describe_scope(namespaces: Sequence[str], tables: Sequence[KvTables]) -> str:
    """Name the compared namespaces: an empty list of differences says nothing about others."""
    absent_names = [namespace for namespace in namespaces if not any(namespace in table for table in tables)]
    scope_text = f"compared: {', '.join(namespaces)}"
    return scope_text + (
        f" (on no name server: {', '.join(absent_names)})" if absent_names and tables else ""
    )


def _make_kv_snapshot(namesrv_addr: str, kv_tables: KvTables) -> ClusterSnapshot:
    return ClusterSnapshot(namesrv_addr, 0, {}, {}, kv_tables, {})


@command(columns=KV_COPY_COLUMNS, agent_refusal="it connects to an address on the command line")
def kv_sync(
    session: Session,
    source_text: Annotated[
        str,
        Argument(metavar="HOST:PORT", help="The name server to copy from."),
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
    wanted_namespaces, source_addr = _distinct_namespaces(namespaces), parse_addr(source_text)
    if prune_missing and wanted_keys:
        raise UsageError("--prune and --key exclude each other: --prune applies to whole namespaces")
    [source_result] = session.admin.kv.get_tables_each(wanted_namespaces, [source_addr])
    if source_result.result is None:
        raise source_result.error or NotFound(f"{source_addr} did not answer")
    missing_namespaces = [
        namespace for namespace in wanted_namespaces if namespace not in source_result.result
    ]
    if missing_namespaces:
        raise NotFound(f'{source_addr} has no namespace "{missing_namespaces[0]}": nothing was changed')
    wanted_tables = _select_keys(source_result.result, wanted_keys)
    other_addrs = [
        namesrv_addr for namesrv_addr in session.admin.addresses.addrs if namesrv_addr != source_addr
    ]
    if not other_addrs:
        raise UsageError(f"no name server other than {source_addr}: pass all of them with -n")
    return _apply_tables(session, "kvSync", wanted_tables, other_addrs, prune_missing)


def _select_keys(kv_tables: KvTables, wanted_keys: Sequence[str] | None) -> KvTables:
    if not wanted_keys:
        return kv_tables
    absent_keys = [
        kv_key for kv_key in wanted_keys if not any(kv_key in kv_table for kv_table in kv_tables.values())
    ]
    if absent_keys:
        raise NotFound(f'no key "{absent_keys[0]}" in {", ".join(kv_tables)}')
    return {
        namespace: {kv_key: kv_table[kv_key] for kv_key in wanted_keys if kv_key in kv_table}
        for namespace, kv_table in kv_tables.items()
    }


@command(columns=KV_FILE_COLUMNS)
def kv_export(
    session: Session,
    file_name: Annotated[
        str | None, Argument(metavar="FILE", help="File to write. Default: standard output."), Flags("--file")
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
        # Write two namespaces to a file
        nsadmin kv export kv.json -s ORDER_TOPIC_CONFIG -s DEPLOYMENT
    """
    wanted_namespaces = _distinct_namespaces(namespaces)
    namesrv_addrs = session.admin.addresses.addrs if source_text is None else (parse_addr(source_text),)
    table_results = session.admin.kv.get_tables_each(wanted_namespaces, namesrv_addrs)
    answered_tables = [
        (namesrv_addr, kv_tables) for namesrv_addr, kv_tables, _ in table_results if kv_tables is not None
    ]
    if not answered_tables:
        raise table_results[0].error or NotFound("no name server answered")
    kv_comparison = compare_snapshots(
        [_make_kv_snapshot(namesrv_addr, kv_tables) for namesrv_addr, kv_tables in answered_tables], ["kv"]
    )
    if kv_comparison.differences:
        first_item = kv_comparison.differences[0].item
        raise KvConfigsDifferError(
            f"name servers have different values of {first_item.parent_name} {first_item.name}: "
            "run nsadmin kv diff, or select one with --from"
        )
    kv_tables = answered_tables[0][1]
    missing_namespaces = [namespace for namespace in wanted_namespaces if namespace not in kv_tables]
    if len(missing_namespaces) == len(wanted_namespaces):
        raise NotFound(f'no name server has the namespace "{missing_namespaces[0]}"')
    table_errors, file_text = (
        [table_result.error for table_result in table_results],
        kv_copies.format_kv_file(kv_tables),
    )
    export_notes = [
        f"name server {namesrv_addr}: {error_text(error)}"
        for namesrv_addr, _, error in table_results
        if error is not None
    ]
    export_notes += [f'no namespace "{namespace}"' for namespace in missing_namespaces]
    if file_name is None:
        for export_note in export_notes:
            session.write_remark(export_note)
        return OutputText(file_text, table_errors)
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
    file_rows = [
        {"file": file_name, "namespace": namespace, "entries": len(kv_table)}
        for namespace, kv_table in kv_tables.items()
    ]
    return ResultRows(KV_FILE_COLUMNS, file_rows, table_errors, export_notes)


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
        # Preview the import
        nsadmin kv import kv.json --dry-run
        # Import one namespace of the file
        nsadmin kv import kv.json -s DEPLOYMENT --yes
    """
    try:
        file_tables = kv_copies.parse_kv_file(operator_files.read_text(file_name))
    except (OSError, UnicodeDecodeError) as error:
        error_reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"cannot read {file_name}: {error_reason}") from None
    except kv_copies.InvalidKvFileError as error:
        raise UsageError(f"{file_name}: {error}") from None
    if not file_tables:
        raise UsageError(f"{file_name} has no namespace")
    absent_names = [namespace for namespace in namespaces or () if namespace not in file_tables]
    if absent_names:
        raise UsageError(f'{file_name} has no namespace "{absent_names[0]}": use {", ".join(file_tables)}')
    chosen_tables = {
        namespace: kv_table
        for namespace, kv_table in file_tables.items()
        if not namespaces or namespace in namespaces
    }
    return _apply_tables(session, "kvImport", chosen_tables, session.admin.addresses.addrs, prune_missing)


def _apply_tables(
    session: Session,
    command_name: str,
    wanted_tables: KvTables,
    namesrv_addrs: Sequence[str],
    prune_missing: bool,
) -> ResultRows:
    """Write these tables to the name servers; a row for each change, and for each server that failed."""
    kv_admin = session.admin.kv
    table_results = kv_admin.get_tables_each(list(wanted_tables), namesrv_addrs)
    tables_by_addr = {
        namesrv_addr: kv_tables for namesrv_addr, kv_tables, _ in table_results if kv_tables is not None
    }
    due_changes = kv_copies.plan_kv_changes(wanted_tables, tables_by_addr, prune=prune_missing)
    if session.is_dry_run:
        change_results = [
            ServerResult[KvChange](due_change.addr, due_change, None) for due_change in due_changes
        ]
    else:
        if any(due_change.after is None for due_change in due_changes):
            session.require_yes(f"{command_name} --prune")
        if due_changes:
            session.confirm_change(_confirm_question(due_changes))
        change_results = kv_admin.apply_changes(due_changes)
    done_word = "dry-run" if session.is_dry_run else "done"
    change_rows = [
        _kv_change_row(due_change, change_result.error, done_word)
        for due_change, change_result in zip(due_changes, change_results, strict=True)
    ]
    failed_results = [failed_result for failed_result in table_results if failed_result.error is not None]
    change_rows += [
        {"namesrvAddr": failed_result.addr, **outcome_cells(failed_result.error)}
        for failed_result in failed_results
    ]
    unchanged_addrs = [
        namesrv_addr
        for namesrv_addr in tables_by_addr
        if not any(due_change.addr == namesrv_addr for due_change in due_changes)
    ]
    all_errors = [
        *(None for _ in unchanged_addrs),
        *(change_result.error for change_result in change_results),
        *(failed_result.error for failed_result in failed_results),
    ]
    summary_notes = [f"{namesrv_addr} already has all values" for namesrv_addr in unchanged_addrs]
    failure_count = sum(error is not None for error in all_errors)
    if failure_count:
        summary_notes.append(f"{failure_count} of {len(all_errors)} failed")
    return ResultRows(KV_COPY_COLUMNS, change_rows, all_errors, summary_notes, KV_COPY_TABLE_COLUMNS)


def _kv_change_row(due_change: KvChange, error: RocketMQError | None, done_word: str) -> ResultRow:
    difference_cells = (
        change_cells(due_change.before, due_change.after) if error is None else {"before": due_change.before}
    )
    return {
        "namesrvAddr": due_change.addr,
        "namespace": due_change.namespace,
        "key": due_change.key,
        **difference_cells,
        **outcome_cells(error, done_word),
    }


def _confirm_question(changes: Sequence[KvChange]) -> str:
    write_count = sum(change.after is not None for change in changes)
    action_texts = [f"write {count_noun(write_count, 'value')}"] if write_count else []
    if write_count < len(changes):
        action_texts.append(f"delete {len(changes) - write_count}")
    actions = " and ".join(action_texts)
    return (
        f"{actions[0].upper()}{actions[1:]} on {', '.join(dict.fromkeys(change.addr for change in changes))}?"
    )


def _distinct_namespaces(namespaces: Sequence[str] | None) -> list[str]:
    return list(dict.fromkeys(namespaces or (ORDER_CONF_NAMESPACE,)))
