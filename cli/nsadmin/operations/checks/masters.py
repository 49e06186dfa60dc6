"""Finds masters that do not answer: a route to such a master is useless, because it takes no messages."""

from collections.abc import Iterable, Mapping

from nsadmin.client import AdminClient
from nsadmin.client.results import error_text, is_unreachable


def find_silent_masters(admin: AdminClient, master_addrs: Iterable[str | None]) -> dict[str, str]:
    """Return the masters that do not answer, with the reason for each."""
    distinct_addrs = sorted({master_addr for master_addr in master_addrs if master_addr})
    return {
        runtime_result.addr: error_text(runtime_result.error)
        for runtime_result in admin.brokers.get_runtime_info(distinct_addrs)
        if runtime_result.error is not None and is_unreachable(runtime_result.error)
    }


def explain_unwritable(
    topic_perm: int | None,
    write_queue_count: int,
    master_addr: str | None,
    silence_reasons: Mapping[str, str],
) -> str | None:
    """Return why a broker takes no messages of a topic; None if it takes them."""
    if topic_perm is None or write_queue_count < 1:
        return "no write queue"
    if not topic_perm & 2:
        return "no write permission"
    if master_addr is None:
        return "no master"
    return (
        f"its master {master_addr}: {silence_reasons[master_addr]}"
        if master_addr in silence_reasons
        else None
    )
