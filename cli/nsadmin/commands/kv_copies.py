"""Owns kvDiff, kvSync, kvExport and kvImport: name servers never copy the KV config to each other."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from namesrv_core.errors import RocketMQError
from nsadmin.client import NotFound, ServerResult
from nsadmin.client.addresses import parse_addr
from nsadmin.client.kv import KvChange, KvTables
from nsadmin.client.order_conf import NAMESPACE
from nsadmin.client.pictures import Picture
from nsadmin.client.results import error_text
from nsadmin.commands.changes import CHANGE, change
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.results import outcome
from nsadmin.commands.units import counted
from nsadmin.diagnostics import UsageError
from nsadmin.operations import kv_copies
from nsadmin.operations.divergence.comparing import compare
from nsadmin.operations.divergence.findings import by_server, in_words
from nsadmin.output import Row, Rows, Text
from nsadmin.session import Session

DIFF_COLUMNS = ("namespace", "key", "differs", "values")
CHANGE_COLUMNS = ("namesrvAddr", "namespace", "key", *CHANGE)
IN_TABLE = ("namesrvAddr", "namespace", "key", "changes", "result", "error")
FILE_COLUMNS = ("file", "namespace", "entries")

NamespacesOption = Annotated[
    list[str] | None,
    Option(
        "-s",
        "--namespace",
        metavar="NAMESPACE",
        help="Which namespace; ORDER_TOPIC_CONFIG if left out. Repeatable.",
        values="namespaces",
    ),
]
PruneOption = Annotated[bool, Option("--prune", help="Delete keys that are not in it.")]


class Differ(RocketMQError):
    """The KV configs of the name servers differ."""


@shows(DIFF_COLUMNS)
def kv_diff(session: Session, namespaces: NamespacesOption = None) -> Rows:
    """Show what name servers have differently in their KV config.

    Name servers never copy it to each other, and do not list their namespaces. As with diff, the exit code is
    0 where all have the same and 1 where they differ; it is 3 where fewer than two answered, or not all.

    Examples:
        # Order configurations: here one server has one more (exit code 1)
        nsadmin kvDiff
        # Another namespace, for a script (exit code 1)
        nsadmin kvDiff -s DEPLOYMENT --json
    """
    names = _names(namespaces)
    found = session.admin.tables.witnesses(session.admin.kv.tables_each(names, session.admin.addresses.addrs))
    there = {addr: tables for addr, tables, _ in found if tables is not None}
    comparison = compare([_picture(addr, tables) for addr, tables in there.items()], ["kv"])
    rows: list[Row] = [
        {
            "namespace": one.item.place,
            "key": one.item.name,
            "differs": in_words(one, comparison.servers),
            "values": by_server(one, comparison.servers),
        }
        for one in comparison.differences
    ]
    notes = [f"name server {addr}: {error_text(error)}" for addr, _, error in found if error is not None]
    errors: list[RocketMQError | None] = [Differ("they differ")] if rows else [None]
    if rows:
        told = counted(len(rows), "difference")
        notes.insert(0, f"{told}; nsadmin kvSync --from HOST:PORT copies what that one has")
    elif len(there) < 2:
        notes.insert(0, f"unknown: {len(there)} of {len(found)} name servers answered, and it takes two")
        errors.append(Differ("nobody to compare with"))
    else:
        errors += [error for _, _, error in found if error is not None]
    return Rows(DIFF_COLUMNS, rows, errors, notes, DIFF_COLUMNS[:3])


def _picture(addr: str, tables: KvTables) -> Picture:
    return Picture(addr, 0, {}, {}, tables, {})


@shows(CHANGE_COLUMNS)
def kv_sync(
    session: Session,
    source: Annotated[
        str,
        Word(("--from",), "HOST:PORT", "The name server that has it right.", values="name-servers"),
    ],
    namespaces: NamespacesOption = None,
    keys: Annotated[
        list[str] | None, Option("-k", "--key", metavar="KEY", help="Only this key. Repeatable.")
    ] = None,
    prune: Annotated[bool, Option("--prune", help="Delete keys that it does not have.")] = False,
) -> Rows:
    """Copy KV config from one name server to all the others, and look whether it is there.

    Only what differs is written. What the others have more stays, unless --prune says to delete it; off a
    terminal that needs --yes. A namespace that the source does not have is refused.

    Examples:
        # What would be copied
        nsadmin kvSync --from 127.0.0.1:9876 --dry-run
        # Order configurations as the first name server has them, and no others
        nsadmin kvSync --from 127.0.0.1:9876 --prune --yes
    """
    names, addr = _names(namespaces), parse_addr(source)
    if prune and keys:
        raise UsageError("kvSync: --prune is about whole namespaces: leave --key out")
    [found] = session.admin.kv.tables_each(names, [addr])
    if found.result is None:
        raise found.error or NotFound(f"{addr} told nothing")
    missing = [name for name in names if name not in found.result]
    if missing:
        raise NotFound(f"{addr} has no namespace {missing[0]!r}: nothing was changed")
    wanted = _only(found.result, keys)
    others = [other for other in session.admin.addresses.addrs if other != addr]
    if not others:
        raise UsageError(f"kvSync: there is no name server but {addr}: name all of them with -n")
    return _make(session, "kvSync", wanted, others, prune)


def _only(tables: KvTables, keys: Sequence[str] | None) -> KvTables:
    if not keys:
        return tables
    absent = [key for key in keys if not any(key in table for table in tables.values())]
    if absent:
        raise NotFound(f"there is no key {absent[0]!r} in {', '.join(tables)}")
    return {name: {key: table[key] for key in keys if key in table} for name, table in tables.items()}


@shows(FILE_COLUMNS)
def kv_export(
    session: Session,
    file: Annotated[
        str | None, Word(("--file",), "FILE", "Where to; standard output if left out.", required=False)
    ],
    namespaces: NamespacesOption = None,
    source: Annotated[
        str | None,
        Option("--from", metavar="HOST:PORT", help="As this name server has it.", values="name-servers"),
    ] = None,
) -> Rows | Text:
    """Write the KV config as a file of JSON, of the kind that name servers keep (kvConfigPath).

    All name servers that answer have to agree; where they do not, name one with --from. No file is
    overwritten. Values are written as they are, also those that are secrets.

    Examples:
        # Order configurations, to look at
        nsadmin kvExport
        # Two namespaces into a file
        nsadmin kvExport kv.json -s ORDER_TOPIC_CONFIG -s DEPLOYMENT
    """
    names = _names(namespaces)
    addrs = session.admin.addresses.addrs if source is None else (parse_addr(source),)
    found = session.admin.kv.tables_each(names, addrs)
    there = [(addr, tables) for addr, tables, _ in found if tables is not None]
    if not there:
        raise found[0].error or NotFound("nobody told anything")
    comparison = compare([_picture(addr, tables) for addr, tables in there], ["kv"])
    if comparison.differences:
        first = comparison.differences[0].item
        raise Differ(
            f"name servers have {first.place} {first.name} differently: see nsadmin kvDiff,"
            " or name one of them with --from"
        )
    tables = there[0][1]
    missing = [name for name in names if name not in tables]
    if len(missing) == len(names):
        raise NotFound(f"no name server has a namespace {missing[0]!r}")
    errors, text = [one.error for one in found], kv_copies.to_text(tables)
    notes = [f"name server {addr}: {error_text(error)}" for addr, _, error in found if error is not None]
    notes += [f"there is no namespace {name!r}" for name in missing]
    if file is None:
        for note in notes:
            session.remark(note)
        return Text(text, errors)
    try:
        with Path(file).open("x", encoding="utf-8", errors="surrogatepass") as sink:
            sink.write(text + "\n")
    except OSError as error:
        raise UsageError(f"kvExport: {file}: {error.strerror}") from None
    rows = [{"file": file, "namespace": name, "entries": len(table)} for name, table in tables.items()]
    return Rows(FILE_COLUMNS, rows, errors, notes)


@shows(CHANGE_COLUMNS)
def kv_import(
    session: Session,
    file: Annotated[str, Word(("--file",), "FILE", "What kvExport or a name server has written.")],
    namespaces: Annotated[
        list[str] | None,
        Option("-s", "--namespace", metavar="NAMESPACE", help="Only this namespace of it. Repeatable."),
    ] = None,
    prune: PruneOption = False,
) -> Rows:
    """Write the KV config of a file on every name server, and look whether it is there.

    The file is that of kvExport, or one that a name server keeps (kvConfigPath), of Java's too. Only what
    differs is written. Keys of these namespaces that are not in the file stay, unless --prune says to delete
    them; off a terminal that needs --yes.

    Examples:
        # What would be written
        nsadmin kvImport kv.json --dry-run
        # One namespace of the file
        nsadmin kvImport kv.json -s DEPLOYMENT --yes
    """
    try:
        wanted = kv_copies.from_text(Path(file).read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"kvImport: {file}: {reason}") from None
    except kv_copies.BadKvFile as error:
        raise UsageError(f"kvImport: {file}: {error}") from None
    if not wanted:
        raise UsageError(f"kvImport: {file}: it has no namespace")
    absent = [name for name in namespaces or () if name not in wanted]
    if absent:
        raise UsageError(f"kvImport: {file}: no namespace {absent[0]!r}: there are {', '.join(wanted)}")
    chosen = {name: table for name, table in wanted.items() if not namespaces or name in namespaces}
    return _make(session, "kvImport", chosen, session.admin.addresses.addrs, prune)


def _make(session: Session, command: str, wanted: KvTables, addrs: Sequence[str], prune: bool) -> Rows:
    """Write these tables to the name servers; a row for each change, and for each server that failed."""
    kv = session.admin.kv
    found = kv.tables_each(list(wanted), addrs)
    present = {addr: tables for addr, tables, _ in found if tables is not None}
    due = kv_copies.plan(wanted, present, prune=prune)
    if session.dry_run:
        done = [ServerResult[KvChange](one.addr, one, None) for one in due]
    else:
        if any(one.after is None for one in due):
            session.require_yes(f"{command} --prune")
        if due:
            session.confirm(_question(due))
        done = kv.change(due)
    word = "dry-run" if session.dry_run else "done"
    rows = [_row(one, result.error, word) for one, result in zip(due, done, strict=True)]
    silent = [one for one in found if one.error is not None]
    rows += [{"namesrvAddr": one.addr, **outcome(one.error)} for one in silent]
    same = [addr for addr in present if not any(one.addr == addr for one in due)]
    errors = [*(None for _ in same), *(one.error for one in done), *(one.error for one in silent)]
    notes = [f"{addr} has all of it already" for addr in same]
    failures = sum(error is not None for error in errors)
    if failures:
        notes.append(f"{failures} of {len(errors)} failed")
    return Rows(CHANGE_COLUMNS, rows, errors, notes, IN_TABLE)


def _row(due: KvChange, error: RocketMQError | None, word: str) -> Row:
    told = change(due.before, due.after) if error is None else {"before": due.before}
    return {
        "namesrvAddr": due.addr,
        "namespace": due.namespace,
        "key": due.key,
        **told,
        **outcome(error, word),
    }


def _question(due: Sequence[KvChange]) -> str:
    written = sum(one.after is not None for one in due)
    parts = [f"write {counted(written, 'value')}"] if written else []
    if written < len(due):
        parts.append(f"delete {len(due) - written}")
    asked = " and ".join(parts)
    return f"{asked[0].upper()}{asked[1:]} on {', '.join(dict.fromkeys(one.addr for one in due))}?"


def _names(namespaces: Sequence[str] | None) -> list[str]:
    return list(dict.fromkeys(namespaces or (NAMESPACE,)))
