"""The evidence for the cause of a difference: snapshots of name servers, and facts from brokers. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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


KvPattern = tuple[int | None, ...]


def find_pattern(values: Sequence[ComparedValue | None]) -> KvPattern:
    """Return for each value where it is first; None for no value."""
    return tuple(None if value is None else values.index(value) for value in values)


@dataclass(frozen=True)
class CauseEvidence:
    """The evidence for causes: the snapshot of each name server, and the facts that brokers report."""

    server_snapshots: Sequence[ClusterSnapshot]
    facts_by_addr: FactsByAddr

    @cached_property
    def kv_keys_by_pattern(self) -> Mapping[str, Mapping[KvPattern, Sequence[str]]]:
        """The KV keys that differ, by namespace and pattern: name servers have those of a pattern alike."""
        keys_by_pattern: dict[str, dict[KvPattern, list[str]]] = {}
        for namespace in {namespace for snapshot in self.server_snapshots for namespace in snapshot.kv}:
            tables = [snapshot.kv.get(namespace, {}) for snapshot in self.server_snapshots]
            keys_by_pattern[namespace] = {}
            for key in sorted({key for table in tables for key in table}):
                pattern = find_pattern([table.get(key) for table in tables])
                if len(set(pattern)) > 1:
                    keys_by_pattern[namespace].setdefault(pattern, []).append(key)
        return keys_by_pattern

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
