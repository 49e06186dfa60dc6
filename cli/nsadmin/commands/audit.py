"""auditList: lists the changes that this account made."""

from typing import Annotated

from nsadmin import audit
from nsadmin.audit import BadAudit, Record
from nsadmin.commands import moments
from nsadmin.commands.declared import Option, shows
from nsadmin.commands.times import utc
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = ("time", "user", "context", "nameServers", "command", "sent", "results", "exitCode")
IN_TABLE = ("time", "user", "context", "command", "servers", "exitCode")


@shows(COLUMNS, ("servers",))
def audit_list(
    session: Session,
    since: Annotated[
        str | None, Option("--since", metavar="TIME", help=f"Only from then on: {moments.HELP}")
    ] = None,
) -> Rows:
    """List the changes that were made, or tried, from this account, the oldest first.

    Each command that sent a request which changes something has left a line, also when it failed or was
    interrupted. JSON has the name servers, each such request with its outcome, and the rows that were
    shown. It is kept in nsadmin/audit.jsonl in ~/.local/state, or where NSADMIN_AUDIT says; NSADMIN_AUDIT=off
    keeps nothing.

    Examples:
        # All of them
        nsadmin auditList
        # Changes of the KV config since then, with all that was sent
        nsadmin auditList --since 2025-01-31 --filter command~KvConfig --json
    """
    begin = moments.moment("auditList", "--since", since, 0)
    file = audit.path()
    if file is None:
        raise UsageError("auditList: no audit is kept: NSADMIN_AUDIT is off")
    try:
        found = audit.load(file)
    except BadAudit as error:
        raise UsageError(f"auditList: {error}") from None
    rows = [_row(item) for item in found.records if item["time"] >= begin]
    notes = [f"{file}: line {number} is no audit" for number in found.unreadable]
    return Rows((*COLUMNS, "servers"), rows, (), notes, IN_TABLE)


def _row(item: Record) -> Row:
    sent = item.get("sent") or ()
    servers = tuple(dict.fromkeys(exchange.get("server") for exchange in sent))
    return {**{name: item.get(name) for name in COLUMNS}, "time": utc(item["time"]), "servers": servers}
