"""Fills in the names and ids of brokers that were given by their address, before rows are written.

Such a command asks no name server. nsadmin asks the broker itself, and only if its row has no error, because
a broker that does not answer would cost a second timeout.
"""

from collections.abc import Iterator

from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

_ADDRESS_COLUMNS = ("brokerAddr", "target")


def lacks_identities(result_rows: ResultRows) -> bool:
    """Return whether a row has a broker's address, but no broker name and no error."""
    return "brokerName" in result_rows.columns and any(_addrs_without_name(result_rows))


def fill_identities(session: Session, result_rows: ResultRows) -> ResultRows:
    """Return the rows with the names and ids that the brokers report (GET_BROKER_CONFIG, 26)."""
    broker_addrs = list(dict.fromkeys(_addrs_without_name(result_rows)))
    identity_by_addr = {
        config_result.addr: _identity_cells(config_result.result)
        for config_result in session.admin.broker_configs.get_each(broker_addrs)
        if config_result.result is not None
    }
    return result_rows._replace(
        rows=[
            {**row, **_select_missing(row, identity_by_addr.get(_unnamed_addr(row) or "", {}), result_rows)}
            for row in result_rows.rows
        ]
    )


def _addrs_without_name(result_rows: ResultRows) -> Iterator[str]:
    return filter(None, map(_unnamed_addr, result_rows.rows))


def _unnamed_addr(row: ResultRow) -> str | None:
    if row.get("brokerName") is not None or row.get("error") is not None or row.get("role") == "nameserver":
        return None
    broker_addr = next((row[column] for column in _ADDRESS_COLUMNS if row.get(column)), None)
    return broker_addr if isinstance(broker_addr, str) else None


def _identity_cells(config_items: dict[str, str]) -> ResultRow:
    id_text = config_items.get("brokerId", "")
    return {
        "brokerName": config_items.get("brokerName"),
        "brokerId": int(id_text) if id_text.isdecimal() else None,
    }


def _select_missing(row: ResultRow, identity_cells: ResultRow, result_rows: ResultRows) -> ResultRow:
    return {
        column: cell
        for column, cell in identity_cells.items()
        if column in result_rows.columns and row.get(column) is None
    }
