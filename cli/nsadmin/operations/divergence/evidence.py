"""The evidence for the cause of a difference: snapshots of name servers, and facts from brokers. Pure."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nsadmin.client.snapshots import ClusterSnapshot
from nsadmin.operations.divergence.comparison import ComparedValue


class DivergenceCause(NamedTuple):
    """The probable cause of a difference: a word for programs, a sentence, and the remedy."""

    kind: str
    text: str
    advice: str


class BrokerFacts(NamedTuple):
    """The broker's own view.

    `registered_servers` are the name servers that it registers with, none if unknown. `own_topics` has its
    own values of the topics that were requested, None for a topic that it does not have. `settings_age_ms` is
    the time since a request last changed its settings, None if it is unknown or none did.
    """

    is_answering: bool
    registered_servers: tuple[str, ...] = ()
    own_topics: Mapping[str, ComparedValue | None] = {}
    settings_age_ms: int | None = None


FactsByAddr = Mapping[str, BrokerFacts]
"""Facts by the address of the broker."""

NO_FACTS = BrokerFacts(False)


class CauseEvidence(NamedTuple):
    """The evidence for causes: the snapshot of each name server, and the facts that brokers report."""

    server_snapshots: Sequence[ClusterSnapshot]
    facts_by_addr: FactsByAddr

    def list_broker_addrs(self, broker_name: str) -> list[str]:
        """Return the addresses under which name servers list the broker, masters first."""
        sorted_addrs = sorted(
            (int(broker_id), addr)
            for snapshot in self.server_snapshots
            for broker_id, addr in snapshot.brokers.get(broker_name, {}).get("brokerAddrs", {}).items()
        )
        return list(dict.fromkeys(addr for _, addr in sorted_addrs))

    def find_cluster(self, broker_name: str | None = None) -> str:
        """Return the cluster of the broker, or any cluster; "CLUSTER" if name servers list none."""
        clusters = (
            group["clusterName"]
            for snapshot in self.server_snapshots
            for name, group in snapshot.brokers.items()
            if broker_name in (None, name)
        )
        return next(clusters, "CLUSTER")

    def facts_of(self, addr: str) -> BrokerFacts:
        return self.facts_by_addr.get(addr, NO_FACTS)

    def addrs_at(self, server_indexes: Sequence[int]) -> str:
        return ", ".join(self.server_snapshots[index].source for index in server_indexes)
