"""Compares name servers repeatedly to distinguish drift from convergence, and asks brokers for the causes."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from nsadmin.client.admin import AdminClient
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.results import ServerResult, is_not_found, is_unreachable
from nsadmin.client.snapshots import ClusterSnapshot, take_server_snapshots
from nsadmin.client.topics.topic_configs import BrokerTopicConfig
from nsadmin.operations.divergence.causes import BrokerFacts, CauseEvidence, find_cause
from nsadmin.operations.divergence.comparison import (
    STATE_SECTIONS,
    ComparedValue,
    SnapshotComparison,
    compare_snapshots,
)
from nsadmin.operations.divergence.verdict import (
    DEFAULT_SETTLE_MS,
    DifferenceAges,
    DifferenceBundle,
    DivergenceVerdict,
    DriftFinding,
    build_findings,
    bundle_differences,
    decide_verdict,
)
from nsadmin.operations.inventory.keeper import InventoryKeeper
from nsadmin.operations.inventory.records import MissingBroker

_MAX_TOPICS_ASKED = 32
"""Topics whose own values each observation requests from brokers."""
_REPEAT_MS = 10_000
"""Longest time between two observations while a difference may still converge."""


class ComparedNamespaces(NamedTuple):
    """The KV namespaces to compare, and the name servers that answer but cannot list theirs."""

    names: tuple[str, ...] = ()
    unlisted_addrs: tuple[str, ...] = ()


def find_namespaces(admin: AdminClient, namespaces: Iterable[str] = ()) -> ComparedNamespaces:
    """Add the namespace of order configurations, and those that name servers list.

    A bundle has the answers for the namespaces with which it was made.
    """
    own_names = {ORDER_CONF_NAMESPACE, *namespaces}
    listings = [] if admin.is_static else admin.kv.list_namespaces_each(admin.addresses.addrs)
    listed_names = {name for listing in listings for name in listing.result or ()}
    unlisted_addrs = [
        listing.addr for listing in listings if listing.result is None and not is_unreachable(listing.error)
    ]
    return ComparedNamespaces(tuple(sorted(own_names | listed_names)), tuple(unlisted_addrs))


class DivergenceObservation(NamedTuple):
    """The snapshot or error of each name server, the differences between the snapshots, and the verdict.

    The snapshot of a single name server, which cannot be compared, has no topics: `has_topics` is False.
    `namespaces` has no names if the KV config was not compared.
    """

    snapshot_results: tuple[ServerResult[ClusterSnapshot], ...]
    comparison: SnapshotComparison
    findings: tuple[DriftFinding, ...]
    verdict: DivergenceVerdict
    has_topics: bool = True
    namespaces: ComparedNamespaces = ComparedNamespaces()

    @property
    def server_snapshots(self) -> list[ClusterSnapshot]:
        """The snapshots of the name servers that answered."""
        return [result.result for result in self.snapshot_results if result.result is not None]


def find_missing_brokers(
    observation: DivergenceObservation, inventory: InventoryKeeper
) -> tuple[MissingBroker, ...]:
    """Update the inventory, and return the expected brokers that no name server lists."""
    return inventory.observe_snapshots(
        observation.server_snapshots, has_topics=observation.has_topics
    ).missing_brokers


class DivergenceObserver:
    """Observes name servers repeatedly, and remembers the age of each difference.

    Brokers may take `settle_ms` to make name servers equal. `clock_ms` is a steady clock. `namespaces`
    are compared as well as those that name servers list and that of order configurations. The topics of a
    single name server are read only with `reads_single`.
    """

    def __init__(
        self,
        admin: AdminClient,
        clock_ms: Callable[[], int],
        *,
        namespaces: Sequence[str] = (),
        sections: Collection[str] = STATE_SECTIONS,
        settle_ms: int = DEFAULT_SETTLE_MS,
        reads_single: bool = False,
    ) -> None:
        self._admin = admin
        self._clock_ms = clock_ms
        self._namespaces = tuple(namespaces)
        self._sections = sections
        self._difference_ages = DifferenceAges(settle_ms)
        self._settle_ms = settle_ms
        self._reads_single = reads_single

    def observe_once(self) -> DivergenceObservation:
        """Compare all name servers once, and ask the brokers concerned for the causes."""
        now_ms = self._clock_ms()
        has_topics = self._reads_single or len(self._admin.addresses.addrs) > 1
        namespaces = (
            find_namespaces(self._admin, self._namespaces) if "kv" in self._sections else ComparedNamespaces()
        )
        raw_results = take_server_snapshots(self._admin, 0, namespaces.names, with_topics=has_topics)
        snapshot_results = self._admin.name_server_tables.mark_duplicate_servers(raw_results)
        snapshots = [result.result for result in snapshot_results if result.result is not None]
        comparison = compare_snapshots(snapshots, self._sections)
        self._difference_ages.observe_comparison(comparison, now_ms)
        bundles = bundle_differences(comparison)
        evidence = CauseEvidence(snapshots, gather_broker_facts(self._admin, bundles, snapshots))
        all_findings = build_findings(
            bundles, comparison, self._difference_ages, now_ms, lambda d: find_cause(d, evidence)
        )
        verdict = decide_verdict(len(snapshot_results), len(snapshots), all_findings)
        return DivergenceObservation(
            tuple(snapshot_results), comparison, tuple(all_findings), verdict, has_topics, namespaces
        )

    def observe_until_settled(
        self,
        pause_seconds: Callable[[float], object],
        on_waiting: Callable[[DivergenceObservation, float], object],
    ) -> DivergenceObservation:
        """Observe until each difference is gone, is drift, or is younger than the first observation.

        Calls `on_waiting` once, with the first observation and the longest possible wait in seconds. The
        answers of a bundle do not change, so one observation of them is enough.
        """
        started_ms = self._clock_ms()
        latest_observation = self.observe_once()
        has_reported = False
        if self._admin.is_static:
            return latest_observation
        while (now_ms := self._clock_ms()) < started_ms + self._settle_ms and (
            times_left := self._difference_ages.list_undecided_ms(now_ms)
        ):
            rest_ms = min(max(times_left), started_ms + self._settle_ms - now_ms)
            if not has_reported:
                on_waiting(latest_observation, rest_ms / 1000)
                has_reported = True
            pause_seconds(min(rest_ms, min(times_left), _REPEAT_MS) / 1000)
            latest_observation = self.observe_once()
        return latest_observation


def gather_broker_facts(
    admin: AdminClient, difference_bundles: Sequence[DifferenceBundle], snapshots: Sequence[ClusterSnapshot]
) -> dict[str, BrokerFacts]:
    """Ask each broker concerned once. A broker that does not answer gets NO_FACTS."""
    evidence = CauseEvidence(snapshots, {})
    topics_by_addr: dict[str, list[str]] = {}
    for bundle in difference_bundles:
        item = bundle[0].item
        if item.section_name == "broker":
            for addr in evidence.list_broker_addrs(item.name):
                topics_by_addr.setdefault(addr, [])
        elif item.section_name == "topic" and item.parent_name:
            # The first address is the master's, or the one with the lowest id.
            for addr in evidence.list_broker_addrs(item.parent_name)[:1]:
                topics_by_addr.setdefault(addr, []).append(item.name)
    config_results = admin.broker_configs.get_each(topics_by_addr) if topics_by_addr else []
    answering_addrs = [result.addr for result in config_results if result.error is None]
    changes = admin.broker_configs.get_change_times(answering_addrs) if answering_addrs else []
    ages = {addr: admin.clock_ms - changed_ms for addr, changed_ms, _ in changes if changed_ms is not None}
    remaining_topics = _MAX_TOPICS_ASKED
    facts_by_addr: dict[str, BrokerFacts] = {}
    for addr, config, error in config_results:
        if config is None:
            facts_by_addr[addr] = BrokerFacts(not is_unreachable(error))
            continue
        own_topics: dict[str, ComparedValue | None] = {}
        asked_topics = topics_by_addr[addr][:remaining_topics]
        remaining_topics -= len(asked_topics)
        for topic in asked_topics:
            [own] = admin.topic_configs.get_each([addr], topic)
            if own.result is not None:
                own_topics[topic] = _registered_value(own.result, config)
            elif is_not_found(own.error):
                own_topics[topic] = None
        own_list = tuple(name for part in config.get("namesrvAddr", "").split(";") if (name := part.strip()))
        facts_by_addr[addr] = BrokerFacts(True, own_list, own_topics, ages.get(addr))
    return facts_by_addr


def _registered_value(topic_config: BrokerTopicConfig, config: dict[str, str]) -> ComparedValue:
    """Return the topic as a broker registers it. `brokerPermission` limits the topic's permission."""
    permission_text = config.get("brokerPermission", "")
    allowed_perm = int(permission_text) if permission_text.isdigit() else 6
    return {
        "readQueueNums": topic_config.read_queue_nums,
        "writeQueueNums": topic_config.write_queue_nums,
        # A broker that allows reads and writes keeps the topic's other bits
        # (BrokerController#registerBrokerAll).
        "perm": topic_config.perm if allowed_perm & 6 == 6 else topic_config.perm & allowed_perm,
        "topicSysFlag": topic_config.topic_sys_flag,
    }
