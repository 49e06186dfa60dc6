"""Moves the queues of a broker to the other brokers of its cluster, before the broker is drained for good."""

from collections.abc import Callable, Iterator
from time import sleep

from nsadmin.commands.procedures.rebalance_run import run_plan
from nsadmin.console.output import OutputText, ResultRows
from nsadmin.console.session import Session
from nsadmin.library.cluster_rebalance import ClusterRebalance
from nsadmin.operations.drain.runner import DrainPlan
from nsadmin.operations.installation import Installation
from nsadmin.operations.inventory.keeper import open_inventory
from nsadmin.operations.rebalance.rebalance_plan import RebalancePlan, load_rebalance_plan
from nsadmin.operations.rebalance.rebalance_runner import RunOrder
from nsadmin.operations.rebalance.run_rules import RunRules
from nsadmin.operations.rebalance.run_state import PLAN_FILE, load_rebalances
from nsadmin.operations.run_folder import InvalidStateError


def move_queues_first(
    session: Session,
    drain_plan: DrainPlan,
    begin_drain: Callable[[], ResultRows | Iterator[OutputText]],
) -> Iterator[OutputText]:
    """Move all queues of a broker away, or resume that, and then drain it.

    Raises:
        RocketMQError: The queues cannot move, or the run paused itself. The broker is not drained then.
    """
    broker_name = drain_plan.broker
    # Consumers share out new queues some time after they have refreshed their routes.
    rules = RunRules(settle_ms=2 * drain_plan.rules.settle_ms)
    cluster_name = _find_cluster(session, broker_name)
    plan = find_unfinished_removal(session, cluster_name, broker_name) or propose_removal(
        session, cluster_name, broker_name
    )
    if plan.moves:
        run_order = RunOrder(plan, rules, drain_plan.interval, by=drain_plan.by)
        for text in run_plan(session, run_order):
            failure = next(filter(None, getattr(text, "errors", ())), None)
            if failure is not None:
                raise failure
            if isinstance(text, OutputText) and text:
                yield text
    else:
        session.write_remark(f"no topic has queues on {broker_name} that can move")
    for text in begin_drain():
        if isinstance(text, OutputText):
            yield text


def _find_cluster(session: Session, broker_name: str) -> str:
    clusters = sorted(session.admin.clusters.get_info().clusters_of_broker(broker_name))
    return clusters[0] if clusters else ""


def find_unfinished_removal(session: Session, cluster_name: str, broker_name: str) -> RebalancePlan | None:
    """Return the plan of an interrupted run that takes all queues from the broker."""
    installation = Installation(session.admin)
    for saved_run in installation.keep_own(load_rebalances(installation.state_home, cluster_name)):
        if isinstance(saved_run, InvalidStateError):
            raise saved_run
        if saved_run.state.finished is None:
            plan = load_rebalance_plan(saved_run.folder.path / PLAN_FILE)
            if plan.removed == (broker_name,) and not saved_run.state.is_rollback:
                return plan
    return None


def propose_removal(session: Session, cluster_name: str, broker_name: str) -> RebalancePlan:
    """Plan to move all queues of the broker, so that the other brokers have equal numbers."""
    planner = ClusterRebalance(session.admin, sleep, open_inventory(session))
    return planner.propose_plan(cluster_name, removed=(broker_name,), goal="queues").plan
