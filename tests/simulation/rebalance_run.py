"""One simulated run of a rebalance plan, with producers and consumers, while faults happen."""

from collections.abc import Generator, Iterator
from contextlib import closing
from random import Random
from typing import ClassVar, cast

from namesrv_core.errors import RocketMQError
from nsadmin.operations.rebalance import run_events
from nsadmin.operations.rebalance.rebalance_plan import NO_QUEUES, QueuePair, RebalanceMove, RebalancePlan
from nsadmin.operations.rebalance.rebalance_runner import RunOrder
from nsadmin.operations.rebalance.run_preparation import open_run
from nsadmin.operations.rebalance.run_rules import RunRules
from nsadmin.operations.rebalance.run_state import load_rebalances
from nsadmin.operations.run_folder import EventRecord, InvalidStateError
from tests.simulation.broker import CLUSTER, HEARTBEAT_MS
from tests.simulation.cluster import FAULT_KINDS
from tests.simulation.consumer import Consumer, ConsumerGroup, RouteReader
from tests.simulation.drain_run import NO_INVENTORY
from tests.simulation.operated_run import STATE_HOME
from tests.simulation.queue_run import QueueRun
from tests.simulation.world import Fault, InvariantBroken

_PATIENCE_MS = 30 * 60_000
"""After this time all faults end."""


class RebalanceRun(QueueRun):
    """A run of one seed: a plan is run, interrupted, resumed and sometimes rolled back."""

    # Nothing looks at these.
    fault_kinds: ClassVar = tuple(
        k for k in FAULT_KINDS if k not in ("delete topic", "stale slave", "undrain by other")
    )
    step_count: ClassVar = 350

    def __init__(self, seed: int, faults: list[Fault]) -> None:
        super().__init__(seed, faults)
        random = self.random
        moves = tuple(self.plan_moves())
        self.plan = RebalancePlan(CLUSTER, "2026-01-05T08:00:00Z", "load", "simulation", moves)
        # Clients read routes every 30 s.
        self.rules = RunRules(
            settle_ms=31_000, quiet_checks=random.randint(1, 2), max_share=random.choice((0.2, 1))
        )
        self._interval = random.choice((5.0, 10.0, 15.0))
        self._turns_after = random.choice((None, None, 2, 5, 9, 99))
        self.is_rollback = False
        self._has_nightly, self._nightly_ms = seed % 4 == 1, 0
        self.stops_in_the_way = False

    def plan_moves(self) -> list[RebalanceMove]:
        topics = self.random.choice((("orders",), ("emails",), self.topics))
        return [plan_move(topic, self.random) for topic in topics]

    def run(self) -> None:
        self.prepare_clients()
        if self._has_nightly:
            self._add_nightly_group()
        for move in self.plan.moves:
            for name in self.masters.keys() - move.before:
                del self.masters[name].model.topic_table.configs[move.topic]
        self.start_cluster()
        self.begin_faults()
        self.cluster.network.after_change = self.require_writable
        self.repeat_command("rebalance run plan.yaml", self._rebalance, self._gives_up)
        if self._turns_after is not None and not self.stops_in_the_way:
            self.is_rollback = True
            self.repeat_command("rebalance run plan.yaml --rollback", self._rebalance, self._gives_up)
        self.require_moved()

    def _add_nightly_group(self) -> None:
        """A group whose only client starts while the plan runs."""
        group = self.groups["nightly"] = ConsumerGroup("nightly", self.topics)
        client = Consumer(
            group,
            RouteReader(self.world, list(self.cluster.name_servers.values()), self.random),
            self.masters,
            1_000,
        )
        self._nightly_ms = self.world.true_ms + self.random.randrange(60_000, 500_000)
        self.world.call_at(self._nightly_ms, client.start)
        for broker in self.masters.values():
            broker.model.group_table.put_config({"groupName": "nightly"}, self.world.true_ms)
            for topic in self.topics:
                for queue_id in range(4):
                    broker.queues.committed["nightly", topic, queue_id] = 0

    def _gives_up(self, error: BaseException) -> bool:
        """Another operator has changed the topic: nsadmin leaves it, and this operator, too."""
        text = str(error)
        self.stops_in_the_way |= "another change is in the way" in text or "make a new plan" in text
        return self.stops_in_the_way or "the operator turns around" in text

    def _rebalance(self) -> bool:
        for saved in load_rebalances(STATE_HOME):
            if isinstance(saved, InvalidStateError) or saved.state.finished is None:
                continue
            if saved.state.is_rollback is self.is_rollback:
                # It was killed after its last write, and nsadmin refuses to do it twice.
                return True
        order = RunOrder(self.plan, self.rules, self._interval, self.is_rollback, "simulation")
        pending = open_run(self.make_admin(), order, STATE_HOME, self.world.clock_ms, NO_INVENTORY)
        with closing(cast(Generator[EventRecord], pending.run_events(self.clock))) as records:
            return self._follow(records)

    def _follow(self, records: Iterator[EventRecord]) -> bool:
        world, began_ms, changes = self.world, self.world.true_ms, 0
        for record in records:
            if record["event"] != "progress":
                world.tell(f"nsadmin: {run_events.describe_record(record)}")
            if record["event"] == "paused":
                raise RocketMQError(record["reason"])
            if record["event"] == "changed":
                changes += 1
                if changes == self._turns_after and not self.is_rollback:
                    raise RocketMQError("the operator turns around")
            if world.true_ms - began_ms > _PATIENCE_MS:
                self.end_faults()
            if world.true_ms - began_ms > 3 * _PATIENCE_MS:
                if self.has_met("change topic"):
                    raise RocketMQError("make a new plan: the topic was changed while nsadmin changed it")
                raise InvariantBroken(f"the rebalance does not end: {run_events.describe_record(record)}")
        return True

    # What must hold

    def require_moved(self) -> None:
        self.end_faults()
        self.world.begin_process()
        self.world.pass_time(HEARTBEAT_MS)
        for saved in load_rebalances(STATE_HOME):
            if isinstance(saved, InvalidStateError):
                raise InvariantBroken(f"a saved run cannot be read: {saved}")
        self.require_no_rejected_sends()
        self.require_audited()
        self.world.pass_time(max(0, self._nightly_ms - self.world.true_ms))
        self.require_everything_read()
        if self.stops_in_the_way:
            return
        for move in self.plan.moves:
            wanted = move.before if self.is_rollback else move.after
            for name, broker in self.masters.items():
                queues = wanted.get(name, NO_QUEUES)
                if move.topic in broker.foreign_counts:
                    continue
                config = broker.model.topic_table.configs.get(move.topic)
                has = (
                    NO_QUEUES
                    if config is None
                    else QueuePair(config["readQueueNums"], config["writeQueueNums"])
                )
                if has != queues or (config is None) != (name not in wanted):
                    raise InvariantBroken(
                        f"the run is done, and {move.topic} has {has} on {name}, not {queues}"
                    )
                for server in self.cluster.name_servers.values():
                    routed = server.queues_of(name).get(move.topic)
                    # A name server keeps the route of a deleted topic, without queues.
                    if ((routed.read_queue_nums, routed.write_queue_nums) if routed else NO_QUEUES) != has:
                        raise InvariantBroken(
                            f"the run is done, and {server.addr} routes {move.topic} of {name} to {routed}"
                        )


def plan_move(topic: str, random: Random) -> RebalanceMove:
    names = ("broker-a", "broker-b")
    # Cluster has orders on both brokers.
    before_names = names if topic == "orders" else random.choice((names, names[:1], names[1:]))
    before = {name: QueuePair(4, 4) for name in before_names}
    while True:
        counts = {name: random.choice((0, 0, 2, 4, 6)) for name in names}
        after = {name: QueuePair(count, count) for name, count in counts.items() if count}
        if after and after != before:
            return RebalanceMove(topic, False, before, after)
