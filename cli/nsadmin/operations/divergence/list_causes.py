"""Finds causes in the lists of name servers that brokers register with. Pure."""

from collections.abc import Sequence

from nsadmin.console.phrases import quote_command
from nsadmin.operations.divergence.evidence import CauseEvidence, DivergenceCause

NEW_LIST_MS = 150_000
"""Longest time from a change of a broker's namesrvAddr to its registration with the new name servers.

A broker reads its list every 2 minutes and registers every 30 seconds (BrokerController#initialize, #start).
"""


def explain_partial_list(
    addrs: Sequence[str], wrong_servers: Sequence[int], evidence: CauseEvidence
) -> DivergenceCause | None:
    """Explain the difference if the broker's namesrvAddr names only the servers that are right.

    A namesrvAddr counts only if it names all of these with the same addresses as this client.
    """
    right_servers = [index for index in range(len(evidence.server_snapshots)) if index not in wrong_servers]
    for addr in addrs:
        registered_servers = evidence.facts_of(addr).registered_servers
        if (
            registered_servers is None
            or not right_servers
            or not all(
                evidence.server_snapshots[index].source in registered_servers for index in right_servers
            )
        ):
            continue
        unnamed_addrs = [
            index
            for index in wrong_servers
            if evidence.server_snapshots[index].source not in registered_servers
        ]
        if unnamed_addrs:
            full_list = ";".join(
                dict.fromkeys(
                    (
                        *registered_servers,
                        *(evidence.server_snapshots[index].source for index in unnamed_addrs),
                    )
                )
            )
            return DivergenceCause(
                "partial-list",
                "the broker registers with a partial list: its namesrvAddr does not name "
                f"{evidence.addrs_at(unnamed_addrs)}",
                "run "
                f"`{quote_command('updateBrokerConfig', 'namesrvAddr', full_list, '-b', addr)}`; "
                "the broker reads the list every 2 minutes",
            )
    return None


def explain_new_list(
    addrs: Sequence[str], behind_servers: Sequence[int], evidence: CauseEvidence
) -> DivergenceCause | None:
    """Explain the difference if the broker's list names the servers that are behind since a moment ago."""
    if not behind_servers:
        return None
    for addr in addrs:
        facts = evidence.facts_of(addr)
        if (
            facts.settings_age_ms is not None
            and facts.settings_age_ms < NEW_LIST_MS
            and all(
                evidence.server_snapshots[index].source in (facts.registered_servers or ())
                for index in behind_servers
            )
        ):
            server_list = evidence.addrs_at(behind_servers)
            return DivergenceCause(
                "new-list",
                f"its namesrvAddr names {server_list}, and its settings changed less than 3 minutes ago",
                "wait: the broker reads a new list within 2 minutes, and registers within 30 s after that",
            )
    return None
