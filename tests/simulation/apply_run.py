"""One simulated `apply` of a saved plan, which is killed and applied again, while faults happen."""

from collections.abc import Iterable, Mapping
from random import Random
from typing import ClassVar

from namesrv_core.errors import RocketMQError
from nsadmin.operations.plans import plan_file
from nsadmin.operations.plans.diff import compute_diff
from nsadmin.operations.plans.executor import execute_steps
from nsadmin.operations.plans.observer import observe_cluster
from nsadmin.operations.plans.plan_file import SavedPlan, format_plan, make_saved_plan, parse_plan
from nsadmin.operations.plans.records import DesiredCluster, ItemSpec
from tests.simulation.broker import CLUSTER, HEARTBEAT_MS
from tests.simulation.cluster import BROKER, FAULT_KINDS
from tests.simulation.queue_run import QueueRun
from tests.simulation.world import Fault, InvariantBroken

_NAMESPACE = "app"


class ApplyRun(QueueRun):
    """A run of one seed. `orders` stays as it is, so that a change by others makes the plan stale."""

    fault_kinds: ClassVar = tuple(
        k for k in FAULT_KINDS if k not in ("delete topic", "stale slave", "undrain by other")
    )
    step_count: ClassVar = 120

    def __init__(self, seed: int, faults: list[Fault]) -> None:
        super().__init__(seed, faults)
        self._desired = _plan_cluster(self.random)

    def run(self) -> None:
        self.prepare_clients()
        self.start_cluster()
        state = observe_cluster(self.make_admin(), CLUSTER, (_NAMESPACE,))
        if len(state.broker_states) < 2:
            # The name server that was asked does not list both brokers yet.
            return
        diff = compute_diff(self._desired, state, prune=True)
        text = format_plan(make_saved_plan(self._desired, True, state, diff))
        self.begin_faults()
        for broker in self.masters.values():
            # Its queues that shrink are accepted as `--allow-stranded`.
            broker.groups = {}
        saved = parse_plan(text, "tonight.plan")
        assert saved is not None
        is_done = self.repeat_command("apply tonight.plan", lambda: self._apply(saved), self._gives_up)
        self.end_faults()
        self.world.begin_process()
        self.world.pass_time(HEARTBEAT_MS)
        if is_done:
            self._require_planned()
        self.require_audited()

    def _apply(self, saved: SavedPlan) -> bool:
        admin = self.make_admin()
        state = observe_cluster(admin, CLUSTER, (_NAMESPACE,))
        diff = compute_diff(saved.desired_cluster, state, prune=saved.prune)
        if reasons := plan_file.explain_changes(saved, state, diff):
            raise RocketMQError(f"the cluster has changed: {'; '.join(reasons)}")
        outcomes = execute_steps(admin, state, diff.steps)
        for step, result, error, _ in outcomes:
            self.world.tell(f"nsadmin: {step.kind} {step.item_name} on {step.server_name}: {result}, {error}")
        if any(outcome.error for outcome in outcomes):
            raise RocketMQError("not every step is done")
        return True

    def _gives_up(self, error: BaseException) -> bool:
        """The plan is out of date: the operator would make a new one."""
        return self.has_met("change topic", "create topic") and "the cluster has changed" in str(error)

    def _require_planned(self) -> None:
        """Nothing is left to do, as the servers themselves show it."""
        if self.has_met("change topic", "create topic"):
            return
        desired, names = self._desired, tuple(self.masters)
        for name, broker in self.masters.items():
            configs, groups = broker.model.topic_table.configs, broker.model.group_table.configs
            wanted = {
                t: s.settings_on_brokers("topic", names).get(name) for t, s in _specs(desired.topic_specs)
            }
            for topic in ("orders", "history", "emails", "parcels"):
                config, settings = configs.get(topic), wanted.get(topic)
                has = config and (config["readQueueNums"], config["writeQueueNums"], config["perm"])
                planned = settings and tuple(settings[n] for n in ("readQueueNums", "writeQueueNums", "perm"))
                if has != planned:
                    raise InvariantBroken(
                        f"the plan is applied, and {topic} on {name} is {has}, not {planned}"
                    )
            if missing := (desired.group_specs or {}).keys() - groups.keys():
                raise InvariantBroken(f"the plan is applied, and {name} lacks the groups {missing}")
        for addr, server in self.cluster.name_servers.items():
            table = server.state.kv_config.tables_by_namespace.get(_NAMESPACE, {})
            if dict(table) != (desired.kv_tables or {})[_NAMESPACE]:
                raise InvariantBroken(f"the plan is applied, and {addr} has the values {dict(table)}")
            for topic in ("orders", "emails", "parcels"):
                for name in names:
                    if topic not in wanted and topic in server.queues_of(name):
                        raise InvariantBroken(f"the plan is applied, and {addr} routes {topic} to {name}")


def _specs(specs: Mapping[str, ItemSpec] | None) -> Iterable[tuple[str, ItemSpec]]:
    return (specs or {}).items()


def _plan_cluster(random: Random) -> DesiredCluster:
    def queues(count: int) -> ItemSpec:
        return ItemSpec({"readQueueNums": count, "writeQueueNums": count})

    topics = {"orders": queues(random.choice((4, 4, 2, 6)))}
    topics["history"] = ItemSpec({"readQueueNums": 4, "writeQueueNums": 4, "perm": 4})
    if random.random() < 0.7:
        topics["emails"] = queues(random.choice((2, 8)))
    if random.random() < 0.7:
        topics["parcels"] = queues(4)._replace(only_on=random.choice((None, (BROKER,))))
    groups = {name: ItemSpec() for name in ("readers", "billing")}
    return DesiredCluster(CLUSTER, topics, groups, None, {_NAMESPACE: {"mode": "fast", "limit": "3"}})
