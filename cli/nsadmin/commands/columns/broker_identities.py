"""Fills in the names and ids of brokers that were given by their address, before rows are written.

Such a command asks no name server. nsadmin asks the broker itself, and only if its row has no error, because
a broker that does not answer would cost a second timeout.
"""

from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session


def lacks_identities(rows: ResultRows) -> bool:
    """Whether a row has a broker's address, but no broker name and no error."""
    return "brokerName" in rows.columns and any(map(_unnamed_addr, rows.rows))


def fill_identities(session: Session, rows: ResultRows) -> ResultRows:
    """The rows with the names and ids that the brokers report (GET_BROKER_CONFIG, 26)."""
    addrs = list(dict.fromkeys(filter(None, map(_unnamed_addr, rows.rows))))
    identities = {
        r.addr: _read_identity(r.result)
        for r in session.admin.broker_configs.get_each(addrs)
        if r.result is not None
    }

    def fill(row: ResultRow) -> ResultRow:
        identity = identities.get(_unnamed_addr(row) or "", {})
        return {**row, **{c: v for c, v in identity.items() if c in rows.columns and row.get(c) is None}}

    return rows._replace(rows=list(map(fill, rows.rows)))


def _unnamed_addr(row: ResultRow) -> str | None:
    if row.get("brokerName") is not None or row.get("error") is not None or row.get("role") == "namesrv":
        return None
    # The server of a row without a role is that of a journal.
    addr = row.get("brokerAddr") or (row.get("server") if "role" in row else None)
    return addr if isinstance(addr, str) else None


def _read_identity(config: dict[str, str]) -> ResultRow:
    id_text = config.get("brokerId", "")
    return {
        "brokerName": config.get("brokerName"),
        "brokerId": int(id_text) if id_text.isdecimal() else None,
    }
