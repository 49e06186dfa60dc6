"""Owns audit list, which lists the changes that this account made."""

from typing import Annotated

from typer import Option

from nsadmin.command_line import time_arguments
from nsadmin.command_line.declarations import command
from nsadmin.console import audit
from nsadmin.console.audit import AuditRecord, UnreadableAuditError
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

AUDIT_COLUMNS = ("time", "user", "origin", "context", "nameServers", "command", "sent", "results", "exitCode")
AUDIT_TABLE_COLUMNS = ("time", "user", "context", "command", "servers", "exitCode")


@command(
    columns=(*AUDIT_COLUMNS, "servers"), agent_refusal="it shows contexts that the operator did not name"
)
def audit_list(
    session: Session,
    since_text: Annotated[
        str | None,
        Option("--since", metavar="TIME", help=f"Only commands since this time: {time_arguments.TIME_HELP}"),
    ] = None,
) -> ResultRows:
    """List the changes that this account made or tried to make, oldest first.

    Each command that sent a changing request has a row, also if it failed or was interrupted. JSON also has
    the name servers, each request with its outcome, and the rows that the command showed. The audit is in
    nsadmin/audit.jsonl in ~/.local/state, or in the file in NSADMIN_AUDIT. NSADMIN_AUDIT=off disables it.

    Examples:
        # All changes
        nsadmin audit list
        # Changes of the KV config since a day, with all requests
        nsadmin audit list --since 2025-01-31 --filter command~KvConfig --json
    """
    begin_ms = time_arguments.parse_time_option("--since", since_text, 0)
    audit_file = audit.audit_path()
    if audit_file is None:
        raise UsageError("the audit is disabled: NSADMIN_AUDIT is off")
    try:
        audit_log = audit.load_audit(audit_file)
    except UnreadableAuditError as error:
        raise UsageError(f"{error}") from None
    audit_rows = [
        _audit_row(audit_record) for audit_record in audit_log.records if audit_record["time"] >= begin_ms
    ]
    notes = [
        f"{audit_file}: line {line_number} is not an audit record"
        for line_number in audit_log.unreadable_lines
    ]
    return ResultRows((*AUDIT_COLUMNS, "servers"), audit_rows, (), notes, AUDIT_TABLE_COLUMNS)


def _audit_row(audit_record: AuditRecord) -> ResultRow:
    sent_requests = audit_record.get("sent") or ()
    server_addrs = tuple(dict.fromkeys(sent_request.get("server") for sent_request in sent_requests))
    return {
        **{column_name: audit_record.get(column_name) for column_name in AUDIT_COLUMNS},
        "time": format_utc(audit_record["time"]),
        "servers": server_addrs,
    }
