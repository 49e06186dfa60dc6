"""One simulated removal of a broker: `drain --for-good`, with groups that still read, while faults happen."""

from typing import ClassVar

from nsadmin.operations.drain import events
from nsadmin.operations.run_folder import EventRecord
from tests.simulation.cluster import BROKER, FAULT_KINDS
from tests.simulation.drain_run import DrainRun
from tests.simulation.queue_run import QueueRun
from tests.simulation.world import Fault, InvariantBroken


class ScaleInRun(QueueRun, DrainRun):
    """A run of one seed. The broker may be removed when no group has anything left to read on it."""

    # DrainRun has the other changes of topics.
    fault_kinds: ClassVar = tuple(
        kind for kind in FAULT_KINDS if kind not in ("stale slave", "change topic", "create topic")
    )

    def __init__(self, seed: int, faults: list[Fault]) -> None:
        super().__init__(seed, faults)
        self.plan = self.plan._replace(rules=self.plan.rules._replace(for_good=True), force=False)

    def run(self) -> None:
        self.prepare_clients()
        backlog = self.random.choice((0, 20, 200))
        for queue_id in range(4):
            self.masters[BROKER].queues.stored["emails", queue_id] = [self.world.true_ms] * backlog
        super().run()
        self.require_audited()

    def _hear(self, record: EventRecord) -> None:
        super()._hear(record)
        if record["event"] == "safe":
            self._require_read()

    def _stop_broker(self, master_addr: str) -> events.CommandEnded:
        self._require_read()
        return super()._stop_broker(master_addr)

    def _require_read(self) -> None:
        broker = self.masters[BROKER]
        for name, group in self.groups.items():
            for topic in group.topics:
                # The messages of a topic that somebody deletes are gone.
                is_there = topic in broker.model.topic_table.configs
                if is_there and (unread := broker.queues.count_unread(name, topic, 0)):
                    raise InvariantBroken(
                        f"safe to remove, but {name} has not read {unread} messages of {topic}"
                    )
