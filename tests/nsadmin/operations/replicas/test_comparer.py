"""Comparing until it is certain which differences stay."""

from pathlib import Path
from typing import Any

import pytest

from nsadmin import Access, AdminClient
from nsadmin.client.bundles.bundle_answers import BundleAnswers
from nsadmin.client.bundles.bundle_file import SupportBundle
from nsadmin.operations.replicas import comparer
from nsadmin.operations.replicas.comparer import ReplicaComparer
from nsadmin.operations.replicas.memory_store import ReplicaMemoryStore
from nsadmin.operations.replicas.records import DifferenceState, ReplicaComparison, ReplicaObservation
from tests.support.bundles import write_bundle
from tests.support.replica_groups import make_group, observe, offsets


class Cluster:
    """A slave that has the master's offset after `copies_after_ms`; pausing moves the clock."""

    def __init__(self, copies_after_ms: int) -> None:
        self.now_ms, self._copies_after_ms = 0, copies_after_ms

    def read(self, *_: Any) -> ReplicaObservation:
        reached = 10 if self.now_ms >= self._copies_after_ms else 4
        return observe(make_group(offsets(T={0: 10}), offsets(T={0: reached})), self.now_ms)

    def pause(self, seconds: float) -> None:
        self.now_ms += int(seconds * 1000)

    def compare(self, settle_seconds: float, seen: list[ReplicaComparison]) -> ReplicaComparison:
        with AdminClient(["127.0.0.1:9"]) as admin:
            return ReplicaComparer(
                admin, ReplicaMemoryStore(None), clock_ms=lambda: self.now_ms
            ).compare_until_settled(settle_seconds, seen.append, self.pause)


@pytest.mark.parametrize(
    ("copies_after_ms", "differences", "end_ms"), [(5_000, 0, 6_000), (60_000, 1, 30_000)]
)
def test_it_compares_until_the_slave_has_copied_or_time_is_over(
    monkeypatch: pytest.MonkeyPatch, copies_after_ms: int, differences: int, end_ms: int
) -> None:
    cluster, seen = Cluster(copies_after_ms), list[ReplicaComparison]()
    monkeypatch.setattr(comparer, "observe_replicas", cluster.read)
    comparison = cluster.compare(30.0, seen)
    assert len(comparison.differences) == differences
    assert len(seen) == 1
    assert end_ms <= cluster.now_ms < end_ms + 100


def test_without_time_it_compares_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, seen = Cluster(5_000), list[ReplicaComparison]()
    monkeypatch.setattr(comparer, "observe_replicas", cluster.read)
    assert [judged.state for judged in cluster.compare(0.0, seen).differences] == [DifferenceState.LAG]
    assert (seen, cluster.now_ms) == ([], 0)


def test_a_bundle_is_compared_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cluster, seen = Cluster(5_000), list[ReplicaComparison]()
    monkeypatch.setattr(comparer, "observe_replicas", cluster.read)
    with SupportBundle(write_bundle(tmp_path / "a.zip", {})) as bundle:
        access = Access(answers=BundleAnswers(bundle))
        with AdminClient(["127.0.0.1:9"], access=access) as admin:
            # The clock of a bundle stands still, so the time to settle would never be over.
            comparison = ReplicaComparer(admin, ReplicaMemoryStore(None)).compare_until_settled(
                30.0, seen.append, cluster.pause
            )
    assert [judged.state for judged in comparison.differences] == [DifferenceState.LAG]
    assert (seen, cluster.now_ms) == ([], 0)
