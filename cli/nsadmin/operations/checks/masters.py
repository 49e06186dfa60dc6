"""Finds masters that do not answer: a route to such a master is useless, because it takes no messages."""

from collections.abc import Iterable, Mapping

from nsadmin.client import AdminClient
from nsadmin.client.results import error_text, is_unreachable


def silent(admin: AdminClient, addrs: Iterable[str | None]) -> dict[str, str]:
    """Return the masters that do not answer, with the reason for each."""
    wanted = sorted({addr for addr in addrs if addr})
    return {
        found.addr: error_text(found.error)
        for found in admin.brokers.runtime_infos(wanted)
        if found.error is not None and is_unreachable(found.error)
    }


def why_not(perm: int | None, write_queues: int, master: str | None, silent: Mapping[str, str]) -> str | None:
    """Return why a broker takes no messages of a topic; None if it takes them."""
    if perm is None or write_queues < 1:
        return "no queue to write to"
    if not perm & 2:
        return "no permission to write"
    if master is None:
        return "no master"
    return f"its master {master}: {silent[master]}" if master in silent else None
