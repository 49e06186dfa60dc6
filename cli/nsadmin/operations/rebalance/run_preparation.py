"""What is checked before a rebalance runs: whether the cluster is as the plan expects, and the risks."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import AdminClient
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.clusters import BrokerAddrGroup, find_shared_addrs, refuse_shared_addrs
from nsadmin.client.consumers.lag import Lag, sum_lags
from nsadmin.client.results import NotFound, error_text
from nsadmin.client.topics.bulk_changes import BrokerTopicTable
from nsadmin.console.phrases import abbreviate_names, count_noun
from nsadmin.operations.broker_identity import refuse_twins
from nsadmin.operations.drain.runner import DrainRefused
from nsadmin.operations.drain.state import load_drains
from nsadmin.operations.installation import Installation
from nsadmin.operations.inventory.keeper import InventoryKeeper
from nsadmin.operations.procedure_clock import ProcedureClock
from nsadmin.operations.rebalance.plan_risks import ORDERED_RISK
from nsadmin.operations.rebalance.rebalance_plan import NO_QUEUES, QueuePair, RebalanceMove, RebalancePlan
from nsadmin.operations.rebalance.rebalance_runner import RebalanceRun, RunOrder
from nsadmin.operations.rebalance.run_environment import RunEnvironment
from nsadmin.operations.rebalance.run_machine import RebalanceMachine
from nsadmin.operations.rebalance.run_rules import RunRules
from nsadmin.operations.rebalance.run_state import (
    PLAN_FILE,
    RebalanceFolder,
    RunState,
    explain_open_run,
    load_rebalances,
    open_rebalance,
)
from nsadmin.operations.rebalance.topic_start import describe_difference
from nsadmin.operations.run_folder import EventRecord, InvalidStateError


class PendingRun(NamedTuple):
    """A checked run that has changed nothing yet. `new_state` is None if it resumes a saved run.

    `open_moves` are those that it still makes, or takes back in a rollback.
    """

    run_order: RunOrder
    environment: RunEnvironment
    folder: RebalanceFolder
    new_state: RunState | None
    risks: tuple[str, ...]
    open_moves: Sequence[RebalanceMove]

    def run_events(self, clock: ProcedureClock) -> Iterator[EventRecord]:
        """Run or resume the plan. Raises DrainRefused if another process rebalances this cluster."""
        if self.new_state is not None:
            self.folder.archive()
        rebalance = RebalanceRun(self.run_order, self.environment, self.folder)
        yield from rebalance.run(self.new_state, clock)


def open_run(
    admin: AdminClient,
    order: RunOrder,
    state_home: Path,
    now_ms: int,
    inventory: InventoryKeeper,
) -> PendingRun:
    """Check whether a plan can run, resume or roll back. Nothing is changed.

    Raises:
        NotFound: There is no run to roll back, or a broker of the plan is not in the cluster.
        NotApplied: Several broker names are one process, or a broker is two processes.
        DrainRefused: The plan was run already, or cannot run, with the reasons as notes.
        RocketMQError: A server does not answer.
    """
    plan = order.plan
    environment = RunEnvironment(admin, plan.cluster)
    installation = Installation(admin, state_home)
    folder = installation.find_run(lambda home: open_rebalance(home, plan.cluster, plan.digest))
    saved = _load_resumable(folder, order, state_home)
    if saved is not None:
        machine = RebalanceMachine(plan, order.rules, saved)
        if order.is_rollback:
            machine.begin_rollback()
        open_topics = {*machine.state.moving, *machine.pending_topics}
        open_moves = [move for move in plan.moves if move.topic in open_topics]
        return PendingRun(order, environment, folder, None, (), open_moves)
    refuse_twins(admin, inventory, environment.list_masters())
    new_state, risks = prepare_run(admin, plan, order.rules, environment, installation, now_ms, order.by)
    return PendingRun(order, environment, folder, folder.sign(new_state), risks, plan.moves)


def _load_resumable(folder: RebalanceFolder, order: RunOrder, state_home: Path) -> RunState | None:
    """Return the saved run of the plan that continues; None if a new run begins."""
    saved = folder.state.load()
    if saved is None:
        _refuse_foreign_run(order, state_home)
        if order.is_rollback:
            raise NotFound(
                "there is nothing to roll back: this account did not run this plan on these servers"
            )
        return None
    if saved.finished is not None:
        if saved.phase == "rolledBack" and not order.is_rollback:
            return None
        if saved.is_rollback or not order.is_rollback:
            done_text = "rolled back" if saved.is_rollback else "done: pass --rollback to undo it"
            raise DrainRefused(f"this plan is already {done_text}")
    elif saved.is_rollback and not order.is_rollback:
        raise DrainRefused("this plan is being rolled back: pass --rollback to resume that")
    return saved


def _refuse_foreign_run(order: RunOrder, state_home: Path) -> None:
    """Refuse a plan that is being run on another installation, or that would be rolled back on this one."""
    for saved in load_rebalances(state_home, order.plan.cluster):
        if isinstance(saved, InvalidStateError) or saved.state.digest != order.plan.digest:
            continue
        owner = saved.state.owner
        if saved.state.finished is None:
            raise DrainRefused(f"this plan belongs to a run on {owner}: {explain_open_run(saved)}")
        if saved.state.phase == "done" and order.is_rollback:
            undo = saved.state.advise("rebalance", "run", str(saved.folder.path / PLAN_FILE), "--rollback")
            raise DrainRefused(f"this plan was run on {owner}, and not here: `{undo}` undoes it")


def prepare_run(
    admin: AdminClient,
    plan: RebalancePlan,
    rules: RunRules,
    environment: RunEnvironment,
    installation: Installation,
    now_ms: int,
    by: str,
) -> tuple[RunState, tuple[str, ...]]:
    """Compare the cluster with the plan; return the state with which it begins, and the risks.

    Raises:
        NotFound: A broker of the plan is not in the cluster.
        NotApplied: Several broker names are one process.
        DrainRefused: The plan cannot run, with the reasons as notes.
        RocketMQError: A server does not answer.
    """
    _refuse_other_runs(installation, plan)
    master_addrs = environment.list_masters()
    brokers = sorted({broker for move in plan.moves for broker in (*move.before, *move.after)})
    missing_brokers = [broker for broker in brokers if broker not in master_addrs]
    if missing_brokers:
        raise NotFound(
            f"no name server lists a master of {abbreviate_names(missing_brokers, 3)} in cluster "
            f"{plan.cluster}: start it, or make a new plan"
        )
    named_masters = [
        BrokerAddrGroup(plan.cluster, broker, {MASTER_BROKER_ID: addr})
        for broker, addr in master_addrs.items()
    ]
    refuse_shared_addrs(find_shared_addrs(named_masters))
    tables = {broker: result.value() for broker, result in environment.read_topics(master_addrs).items()}
    problems = [
        *_find_plan_problems(plan, rules, tables),
        *_find_drained_brokers(installation, plan),
    ]
    if any(move.is_ordered for move in plan.moves):
        problems += find_servers_without_order(admin)
    if problems:
        refusal = DrainRefused(f"refused, nothing changed: {problems[0]}")
        for problem in problems[1:10]:
            refusal.add_note(problem)
        if len(problems) > 10:
            refusal.add_note(f"... and {len(problems) - 10} more")
        raise refusal
    new_state = RunState(
        plan.cluster,
        plan.digest,
        tuple(admin.addresses.addrs),
        now_ms,
        now_ms,
        by,
        sum(
            int(config.get("writeQueueNums") or 0)
            for table in tables.values()
            for config in table.configs_by_topic.values()
        ),
    )
    return new_state, tuple(_find_risks(admin, plan, rules, master_addrs))


def _refuse_other_runs(installation: Installation, plan: RebalancePlan) -> None:
    for saved in installation.keep_own(load_rebalances(installation.state_home, plan.cluster)):
        if isinstance(saved, InvalidStateError):
            raise saved
        if saved.state.finished is None and saved.state.digest != plan.digest:
            raise DrainRefused(f"one run of a cluster at a time; {explain_open_run(saved)}")


def _find_plan_problems(
    plan: RebalancePlan, rules: RunRules, tables: Mapping[str, BrokerTopicTable]
) -> Iterator[str]:
    for move in plan.moves:
        present_queues = {broker: find_queues(table, move.topic) for broker, table in tables.items()}
        difference = describe_difference(move.topic, move.before, present_queues)
        if difference is not None:
            yield f"{difference}: make a new plan"
        elif any(move.topic in table.static_topics for table in tables.values()):
            yield f"{move.topic} is a static topic: see `nsadmin remappingStaticTopic --help`"
        elif any(queues.write > queues.read for queues in present_queues.values()):
            yield f"{move.topic} has queues that producers write and consumers do not read: correct it first"
    ordered_topics = [move.topic for move in plan.moves if move.is_ordered]
    if ordered_topics and not rules.allow_ordered:
        yield (
            f"{count_noun(len(ordered_topics), 'ordered topic')} ({abbreviate_names(ordered_topics, 3)}): "
            "pass --ordered, which keeps the sequence of every key"
        )


def find_queues(table: BrokerTopicTable, topic: str) -> QueuePair:
    """Return the queues of a topic on a broker."""
    config = table.configs_by_topic.get(topic)
    return QueuePair(int(config["readQueueNums"]), int(config["writeQueueNums"])) if config else NO_QUEUES


def _find_drained_brokers(installation: Installation, plan: RebalancePlan) -> Iterator[str]:
    receiving_brokers = {broker for move in plan.moves for broker in move.after}
    for saved in installation.keep_own(load_drains(installation.state_home)):
        if isinstance(saved, InvalidStateError):
            yield str(saved)
            continue
        drain_state = saved.state
        if drain_state.broker in receiving_brokers:
            yield (
                f"{drain_state.broker} is drained, and the plan gives it queues: run "
                f"`{quote_command('undrain', drain_state.broker)}` first"
            )


def find_servers_without_order(admin: AdminClient) -> Iterator[str]:
    """Yield what prevents moves of ordered topics on name servers, and the command that corrects it."""
    if addrs := admin.order_confs.find_servers_without():
        yield (
            f"ordered topics need order configurations, which clients do not get from {', '.join(addrs)}: "
            f"run `{quote_command('updateNamesrvConfig', 'orderMessageEnable', 'true')}`"
        )


def _find_risks(
    admin: AdminClient, plan: RebalancePlan, rules: RunRules, master_addrs: Mapping[str, str]
) -> Iterator[str]:
    """Yield the risks of the plan, and the groups without clients that have messages in closing queues."""
    yield from (risk for risk in plan.risks if not (rules.allow_ordered and risk.startswith(ORDERED_RISK)))
    topics_by_broker: dict[str, set[str]] = {}
    for move in plan.moves:
        for broker, queues in move.before.items():
            if move.after.get(broker, NO_QUEUES).read < queues.read:
                topics_by_broker.setdefault(broker, set()).add(move.topic)
    if not topics_by_broker:
        return
    connections, errors = admin.consumers.list_online_groups(master_addrs.values())
    yield from (
        f"{addr} did not report its consumer groups: {error_text(error)}"
        for addr, error in errors.items()
        if error
    )
    offline = {group for group, result in connections.items() if not result.clients}
    for broker, topics in sorted(topics_by_broker.items()):
        yield from _find_offline_lags(
            admin, broker, master_addrs[broker], topics, offline - rules.ignored_groups
        )


def _find_offline_lags(
    admin: AdminClient, broker: str, addr: str, topics: Collection[str], groups: Collection[str]
) -> Iterator[str]:
    try:
        queue_lags = admin.consumers.get_broker_stats(addr)
    except RocketMQError as error:
        yield f"{broker} did not report the lag of its groups: {error_text(error)}"
        return
    lags: dict[tuple[str, str], list[Lag]] = {}
    for queue_lag in queue_lags:
        group_topic = (queue_lag.group, queue_lag.queue.topic)
        if queue_lag.group in groups and queue_lag.queue.topic in topics:
            lags.setdefault(group_topic, []).append(queue_lag.lag)
    for (group, topic), topic_lags in sorted(lags.items()):
        count, reason = sum_lags(topic_lags)
        if count or reason:
            count_text = f"an unknown number ({reason}) of" if count is None else count
            yield (
                f"group {group} has no connected client and {count_text} unconsumed messages of {topic} on "
                f"{broker}: the run waits for it; start a client, or pass --ignore-group {group}"
            )
