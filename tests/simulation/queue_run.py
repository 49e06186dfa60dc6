"""What the runs on brokers with counted queues share: their clients, and what these must still find."""

from collections import Counter
from pathlib import Path
from typing import ClassVar

from namesrv_core.fleet.groups import GroupTable
from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.protocol.codes import Perm, RequestCode
from nsadmin.console.audit import AuditRecord, load_audit
from tests.simulation.consumer import Consumer, ConsumerGroup, QueueProducer, RouteReader
from tests.simulation.operated_run import AUDIT_FILE, OperatedRun
from tests.simulation.queue_broker import QueueBroker
from tests.simulation.world import Fault, InvariantBroken


def read_audit() -> list[AuditRecord]:
    return load_audit(Path(AUDIT_FILE)).records


GROUP = "readers"


class QueueRun(OperatedRun):
    """A run on brokers with counted queues, whose groups read them."""

    master_class: ClassVar = QueueBroker
    # Slaves of the simulation have no messages.
    plan_changes: ClassVar = {"has_slave": False, "has_lone_topic": False, "has_slow_producer": False}
    topics: ClassVar[tuple[str, ...]] = ("orders", "emails")
    shared_topics: ClassVar = (make_topic_config("emails", 4),)

    def __init__(self, seed: int, faults: list[Fault]) -> None:
        super().__init__(seed, faults)
        self.masters: dict[str, QueueBroker] = {}
        self.groups: dict[str, ConsumerGroup] = {}

    def prepare_clients(self) -> None:
        """Build the groups with their clients, and a producer for each topic."""
        cluster, random = self.cluster, self.random
        for broker in cluster.masters:
            assert isinstance(broker, QueueBroker)
            self.masters[broker.spec.broker_name] = broker
            broker.model.group_table = GroupTable((GROUP,), self.world.true_ms)
            broker.keeps_offsets = random.random() < 0.5
            broker.prepare_queues()
        servers = list(cluster.name_servers.values())
        group = self.groups[GROUP] = ConsumerGroup(GROUP, self.topics)
        for _ in range(random.choice((1, 2))):
            reader = RouteReader(self.world, servers, random)
            Consumer(group, reader, self.masters, random.choice((1_000, 5_000, 15_000)))
        for broker in self.masters.values():
            broker.groups = self.groups
            for topic in self.topics:
                for queue_id in range(4):
                    broker.queues.committed[GROUP, topic, queue_id] = 0
        cluster.producers = [
            QueueProducer(
                topic,
                RouteReader(self.world, servers, random),
                self.masters,
                random.choice((1_000, 5_000, 12_000)),
            )
            for topic in self.topics
        ]

    def start_cluster(self) -> None:
        super().start_cluster()
        for client in self.groups[GROUP].clients:
            client.start()

    # What must hold

    def require_everything_read(self) -> None:
        """In the end each group reads all messages that are stored."""
        self.world.pass_time(120_000)
        for name, group in self.groups.items():
            for broker in self.masters.values():
                for topic in group.topics:
                    ends = {i: len(t) for (n, i), t in broker.queues.stored.items() if n == topic}
                    for queue_id, end in ends.items():
                        read = broker.queues.read.get((name, topic, queue_id), 0)
                        if end - read > 130:
                            raise InvariantBroken(
                                f"{name} has read {read} of {end} messages of queue {queue_id} of {topic} on "
                                f"{broker.title}"
                            )

    def require_writable(self, addr: str, code: int) -> None:
        """No change of nsadmin takes the last writable queue of a topic."""
        if addr in self.cluster.name_servers:
            return
        for topic in self.topics:
            configs = [m.model.topic_table.configs.get(topic) for m in self.masters.values()]
            if not any(c and c["perm"] & Perm.WRITE and c["writeQueueNums"] for c in configs):
                raise InvariantBroken(f"{topic} lost its last writable queue")

    def require_no_rejected_sends(self) -> None:
        """No producer sent to queues that nsadmin has removed. Another operator may remove some."""
        for broker in self.masters.values():
            for topic in broker.rejected_sends:
                if topic != "orders" or not self.has_met("change topic"):
                    raise InvariantBroken(f"{broker.title} rejected messages of {topic}")

    def has_met(self, *kinds: str) -> bool:
        return any(kind in kinds for kind, _ in self.world.steps_with_faults)

    def require_audited(self) -> None:
        """Each change that reached a server is in the audit, except for the last one before a kill."""
        if self.has_met("kill nsadmin", "lose power", "fill disk"):
            return
        sent: Counter[tuple[str, str]] = Counter()
        for record in read_audit():
            for change in record["sent"]:
                sent[change["server"], change["request"]] += change.get("times", 1)
        applied = Counter((a, RequestCode.name_of(code)) for a, code in self.cluster.network.applied_changes)
        if missing := applied - sent:
            raise InvariantBroken(f"the audit lacks {dict(missing)}")
