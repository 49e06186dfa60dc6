"""What the simulated runs of all procedures share: the operator, and what must hold on the cluster.

The operator does what a careful person does: run a failed or killed command again, and believe what nsadmin
says. The code of nsadmin is the real one.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from namesrv_core.errors import RocketMQError
from namesrv_core.events import QueueData
from namesrv_core.fleet.topics import TopicConfigJson
from namesrv_core.protocol.codes import Perm
from nsadmin.client.connection.access_options import Access
from nsadmin.library.admin_client import AdminClient
from nsadmin.operations.procedure_clock import ProcedureClock
from tests.simulation.broker import HEARTBEAT_MS, SimulatedBroker
from tests.simulation.cluster import FAULT_KINDS, Cluster, plan_cluster
from tests.simulation.virtual_disk import ROOT, ProcessKilled
from tests.simulation.world import Fault, InvariantBroken, World

STATE_HOME = Path(ROOT) / "nsadmin"
AUDIT_FILE = f"{ROOT}/audit/audit.jsonl"
_MAX_ATTEMPTS = 8


class OperatedRun:
    """A run of one seed. `resume_ms` is how long the operator waits before the next attempt.

    Without faults, it takes about `step_count` steps.
    """

    fault_kinds: ClassVar = FAULT_KINDS
    step_count: ClassVar = 260
    master_class: ClassVar[type[SimulatedBroker]] = SimulatedBroker
    plan_changes: ClassVar[Mapping[str, Any]] = {}
    shared_topics: ClassVar[tuple[TopicConfigJson, ...]] = ()

    def __init__(self, seed: int, faults: list[Fault]) -> None:
        os.environ["NSADMIN_AUDIT"] = AUDIT_FILE
        self.random = Random(f"{type(self).__name__} {seed}")
        self.world = World(seed)
        plan = plan_cluster(self.random)._replace(**self.plan_changes)
        self.cluster = Cluster(self.world, plan, self.master_class, self.shared_topics)
        self.faults = faults
        self.resume_ms = self.random.choice((1_000, 20_000, 200_000))
        self.have_faults_ended = False
        self.unknown_servers: tuple[str, ...] = ()
        self.queues_before: list[dict[tuple[str, str], dict[str, QueueData]]] = []
        self.own_before: list[dict[str, dict[str, TopicConfigJson]]] = []

    def start_cluster(self) -> None:
        self.cluster.start()
        self.world.pass_time(self.random.randint(1_000, 40_000))

    def begin_faults(self) -> None:
        for fault in self.faults:
            self.cluster.plan_fault(fault)
        self.world.after_fault = self.note_before

    def note_before(self) -> None:
        """Note the queues that nsadmin has not changed yet: it may restore what is there at this moment."""
        changed = {addr for addr, _ in self.cluster.network.applied_changes}
        if not changed.isdisjoint(self.cluster.brokers):
            return
        servers = [s for s in self.cluster.name_servers.values() if s.is_up and s.addr not in changed]
        self.queues_before.append(
            {
                (server.addr, broker.spec.broker_name): server.queues_of(broker.spec.broker_name)
                for server in servers
                for broker in self.cluster.masters
            }
        )
        self.own_before.append(
            {
                broker.spec.broker_name: dict(broker.model.topic_table.configs)
                for broker in self.cluster.masters
            }
        )

    # The operator

    def repeat_command(
        self, command_line: str, command: Callable[[], bool], gives_up: Callable[[BaseException], bool]
    ) -> bool:
        """Run a command until it succeeds, or the operator gives up. Return whether it succeeded."""
        world = self.world
        for attempt in range(_MAX_ATTEMPTS):
            if attempt == _MAX_ATTEMPTS - 3:
                self.end_faults()
            world.begin_process()
            world.tell(f"$ nsadmin {command_line}")
            try:
                succeeded = command()
                self.require_audited()
                return succeeded
            except (ProcessKilled, RocketMQError, OSError) as error:
                if not isinstance(error, ProcessKilled):
                    world.tell(f"nsadmin: {error}")
                self.require_audited()
                if gives_up(error):
                    return False
            world.pass_time(self.resume_ms)
        raise InvariantBroken(f"`nsadmin {command_line}` does not succeed, although all faults have ended")

    def end_faults(self) -> None:
        if not self.have_faults_ended:
            self.have_faults_ended = True
            self.world.tell("all faults end")
            self.world.end_faults()
            self.cluster.heal()
            self.world.pass_time(2 * HEARTBEAT_MS + 5_000)

    def make_admin(self) -> AdminClient:
        return AdminClient(self.cluster.name_servers, pool=self.cluster.network.pool, access=Access())

    @property
    def clock(self) -> ProcedureClock:
        world = self.world
        return ProcedureClock(lambda: world.clock_ms, world.pause_seconds, lambda: world.true_ms / 1000)

    # What must hold

    def require_no_writers(self, broker: SimulatedBroker) -> None:
        """No producer has a route by which it may still write to the broker.

        What a registration opened after the last look of nsadmin is left out. So are producers of name
        servers whose routes nsadmin calls unknown, and of a topic that somebody has deleted on the broker.
        """
        name, seen_ms = broker.spec.broker_name, self.cluster.network.last_look_ms
        for producer in self.cluster.producers:
            route = producer.route
            if (
                route is not None
                and name in route.broker_names
                and producer.topic in broker.model.topic_table.configs
                and route.namesrv_addr not in self.unknown_servers
                and route.read_ms < seen_ms
            ):
                raise InvariantBroken(
                    f"safe to stop, but a producer of {producer.topic} may write to {name}: it read the "
                    f"route from {route.namesrv_addr} {(self.world.true_ms - route.read_ms) / 1000:.1f} s ago"
                )
        for slave in self.cluster.brokers.values():
            if slave.master is broker and slave.is_up and slave.is_stale and slave.log_end < broker.log_end:
                raise InvariantBroken(f"safe to stop, but {slave.title} lacks messages of its master")

    def require_audited(self) -> None:
        """The audit has each change that nsadmin sent, or a warning says that it does not.

        A kill takes the record of what was sent last. A loss of power can take all that were not synced.
        """
        sent, content = self.cluster.network.sent_changes, self.world.disk.read_file(AUDIT_FILE)
        audited: Counter[tuple[str, str]] = Counter()
        for line in content.splitlines():
            with suppress(ValueError):
                for change in json.loads(line)["sent"]:
                    audited[change["server"], change["request"]] += change.get("times", 1)
        missing = sent - audited
        if not self.world.is_process_alive:
            missing -= Counter(self.cluster.network.last_changes)
        is_named = any("the audit has no record" in str(warning.message) for warning in self.world.warnings)
        if missing and not is_named and not self.world.has_lost_power:
            raise InvariantBroken(
                f"the audit has no record of these changes, and nsadmin is silent: {missing}"
            )
        # What is missing now with a reason stays so.
        self.cluster.network.sent_changes = audited
        self.world.has_lost_power = False
        self.world.warnings.clear()

    def require_restored(self, broker: SimulatedBroker) -> None:
        """Each name server has what it would have without nsadmin, or the permission that it had before."""
        name = broker.spec.broker_name
        configs = broker.model.topic_table.configs
        for addr, server in self.cluster.name_servers.items():
            if not server.is_up or server.is_frozen:
                continue
            queues, shadow = server.queues_of(name), server.queues_of(name, in_shadow=True)
            for topic in {*shadow, *queues}:
                config, would_be = configs.get(topic), shadow.get(topic)
                own = None if config is None else _queue_of(name, config)
                accepted = [would_be, own]
                if would_be and own is None:
                    # Somebody deleted the topic, and the name server missed that: it may stay closed.
                    accepted.append(would_be._replace(perm=would_be.perm & ~Perm.WRITE))
                if would_be and own and any(b[name].get(topic) == config for b in self.own_before):
                    # The topic did not change: its permission is that of before, or as it would be. One that
                    # the name server lacked before has that of the broker.
                    befores = [b[addr, name].get(topic, own) for b in self.queues_before if (addr, name) in b]
                    perms = {would_be.perm, *(queue.perm for queue in befores)}
                    accepted = [q._replace(perm=perm) for q in (would_be, own) for perm in perms]
                    if any(b[name].get(topic) != config for b in self.own_before):
                        # It changed while nsadmin began: a registration opens it where the broker gets to.
                        accepted.append(own)
                if queues.get(topic) not in accepted:
                    raise InvariantBroken(
                        f"the drain is undone, but {topic} of {name} on {addr} is "
                        f"{_describe_queue(queues.get(topic))}, and it would be "
                        f"{' or '.join(map(_describe_queue, accepted))}"
                    )


def _queue_of(broker_name: str, config: TopicConfigJson) -> QueueData:
    fields = ("readQueueNums", "writeQueueNums", "perm", "topicSysFlag")
    return QueueData(broker_name, *(config[name] for name in fields))


def _describe_queue(queue: QueueData | None) -> str:
    if queue is None:
        return "missing"
    can_write = "rw" if queue.perm & Perm.WRITE else "r-"
    return f"{can_write} {queue.read_queue_nums}/{queue.write_queue_nums}"
