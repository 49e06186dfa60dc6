"""Finds masters that take no messages although a route has them: silent ones, and those with a full disk."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from nsadmin.client import AdminClient
from nsadmin.client.results import error_text, is_unreachable
from nsadmin.operations.broker_disks import observe_disks

LOOKED_AT = "(looked at: route, write permission, master, disk)"
"""What the checks look at before they say that brokers accept messages."""
NO_MASTER = "no master"


class MasterAnswers(NamedTuple):
    """By address: masters that do not answer, that refuse messages, and of which nsadmin does not know it."""

    silence_reasons: Mapping[str, str] = {}
    refusals: Mapping[str, str] = {}
    unknown: Mapping[str, str] = {}

    @property
    def unknown_lines(self) -> list[str]:
        return [f"{addr} {reason}" for addr, reason in sorted(self.unknown.items())]


def ask_masters(admin: AdminClient, master_addrs: Iterable[str | None]) -> MasterAnswers:
    """Ask each master for its runtime figures, and for its limits if its disk may be too full."""
    distinct_addrs = sorted({addr for addr in master_addrs if addr})
    runtime_results = admin.brokers.get_runtime_info(distinct_addrs)
    disks = observe_disks(admin, runtime_results)
    silence_reasons = {
        addr: error_text(error)
        for addr, _, error in runtime_results
        if error is not None and is_unreachable(error)
    }
    return MasterAnswers(silence_reasons, disks.refusals, disks.unknown)


def explain_unwritable(
    topic_perm: int | None, write_queue_count: int, addr: str | None, answers: MasterAnswers
) -> str | None:
    """Return why a broker takes no messages of a topic; None if it takes them."""
    if topic_perm is None or write_queue_count < 1:
        return "no write queue"
    # Before the permission, which a name server takes away while a slave acts as master.
    if addr is None:
        return NO_MASTER
    if not topic_perm & 2:
        return "no write permission"
    if addr in answers.silence_reasons:
        return f"its master {addr}: {answers.silence_reasons[addr]}"
    return f"its master {addr} {answers.refusals[addr]}" if addr in answers.refusals else None
