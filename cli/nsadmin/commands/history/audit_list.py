"""Owns audit list, which lists the changes that this account made."""

from typing import Annotated

from typer import Option

from nsadmin.command_line import time_arguments
from nsadmin.command_line.declarations import command
from nsadmin.commands.history.undo_commands import add_undo_commands
from nsadmin.console import audit
from nsadmin.console.audit import AuditRecord, UnreadableAuditError
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session


def _recorded_column(key: str, meaning: str, wide: bool = False) -> Column[AuditRecord]:
    return Column(key, meaning, lambda r: r.get(key), wide)


EXIT_CODE = _recorded_column("exitCode", "exit code of the command; 130 if it was interrupted")
SERVERS: Column[AuditRecord] = Column(
    "servers",
    "addresses of the servers that received changes",
    lambda r: tuple(dict.fromkeys(request.get("server") for request in r.get("sent") or ())),
)
UNDO = _recorded_column("undo", "command that gives back what the change replaced; null if there is none")
AUDIT_COLUMNS: Columns[AuditRecord] = (
    Column("time", "start of the command (UTC)", lambda r: format_utc(r["time"])),
    _recorded_column("user", "name of the account"),
    _recorded_column(
        "origin",
        "the program that started the command for a client, such as mcp; null if an operator did",
        wide=True,
    ),
    _recorded_column(
        "context", "the context whose servers the command used; null for none, or if -n replaced them"
    ),
    Column("namesrvAddrs", "the name servers of the command", lambda r: r.get("nameServers"), wide=True),
    _recorded_column("command", "the command line"),
    _recorded_column("sent", "the changing requests: server, code and outcome", wide=True),
    _recorded_column("results", "the rows of the command", wide=True),
    EXIT_CODE,
    SERVERS,
    UNDO,
)
AUDIT_TABLE = (*(c for c in AUDIT_COLUMNS[:-3] if not c.wide), SERVERS, EXIT_CODE, UNDO)


@command(
    columns=AUDIT_COLUMNS,
    agent_refusal="it shows contexts that the operator did not name",
    nothing="no changes by this account",
)
def audit_list(
    session: Session,
    since_text: Annotated[
        str | None,
        Option("--since", metavar="TIME", help=f"Only commands since this time: {time_arguments.TIME_HELP}"),
    ] = None,
    max_records: Annotated[
        int | None, Option("--limit", metavar="N", help="Only the newest N changes.", min=1)
    ] = None,
) -> ResultRows:
    """List the changes that this account made or tried to make, oldest first.

    Each command that sent a changing request has a row, also if it failed or was interrupted. JSON also has
    the name servers, each request with its outcome, and the rows that the command showed. The audit is in
    nsadmin/audit.jsonl in ~/.local/state, or in the file in NSADMIN_AUDIT. NSADMIN_AUDIT=off disables it.
    undo has the command that gives back the former settings of brokers, topics, groups or name servers. After
    a reset of offsets, it moves the group back.

    Examples:
        # The log of all my changes: what did I run?
        nsadmin audit list
        # Who changed what, when: each change with the values before and after, for an auditor
        nsadmin audit list --json
        # The last three
        nsadmin audit list --limit 3
        # Changes of the KV config since a day, with all requests
        nsadmin audit list --from 2025-01-31 --filter command~KvConfig --json
    """
    begin_ms = time_arguments.parse_time_option("--from", since_text, 0)
    audit_file = audit.audit_path()
    if audit_file is None:
        raise UsageError("the audit is disabled: NSADMIN_AUDIT is off")
    try:
        audit_log = audit.load_audit(audit_file)
    except UnreadableAuditError as error:
        raise UsageError(f"{error}") from None
    # The record from before a move of offsets is replaced by the one from its end.
    changes = {(r["time"], r.get("command")): r for r in add_undo_commands(audit_log.records)}
    records = [r for r in changes.values() if r["time"] >= begin_ms]
    notes = [f"{audit_file}: line {number} is not an audit record" for number in audit_log.unreadable_lines]
    if max_records is not None and len(records) > max_records:
        notes.append(f"only the newest {max_records} of {len(records)} changes are shown (--limit)")
        records = records[-max_records:]
    return ResultRows.from_records(AUDIT_COLUMNS, records, (), notes, table=AUDIT_TABLE)
