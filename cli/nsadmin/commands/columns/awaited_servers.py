"""Names the silent name servers of brokers that made a change and could not register it."""

from collections.abc import Collection

from nsadmin.client import AdminClient
from nsadmin.console.output import ResultRows
from nsadmin.operations.awaited_name_servers import find_awaited_name_servers


def report_awaited_servers(
    admin: AdminClient, change_rows: ResultRows, late_addrs: Collection[str]
) -> ResultRows:
    """Add an error and a line for each silent name server of the brokers whose answer was late.

    `late_addrs` are the brokers that made the change and did not answer in time. The exit code is then that
    of a partial failure.
    """
    silent = find_awaited_name_servers(admin, late_addrs)
    if not silent:
        return change_rows
    noted_rows = change_rows.with_notes(*(f"name server {r.addr}: {r.error}" for r in silent))
    return noted_rows._replace(errors=[*change_rows.errors, None, *(r.error for r in silent)])
