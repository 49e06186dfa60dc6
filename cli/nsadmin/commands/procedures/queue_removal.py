"""Moves the queues of a broker to the other brokers of its cluster, before the broker is drained for good."""

from collections.abc import Callable, Iterator
from time import sleep

from nsadmin.commands.procedures import signals
from nsadmin.commands.procedures.rebalance_run import run_plan
from nsadmin.console.output import OutputText, ResultRows
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.library.cluster_rebalance import ClusterRebalance
from nsadmin.operations.drain.runner import DrainPlan
from nsadmin.operations.installation import Installation
from nsadmin.operations.inventory.keeper import open_inventory
from nsadmin.operations.rebalance.rebalance_plan import RebalancePlan, load_rebalance_plan
from nsadmin.operations.rebalance.rebalance_runner import RunOrder
from nsadmin.operations.rebalance.run_preparation import open_run
from nsadmin.operations.rebalance.run_rules import RunRules
from nsadmin.operations.rebalance.run_state import PLAN_FILE, load_rebalances
from nsadmin.operations.run_folder import InvalidStateError
from nsadmin.operations.state_folder import find_state_home


def prepare_move(session: Session, drain_plan: DrainPlan, *, allow_ordered: bool) -> RunOrder:
    """Plan to move all queues of a broker away, or find the plan of an interrupted move."""
    broker_name = drain_plan.broker
    # Consumers share out new queues some time after they have refreshed their routes.
    rules = RunRules(settle_ms=2 * drain_plan.rules.settle_ms, allow_ordered=allow_ordered)
    cluster_name = _find_cluster(session, broker_name)
    plan = find_unfinished_removal(session, cluster_name, broker_name) or propose_removal(
        session, cluster_name, broker_name
    )
    if not plan.moves:
        session.write_remark(f"no topic has queues on {broker_name} that can move")
    return RunOrder(plan, rules, drain_plan.interval, by=drain_plan.by)


def preview_moves(session: Session, run_order: RunOrder) -> set[str]:
    """Check the move as its run does, and return the topics that it takes from the broker."""
    plan = run_order.plan
    if not plan.moves:
        return set()
    inventory = open_inventory(session)
    pending_run = open_run(
        session.admin, run_order, find_state_home(), signals.SYSTEM_CLOCK.now_ms(), inventory
    )
    moved_text = count_noun(len(pending_run.open_moves), "topic")
    session.write_remark(f"the queues of {moved_text} would move to other brokers first")
    for risk in pending_run.risks:
        session.write_remark(f"risk: {risk}")
    return {move.topic for move in plan.moves if not {*plan.removed} & {*move.after}}


def move_queues_first(
    session: Session, run_order: RunOrder, begin_drain: Callable[[], ResultRows | Iterator[OutputText]]
) -> Iterator[OutputText]:
    """Move the queues, and then drain the broker.

    Raises:
        RocketMQError: The queues cannot move, or the run paused itself. The broker is not drained then.
    """
    for text in run_plan(session, run_order) if run_order.plan.moves else ():
        failure = next(filter(None, getattr(text, "errors", ())), None)
        if failure is not None:
            raise failure
        if isinstance(text, OutputText) and text:
            yield text
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
