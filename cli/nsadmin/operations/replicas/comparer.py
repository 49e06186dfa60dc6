"""Compares slaves with their masters, once or until it is certain which differences stay."""

from collections.abc import Callable
from time import sleep

from nsadmin.client import AdminClient
from nsadmin.operations.replicas.memory import judge_differences
from nsadmin.operations.replicas.memory_store import ReplicaMemoryStore
from nsadmin.operations.replicas.observer import observe_replicas
from nsadmin.operations.replicas.records import ReplicaComparison

_LOOK_AGAIN_SECONDS = 2.0


class ReplicaComparer:
    """Compares the replicas of one cluster, or of all clusters if `cluster_name` is None.

    `interval_seconds` replaces the sync interval of each slave's release.
    """

    def __init__(
        self,
        admin: AdminClient,
        memory_store: ReplicaMemoryStore,
        cluster_name: str | None = None,
        broker_name: str | None = None,
        interval_seconds: float | None = None,
        clock_ms: Callable[[], int] | None = None,
    ) -> None:
        self._admin = admin
        self._memory_store = memory_store
        self._cluster_name, self._broker_name = cluster_name, broker_name
        self._interval_seconds = interval_seconds
        self._clock_ms = clock_ms or (lambda: admin.clock_ms)

    def compare_replicas(self) -> ReplicaComparison:
        """Compare once. The differences are saved, so that the next run knows their age."""
        seen = observe_replicas(self._admin, self._clock_ms(), self._cluster_name, self._broker_name)
        comparison, memory = judge_differences(seen, self._memory_store.load_memory(), self._interval_seconds)
        self._memory_store.save_memory(memory)
        return comparison

    def compare_until_settled(
        self,
        settle_seconds: float,
        report_lag: Callable[[ReplicaComparison], object],
        pause_seconds: Callable[[float], object] = sleep,
    ) -> ReplicaComparison:
        """Compare until no difference is lag, or until `settle_seconds` have passed.

        The answers of a bundle do not change, so one comparison of them is enough.
        """
        deadline_ms = self._clock_ms() + int(settle_seconds * 1000)
        comparison = self.compare_replicas()
        has_reported = False
        if self._admin.is_static:
            return comparison
        while comparison.lag and self._clock_ms() < deadline_ms:
            if not has_reported:
                report_lag(comparison)
                has_reported = True
            pause_seconds(min(_LOOK_AGAIN_SECONDS, (deadline_ms - self._clock_ms()) / 1000 + 0.001))
            comparison = self.compare_replicas()
        return comparison
